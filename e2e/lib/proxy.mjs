// Simulates a bad network: a proxy that can end, break and stall the notification stream, and lose
// an answer.

import { once } from 'node:events';
import http from 'node:http';

import { Inbox } from './inbox.mjs';

export class Proxy {
  /** The `last-event-id` of each opened stream; `undefined` if it had none. */
  opened = new Inbox('a new stream through the proxy');
  #server = http.createServer((request, response) => this.#forward(request, response));
  #companion;
  #port;
  #streams = new Map();
  #held;
  #losing;

  static async start(sandbox, companion) {
    const proxy = new Proxy();
    proxy.#companion = companion;
    await proxy.listen();
    sandbox.defer(() => proxy.close());
    return proxy;
  }

  /** Listens. After a close it uses the former port. */
  async listen() {
    this.#server.listen(this.#port ?? 0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = this.#server.address().port;
  }

  /** Refuses all connections. */
  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /**
   * Returns the variables of a terminal that lead a client to this proxy. The client must not see
   * other files.
   */
  env(sandbox) {
    return {
      ...this.#companion.ready.env,
      GEMINI_CLI_IDE_SERVER_PORT: String(this.#port),
      TMPDIR: sandbox.folder('no-discovery'),
      TERM_PROGRAM: 'vscode',
    };
  }

  /** Holds the next request of `method`. Returns a promise of a function that releases it. */
  hold(method) {
    return new Promise((resolve) => (this.#held = { method, resolve }));
  }

  /** Holds the answer to the next call of `tool`. Returns a promise of a function that drops it. */
  holdAnswer(tool) {
    return new Promise((resolve) => (this.#losing = { tool, resolve }));
  }

  #forward(request, response) {
    const { method, url, headers } = request;
    if (method === this.#held?.method) {
      const { resolve } = this.#held;
      this.#held = undefined;
      resolve(() => this.#forward(request, response));
      return;
    }
    const { port } = this.#companion.ready;
    const onward = http.request({
      host: '127.0.0.1',
      port,
      method,
      path: url,
      headers: { ...headers, host: `127.0.0.1:${port}` },
      agent: false,
    });
    let body = '';
    request.on('data', (chunk) => (body += chunk)).pipe(onward);
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    onward.on('response', (reply) => {
      if (this.#losing && body.includes(this.#losing.tool)) {
        const { resolve } = this.#losing;
        this.#losing = undefined;
        reply.resume().on('end', () => resolve(() => response.socket.resetAndDestroy()));
        return;
      }
      response.writeHead(reply.statusCode, reply.headers);
      response.flushHeaders();
      reply.pipe(response);
      if (method === 'GET') {
        this.#streams.set(response, reply);
        response.on('close', () => this.#streams.delete(response));
        this.opened.push(headers['last-event-id']);
      }
    });
  }

  /** Ends all streams in order, like a server that stops. */
  end() {
    for (const response of this.#streams.keys()) response.end();
  }

  /** Breaks all streams. */
  cut() {
    for (const response of this.#streams.keys()) response.socket.resetAndDestroy();
  }

  /** Blocks the open streams, without notice to either side. */
  stall() {
    for (const [response, reply] of this.#streams) reply.unpipe(response).resume();
  }
}
