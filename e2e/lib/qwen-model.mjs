// Runs a model for Qwen Code on this machine, with OpenAI's API, whose answers the test writes.

import http from 'node:http';
import { once } from 'node:events';

import { Inbox } from './inbox.mjs';
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
    const server = http.createServer(async (request, response) => {
      let body = '';
      for await (const piece of request.setEncoding('utf8')) body += piece;
      const { messages, tools } = JSON.parse(body);
      // Without tools, it is a question about the conversation, such as one for its title.
      if (tools?.length) model.#requests.push(new Request(messages, response));
      else answer('{}', response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    model.url = `http://127.0.0.1:${server.address().port}/v1`;
    return model;
  }

  /** Waits for the next request of an agent. */
  next(agent = 'main') {
    return this.#requests.next((request) => request.agent === agent);
  }
}
