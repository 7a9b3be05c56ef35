// Sends MCP requests and reads event streams, byte by byte.

import net from 'node:net';

import { Inbox, within } from './inbox.mjs';

/** Sends a request with the token, and waits for the head of the reply. */
function request({ ready }, path, { headers, ...init }) {
  const authorization = `Bearer ${ready.authToken}`;
  const url = new URL(path, ready.url);
  const reply = fetch(url, { ...init, headers: { authorization, ...headers } });
  return within(reply, `the reply to a request for ${path}`);
}

/** One client's session. */
export class Session {
  /** The headers that name the session. */
  headers = {};
  #sandbox;
  #companion;
  #lastId = 0;

  /** Initializes a session. `clientInfo` is the name and the version of the client. */
  static async open(sandbox, companion, clientInfo) {
    const session = new Session(sandbox, companion);
    const { headers } = await session.post(session.message('initialize', { clientInfo }));
    session.headers = { 'mcp-session-id': headers.get('mcp-session-id') };
    await session.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return session;
  }

  constructor(sandbox, companion) {
    this.#sandbox = sandbox;
    this.#companion = companion;
  }

  message(method, params = {}) {
    return { jsonrpc: '2.0', id: ++this.#lastId, method, params };
  }

  /** Posts any value, and returns `{status, headers, body}` with the body as text. */
  async post(message) {
    const reply = await request(this.#companion, '/mcp', {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...this.headers,
      },
      body: JSON.stringify(message),
    });
    const body = await within(reply.text(), 'the rest of a reply');
    return { status: reply.status, headers: reply.headers, body };
  }

  /** Sends a request and returns the response. */
  async ask(method, params) {
    return JSON.parse((await this.post(this.message(method, params))).body);
  }

  /** Calls a tool and returns its result. */
  async callTool(name, args) {
    return (await this.ask('tools/call', { name, arguments: args })).result;
  }

  /** Ends the session. */
  delete() {
    return request(this.#companion, '/mcp', { method: 'DELETE', headers: this.headers });
  }

  /** Opens the stream of notifications, and answers its pings. `last` is the newest event id. */
  stream(last) {
    // The companion may have ended by then.
    const pong = (id) => this.post({ jsonrpc: '2.0', id, result: {} }).catch(() => {});
    const headers = { ...this.headers, ...(last && { 'last-event-id': last }) };
    return EventStream.open(this.#sandbox, this.#companion, '/mcp', headers, pong);
  }

  /** Continues with the companion's next process. */
  resume(companion) {
    this.#companion = companion;
  }
}

/** A stream of Server-Sent Events. */
export class EventStream {
  /** The parsed data of each event except pings. */
  messages = new Inbox('an event');
  /** The newest event id. */
  lastId;
  #abort = new AbortController();
  #ended;
  #pong;

  static async open(sandbox, companion, path, headers = {}, pong = () => {}) {
    const stream = new EventStream();
    stream.#pong = pong;
    const reply = await request(companion, path, {
      headers: { accept: 'text/event-stream', ...headers },
      signal: stream.#abort.signal,
    });
    if (reply.status !== 200) throw new Error(`the stream was answered ${reply.status}`);
    sandbox.defer(() => stream.close());
    stream.#ended = stream.#read(reply.body);
    return stream;
  }

  /** Reads all events, and returns how the stream ended. */
  async #read(body) {
    let text = '';
    try {
      for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
        const blocks = (text + chunk).split('\n\n');
        text = blocks.pop();
        for (const block of blocks) this.#take(block);
      }
    } catch (error) {
      this.messages.end(error);
      return 'error';
    }
    this.messages.end(new Error('the stream has ended'));
    return 'end';
  }

  #take(block) {
    const fields = {};
    for (const line of block.split('\n')) {
      const [, name, value] = /^([^:]*): ?(.*)$/.exec(line);
      fields[name] = value;
    }
    if ('id' in fields) this.lastId = fields.id;
    const message = 'data' in fields && JSON.parse(fields.data);
    if (message?.method === 'ping') this.#pong(message.id);
    else if (message) this.messages.push(message);
  }

  /** Waits for the next notification of any method. */
  next() {
    return this.messages.next();
  }

  /** Returns how the stream ended: `end` if orderly, otherwise `error`. */
  ended() {
    return within(this.#ended, 'the end of a stream');
  }

  close() {
    this.#abort.abort();
    return this.ended();
  }
}

/** Finds a port without a listener. */
export async function closedPort() {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
