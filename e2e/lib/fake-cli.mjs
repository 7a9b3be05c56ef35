// Controls the process of one CLI of `conversation-fuzz.mjs`: its session and the waiting diff.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { byDiscovery } from './bridge.mjs';
import { HookCli } from './hook-cli.mjs';
import { Inbox, within } from './inbox.mjs';

const MODULE = fileURLToPath(new URL('fake-cli-process.mjs', import.meta.url));

export class FakeCli {
  /** The diff that waits for the user, as `{file, newContent, arrival}`. */
  diff;
  /** All sessions so far. */
  sessions = [];
  /** The decisions that the client has received, as `{method, filePath, content}`. */
  #decisions = new Inbox('a decision');
  #window;
  #proxy;
  #process;
  #calls = new Map();
  #lastCall = 0;

  /**
   * Starts the process. It reaches the companion through `proxy`, or through a bridge if its name
   * is `bridged`; it has no hooks if its name is `bare`.
   */
  constructor(window, name, proxy) {
    this.#window = window;
    this.name = name;
    this.#proxy = proxy;
    this.hasHooks = name !== 'bare';
    const { sandbox } = window;
    this.hooks = new HookCli(sandbox, undefined, this);
    const GEMINI_COMPANION = path.resolve(process.env.GEMINI_COMPANION);
    const env = sandbox.env({ REMOTE_CONTAINERS: '1', GEMINI_COMPANION });
    this.#process = fork(MODULE, { cwd: sandbox.project, env });
    this.#process.on('message', (message) => this.#take(message));
    sandbox.defer(() => this.close());
  }

  #take({ event, id, value, error }) {
    if (event) {
      this.#decisions.push(event);
      return;
    }
    const { resolve, reject } = this.#calls.get(id);
    this.#calls.delete(id);
    if (error === undefined) resolve(value);
    else reject(new Error(error));
  }

  #call(call, ...args) {
    const id = ++this.#lastCall;
    const answer = new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }));
    this.#process.send({ id, call, args });
    return within(answer, `the end of ${call}`);
  }

  /** The variables of its hooks. */
  get env() {
    return this.#proxy?.env ?? {};
  }

  get #ready() {
    const { ready } = this.#window.companion;
    const port = this.env.GEMINI_CLI_IDE_SERVER_PORT;
    return port ? { ...ready, url: `http://127.0.0.1:${port}/mcp` } : ready;
  }

  async connect() {
    if (this.name !== 'bridged') return this.#call('connect', this.#ready);
    return this.#call('connectBridge', byDiscovery(this.#window.sandbox));
  }

  /** Opens the stream again, after a restart. The bridge does that itself. */
  async listen() {
    if (this.name !== 'bridged') await this.#call('listen', this.#ready);
  }

  openDiff(args) {
    return this.#call('callTool', 'openDiff', args, `call ${this.#lastCall}`);
  }

  /** Waits for the decision about the diff. */
  decision() {
    return this.#decisions.next(({ filePath }) => filePath === this.diff.file);
  }

  /** Runs a hook, and returns `{code, stdout, stderr}`. */
  hook(moment, input, env) {
    return this.#call('hook', path.resolve(process.env.GEMINI_COMPANION), moment, input, env);
  }

  async close() {
    const exit = once(this.#process, 'exit');
    this.#process.disconnect();
    try {
      await within(exit, 'the end of a CLI');
    } finally {
      this.#process.kill('SIGKILL');
    }
  }
}
