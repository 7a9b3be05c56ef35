// Runs a model for Qwen Code on this machine, with OpenAI's API, whose answers the test writes.

import { Inbox } from './inbox.mjs';
import { serveModel } from './model-server.mjs';
import { answer, text } from './scripted-model.mjs';

/** The agents of Qwen Code, by a part of what it asks the model to be. */
const AGENTS = [
  ['main', 'You are Qwen Code, an interactive CLI agent'],
  ['memory', 'the managed memory extraction subagent'],
];

/** A request of the CLI, which waits for the answer. */
class Request {
  #response;

  constructor(messages, response) {
    this.#response = response;
    const said = (isOf) =>
      messages.filter(({ role }) => isOf(role)).map(({ content }) => text(content ?? ''));
    const system = said((role) => role === 'system').join('\n');
    /** The agent that asks: `main`, `memory`, or `subagent`. */
    this.agent = AGENTS.find(([, part]) => system.includes(part))?.[0] ?? 'subagent';
    /** All that the model knows of the user and of tools. */
    this.texts = said((role) => role === 'user' || role === 'tool');
  }

  /** Answers with a text, or with the call of a tool. */
  end(step) {
    answer(step, this.#response);
  }
}

export class QwenModel {
  #requests = new Inbox('a request to the model');
  url;

  static async start(t) {
    const model = new QwenModel();
    const defer = (end) => t.after(end);
    const address = await serveModel(defer, (_request, body, response) => {
      const { messages, tools } = JSON.parse(body);
      // Without tools, it is a question about the conversation, such as one for its title.
      if (tools?.length) model.#requests.push(new Request(messages, response));
      else answer('{}', response);
    });
    model.url = `${address}/v1`;
    return model;
  }

  /** Waits for the next request of an agent. */
  next(agent = 'main') {
    return this.#requests.next((request) => request.agent === agent);
  }
}
