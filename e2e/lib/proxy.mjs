// Simulates a bad network: a proxy that can end, break and stall the notification stream, and lose
// an answer.

import { once } from 'node:events';
import http from 'node:http';

import { Inbox } from './inbox.mjs';

export class Proxy {
  /** The `last-event-id` of each opened stream; `undefined` if it had none. */
  opened = new Inbox('a new stream through the proxy');
  /** The time that each request needs on its way, in ms. */
  latency = 0;
  #server = http.createServer((request, response) => {
    setTimeout(() => this.take(request, response), this.latency);
  });
  #companion;
  #sandbox;
  #port;
  #streams = new Map();
  #held;
  #losing;

  static async start(sandbox, companion) {
    const proxy = new Proxy(() => companion);
    await proxy.open(sandbox);
    return proxy;
  }

  /** `companion` returns the companion that gets the next request. */
  constructor(companion) {
    this.#companion = companion;
  }

  async open(sandbox) {
    this.#sandbox = sandbox;
    await this.listen();
    sandbox.defer(() => this.close());
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
   * The variables of a terminal that lead a client or a hook to this proxy. The client must not see
   * other files.
   */
  get env() {
    const port = String(this.#port);
    return {
      ...this.#companion().ready.env,
      GEMINI_CLI_IDE_SERVER_PORT: port,
      QWEN_CODE_IDE_SERVER_PORT: port,
      TMPDIR: this.#sandbox.folder('no-discovery'),
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

  take(request, response) {
    if (request.method === this.#held?.method) {
      const { resolve } = this.#held;
      this.#held = undefined;
      resolve(() => this.take(request, response));
    } else {
      this.pass(request, response);
    }
  }

  /** Sends the head of a request to the companion. */
  onward({ method, url, headers }) {
    const { port } = this.#companion().ready;
    const { expect: _, ...others } = headers;
    return http.request({
      ...{ host: '127.0.0.1', port, method, path: url, agent: false },
      headers: { ...others, host: `127.0.0.1:${port}` },
    });
  }

  /** Passes a request on, and the answer as it comes. `read` is the body of the request, if it was read. */
  pass(request, response, read) {
    const onward = this.onward(request);
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    if (read === undefined) request.pipe(onward);
    else onward.end(read);
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    onward.on('response', (reply) => {
      if (this.#losing && body.includes(this.#losing.tool)) {
        const { resolve } = this.#losing;
        this.#losing = undefined;
        reply.resume().on('end', () => resolve(() => response.socket.resetAndDestroy()));
        return;
      }
      response.writeHead(reply.statusCode, reply.headers).flushHeaders();
      this.relay(reply, response);
      if (request.method === 'GET') {
        this.#streams.set(response, reply);
        response.on('close', () => this.#streams.delete(response));
        this.opened.push(request.headers['last-event-id']);
      }
    });
  }

  relay(reply, response) {
    reply.pipe(response);
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
