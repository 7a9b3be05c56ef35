// Runs a model on this machine, with Gemini's API, whose answers the test writes piece by piece.

import { Inbox } from './inbox.mjs';
import { serveModel } from './model-server.mjs';

/** The texts of a message, with the results of tools. */
const texts = ({ parts }) =>
  parts.map(({ text, functionResponse: { response } = {} }) => text ?? response?.output ?? response?.error);

/** A request of the CLI, which waits for the answer. */
class Request {
  #response;

  constructor(contents, response) {
    this.#response = response;
    /** All that the model knows of the user and of tools. */
    this.texts = contents.filter(({ role }) => role === 'user').flatMap(texts);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  }

  #send(parts, more) {
    const candidates = [{ content: { role: 'model', parts }, index: 0, ...more }];
    this.#response.write(`data: ${JSON.stringify({ candidates })}\n\n`);
  }

  /** Sends a piece of the answer. */
  say(text) {
    this.#send([{ text }]);
  }

  /** Ends the answer with a text, or with the call of a tool. */
  end(last) {
    this.#send([typeof last === 'string' ? { text: last } : { functionCall: last }], {
      finishReason: 'STOP',
    });
    this.#response.end();
  }
}

export class GeminiModel {
  #requests = new Inbox('a request to the model');
  url;

  static async start(t) {
    const model = new GeminiModel();
    const defer = (end) => t.after(end);
    model.url = await serveModel(defer, (request, body, response) => {
      if (request.url.includes(':streamGenerateContent')) {
        model.#requests.push(new Request(JSON.parse(body).contents, response));
      } else {
        response.writeHead(404).end();
      }
    });
    return model;
  }

  /** Waits for the next request. */
  next() {
    return this.#requests.next();
  }
}
