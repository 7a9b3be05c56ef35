// Starts one `gemini-companion serve` process, as an editor does.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import readline from 'node:readline';

import { Inbox, until, within } from './inbox.mjs';

/** Absolute, because other machines do not have the test's folders. */
const PROGRAM = process.env.GEMINI_COMPANION && path.resolve(process.env.GEMINI_COMPANION);

export class Companion {
  /** The parameters of `companion/ready`: `{port, url, authToken, discoveryFiles, env}`. */
  ready;
  /** The messages to the editor that no test has taken yet. */
  inbox = new Inbox('a message to the editor');
  /** The text of stderr. */
  log = '';
  #process;
  #exit;
  #killed = false;
  #requests = 0;
  #onRequest;

  /** Starts a companion, on this machine or on `machine`, and waits until it is ready. */
  static async start(sandbox, options = {}) {
    const companion = new Companion(sandbox, options);
    try {
      companion.ready = (await companion.next('companion/ready')).params;
    } catch (error) {
      companion.#process.kill('SIGKILL');
      throw error;
    }
    sandbox.defer(() => companion.close());
    return companion;
  }

  constructor(sandbox, { args = [], workspace = [sandbox.project], machine, program = PROGRAM }) {
    if (!program) throw new Error('GEMINI_COMPANION must be the path of gemini-companion');
    const folders = workspace.flatMap((folder) => ['--workspace', folder]);
    const serve = [...(machine?.prefix('/') ?? []), program, 'serve', ...folders, ...args];
    this.#process = spawn(serve[0], serve.slice(1), { env: sandbox.env(machine?.env) });
    this.#process.stdin.on('error', () => {}); // it has exited; `exited` has the code
    this.#process.stderr.setEncoding('utf8').on('data', (text) => (this.log += text));
    readline
      .createInterface({ input: this.#process.stdout, crlfDelay: Infinity })
      .on('line', (line) => this.#take(JSON.parse(line)));
    this.#exit = once(this.#process, 'close').then(
      ([code, signal]) => signal ?? code,
      (error) => error.message,
    );
    this.#exit.then((code) => this.inbox.end(this.#exitError(code)));
  }

  get pid() {
    return this.#process.pid;
  }

  #take(message) {
    const { id, method, params } = message;
    if (id !== undefined && method && this.#onRequest) {
      try {
        this.respond(id, this.#onRequest(method, params));
      } catch (error) {
        this.fail(id, error.message);
      }
    } else {
      this.inbox.push(message);
    }
  }

  /** Waits for a line on stderr, which may arrive after a later line on stdout. */
  async logged(pattern) {
    await until(`${pattern} in the log`, () => pattern.test(this.log));
  }

  /** Answers all requests to the editor with `answer(method, params)`, or with its error. */
  onRequest(answer) {
    this.#onRequest = answer;
  }

  /** Waits for the next message to the editor of that method. */
  next(method) {
    return this.inbox.next((message) => message.method === method);
  }

  /** Sends a notification from the editor. */
  notify(method, params) {
    this.#send({ jsonrpc: '2.0', method, params });
  }

  /** Sends a request from the editor, and returns the result. */
  async request(method, params) {
    const id = `r${++this.#requests}`;
    this.#send({ jsonrpc: '2.0', id, method, params });
    const { result, error } = await this.inbox.next((message) => message.id === id);
    if (error) throw new Error(error.message);
    return result;
  }

  respond(id, result) {
    this.#send({ jsonrpc: '2.0', id, result });
  }

  fail(id, message) {
    this.#send({ jsonrpc: '2.0', id, error: { code: -32000, message } });
  }

  #send(message) {
    this.sendLine(JSON.stringify(message));
  }

  sendLine(line) {
    this.#process.stdin.write(`${line}\n`);
  }

  /** Waits until the companion has read all messages so far: it answers an invalid one last. */
  async caughtUp() {
    this.sendLine('?');
    await this.inbox.next(({ error }) => error?.code === -32700);
  }

  signal(name) {
    this.#process.kill(name);
  }

  closeStdin() {
    this.#process.stdin.end();
  }

  #exitError(code) {
    return new Error(`the companion has exited with ${code}:\n${this.log}`);
  }

  /** Returns the exit code, or the name of the signal that ended it. */
  exited() {
    return within(this.#exit, 'the end of the companion');
  }

  /** Kills it, and waits until it has ended. */
  async kill() {
    this.#killed = true;
    this.signal('SIGKILL');
    await this.exited();
  }

  /** Ends it like an editor that quits. */
  async close() {
    if (this.#killed) return;
    this.closeStdin();
    try {
      const code = await this.exited();
      if (code !== 0) throw this.#exitError(code);
    } finally {
      this.#process.kill('SIGKILL');
    }
  }
}
