// Controls a process with a real IdeClient, from Gemini CLI or another client.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundleClient } from './client-bundle.mjs';
import { Inbox, within } from './inbox.mjs';
import { Peer } from './peer.mjs';

const MODULE = fileURLToPath(new URL('ide-client-process.mjs', import.meta.url));

/** A shell below another process of the test, as in an editor's terminal. */
const TERMINAL = { execPath: 'sh', execArgv: ['-c', `sh -c '"$NODE" "$0"; exit' "$0"; exit`] };

/** Node in a folder of another machine. */
function onMachine(machine, cwd) {
  const [execPath, ...execArgv] = [...machine.prefix(cwd), process.execPath];
  return { execPath, execArgv };
}

/** Whether a client's files are these, in this order. */
export const are =
  (...paths) =>
  (files) =>
    files.map((file) => file.path).join() === paths.join();

let sockets = 0;

/** Counts the calls of all clients, which may share a process. */
let lastCall = 0;

/** Processes whose client has left. They end with this process. */
const idle = [];

/** Sets whether this process waits for the other one to end. */
function hold(process, isHeld) {
  for (const handle of [process, process.channel, process.stderr]) {
    if (isHeld) handle.ref();
    else handle.unref();
  }
}

function clientEnvironment(sandbox, env) {
  // In a container the client looks for its editor on the host by default.
  return sandbox.env({ NODE: process.execPath, REMOTE_CONTAINERS: '1', ...env });
}

export class IdeClient {
  /** The client's own messages that no test has taken yet. */
  events = {
    started: new Inbox('the start of the client'),
    status: new Inbox('a new status of the client'),
    context: new Inbox('a context at the client'),
    trust: new Inbox("the client's word about trust"),
  };
  #process;
  #calls = new Map();
  #stderr = '';
  #isReusable = false;
  #hasLeft = false;

  /**
   * Starts a client that has not connected yet, in the folder `cwd`, optionally of `machine`. It is
   * Gemini CLI's, or that of the file `module`. Its process may be that of an earlier test's client.
   */
  static async start(
    sandbox,
    { cwd = sandbox.project, env = {}, inTerminal = false, machine, module } = {},
  ) {
    await bundleClient();
    const chosen = module && { IDE_CLIENT_MODULE: module };
    const environment = clientEnvironment(sandbox, { ...chosen, ...machine?.env, ...env });
    const isReusable = !inTerminal && !machine && !module;
    const used = isReusable && idle.pop();
    if (used) {
      hold(used, true);
      const client = new IdeClient(used, { isReusable });
      sandbox.defer(() => client.leave());
      await client.#call('replace', cwd, environment);
      return client;
    }
    const client = new IdeClient(
      fork(MODULE, {
        cwd: machine ? sandbox.root : cwd,
        env: environment,
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        execArgv: [],
        ...(inTerminal ? TERMINAL : {}),
        ...(machine ? onMachine(machine, cwd) : {}),
      }),
      { isReusable },
    );
    sandbox.defer(() => client.leave());
    await client.events.started.next();
    return client;
  }

  /**
   * Starts a process by `run(command, env)`, for example in an editor's terminal. `command` is a
   * list of arguments, and `env` the variables to add to the editor's environment.
   */
  static async startBy(sandbox, run) {
    await bundleClient();
    const socket = path.join(sandbox.root, `client-${++sockets}.sock`);
    const env = clientEnvironment(sandbox, { IDE_CLIENT_SOCKET: socket });
    const peer = await Peer.accept(socket, () => run([process.execPath, MODULE], env));
    const client = new IdeClient(peer);
    sandbox.defer(() => client.close());
    await client.events.started.next();
    return client;
  }

  /** Starts a client and connects it. */
  static async connect(sandbox, options) {
    const client = await IdeClient.start(sandbox, options);
    const status = await client.connect();
    if (status.status !== 'connected') throw new Error(`not connected: ${status.details}`);
    return client;
  }

  constructor(process, { isReusable = false } = {}) {
    this.#process = process;
    this.#isReusable = isReusable;
    process.stderr?.setEncoding('utf8').on('data', (text) => (this.#stderr += text));
    this.#process.on('message', (message) => this.#take(message));
    this.#process.on('exit', () => this.#end());
  }

  #take({ event, id, value, error }) {
    if (event) {
      this.events[event].push(value);
      return;
    }
    const call = this.#calls.get(id);
    if (!call) return; // of an earlier client of this process
    this.#calls.delete(id);
    if (error === undefined) call.resolve(value);
    else call.reject(new Error(error));
  }

  #end() {
    const error = new Error(`the client has exited:\n${this.#stderr}`);
    for (const inbox of Object.values(this.events)) inbox.end(error);
    for (const { reject } of this.#calls.values()) reject(error);
  }

  #call(call, ...args) {
    return within(this.#begin(call, ...args), `the end of the client's ${call}`);
  }

  #begin(call, ...args) {
    const id = ++lastCall;
    const answer = new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }));
    this.#process.send({ id, call, args });
    return answer;
  }

  /** Connects, and returns the status. */
  connect() {
    return this.#call('connect');
  }

  /** Waits up to `patience` ms for the user's decision, `{status, content}`. */
  openDiff(filePath, newContent, patience) {
    const waiting = this.#begin('openDiff', filePath, newContent);
    const decision = within(waiting, "the end of the client's openDiff", patience);
    decision.catch(() => {}); // a test that has ended ignores it
    return decision;
  }

  /** Opens a diff, and waits until an `Editor` or a `Neovim` shows it. Returns `{decision}`. */
  async propose(editor, filePath, newContent) {
    const decision = this.openDiff(filePath, newContent);
    await editor.view(filePath);
    return { decision };
  }

  closeDiff(filePath, options) {
    return this.#call('closeDiff', filePath, options);
  }

  resolveDiffFromCli(filePath, outcome) {
    return this.#call('resolveDiffFromCli', filePath, outcome);
  }

  /** Calls any tool of the companion and returns its result. */
  callTool(name, args) {
    return this.#call('callTool', name, args);
  }

  /** Runs a hook of this CLI, with `input` on its stdin. Returns `{code, stdout, stderr}`. */
  hook(moment, input, env) {
    return this.#call('hook', path.resolve(process.env.GEMINI_COMPANION), moment, input, env);
  }

  disconnect() {
    return this.#call('disconnect');
  }

  async status() {
    return (await this.#call('status')).status;
  }

  /** Returns the client's status. */
  async details() {
    return (await this.#call('status')).details;
  }

  context() {
    return this.#call('context');
  }

  isDiffingEnabled() {
    return this.#call('isDiffingEnabled');
  }

  displayName() {
    return this.#call('displayName');
  }

  /**
   * Returns whether the CLI trusts its folder, and the source of that, as `{isTrusted, source}`.
   */
  trust() {
    return this.#call('trust');
  }

  /** Waits until `matches` accepts the client's open files, and returns them. */
  async openFiles(matches) {
    const context = await this.events.context.until(
      (context) => context && matches(context.workspaceState.openFiles),
    );
    return context.workspaceState.openFiles;
  }

  /** The stderr of the client and its programs. */
  get log() {
    return this.#stderr;
  }

  get pid() {
    return this.#process.pid;
  }

  /** Sends the process a signal, such as one that suspends it. */
  signal(name) {
    this.#isReusable = false;
    this.#process.kill(name);
  }

  /** Disconnects for good, and keeps the process for another client if possible. */
  async leave() {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    if (this.#isReusable && this.#process.connected && (await this.#call('leave'))) {
      for (const event of ['message', 'exit']) this.#process.removeAllListeners(event);
      this.#process.stderr.removeAllListeners('data');
      hold(this.#process, false);
      idle.push(this.#process);
      return;
    }
    await this.close();
  }

  /** Ends the process, so that its connections close, as when a user quits the CLI. */
  async close() {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    if (this.#process.connected) this.#process.disconnect();
    try {
      await within(exit, 'the end of the client');
    } finally {
      this.#process.kill('SIGKILL');
    }
  }
}
