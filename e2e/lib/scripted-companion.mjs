// Runs a companion with scripted answers, and stores the bytes of each request.

import { once } from 'node:events';
import http from 'node:http';

import { Inbox } from './inbox.mjs';

const SERVER = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'a', version: '1' } };

export class ScriptedCompanion {
  /** The requests, as `{method, headers, body}`, with `reply(status, headers, body)`. */
  requests = new Inbox('a request to the companion');
  /** The opened streams, as `{headers, write(text), end()}`. */
  streams = new Inbox('a stream from the companion');
  /** Whether connections that ask for a stream break. */
  breaksStreams = false;
  /** Whether it answers a hook that asks whether it is alive. */
  isAlive = false;
  port;
  #server;
  #wasStopped = false;
  #known = new Set();
  #sessions = 0;

  static async start(sandbox) {
    const companion = new ScriptedCompanion();
    sandbox.defer(() => companion.stop());
    await companion.listen();
    return companion;
  }

  /** Returns the variables of a terminal that lead a hook to it. */
  env(sandbox) {
    return {
      GEMINI_CLI_IDE_SERVER_PORT: String(this.port),
      GEMINI_CLI_IDE_AUTH_TOKEN: 'token',
      GEMINI_CLI_IDE_WORKSPACE_PATH: sandbox.project,
    };
  }

  /** Listens, after a stop on the former port. */
  async listen() {
    this.#server = http.createServer((request, response) => this.#take(request, response));
    this.#server.listen(this.port ?? 0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = this.#server.address().port;
  }

  /** Closes the port and all connections. */
  async stop() {
    if (!this.#server.listening) return;
    this.#wasStopped = true;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Forgets all sessions. */
  forget() {
    this.#known.clear();
  }

  async #take(request, response) {
    const { method, headers } = request;
    if (method === 'GET' && request.url === '/hook' && this.isAlive) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"clients":[]}');
      return;
    }
    if (method === 'GET' && this.breaksStreams) {
      response.destroy();
      return;
    }
    if (method === 'GET' && !this.#known.has(headers['mcp-session-id'])) {
      response.writeHead(404).end();
      return;
    }
    if (method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      this.streams.push({
        headers,
        write: (text) => response.write(text),
        end: () => response.end(),
      });
      return;
    }
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    // A client that failed to open its stream just before this checks for another companion.
    if (this.#wasStopped && body.includes('"initialize"')) {
      response.destroy();
      return;
    }
    const reply = (status, more = {}, text = '') =>
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(text);
    this.requests.push({ method, headers, body, reply });
  }

  /** Answers the next request, and returns it. */
  async answer(result, headers) {
    const request = await this.requests.next();
    const { id } = JSON.parse(request.body);
    request.reply(200, headers, JSON.stringify({ jsonrpc: '2.0', id, result }));
    return request;
  }

  /** Answers `initialize`, and returns it. */
  initialize() {
    const session = `session-${++this.#sessions}`;
    this.#known.add(session);
    return this.answer(SERVER, { 'mcp-session-id': session });
  }

  /** Answers the handshake of a bridge, and returns its messages and the stream. */
  async begin() {
    const initialize = await this.initialize();
    const ready = await this.requests.next();
    ready.reply(202);
    return { initialize, ready, stream: await this.streams.next() };
  }
}
