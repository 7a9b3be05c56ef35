// Connects a client to its companion through `gemini-companion bridge`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';

import { Inbox, within } from './inbox.mjs';

const PROGRAM = process.env.GEMINI_COMPANION;

/** Returns the arguments of a bridge to the companion whose discovery file is in the sandbox. */
export function byDiscovery(sandbox) {
  return ['--temp-dir', sandbox.tmp];
}

/** Returns the arguments of a bridge to a port, with the token in a file. */
export function byPort(sandbox, port, token) {
  const file = path.join(sandbox.root, 'token');
  fs.writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return ['--host', '127.0.0.1', '--port', String(port), '--token-file', file];
}

/** Returns the environment of a client that can't reach the companion directly or see its file. */
export function bridgeEnv(sandbox, args, { cwd = sandbox.project, program = PROGRAM } = {}) {
  return {
    GEMINI_CLI_IDE_SERVER_STDIO_COMMAND: program,
    GEMINI_CLI_IDE_SERVER_STDIO_ARGS: JSON.stringify(['bridge', ...args]),
    GEMINI_CLI_IDE_WORKSPACE_PATH: cwd,
    TMPDIR: sandbox.folder('no-discovery'),
    TERM_PROGRAM: 'vscode',
  };
}

/** A bridge, or another stdio server. The test is its client, and exchanges plain lines. */
export class Bridge {
  /** The parsed lines of stdout. */
  messages = new Inbox('a message of the bridge');
  /** The same lines, unparsed. */
  lines = [];
  /** The text of stderr. */
  log = '';
  #process;
  #stdout;
  #exit;

  static start(sandbox, args, command) {
    const bridge = new Bridge(sandbox, args, command);
    sandbox.defer(() => bridge.close());
    return bridge;
  }

  constructor(sandbox, args, command = 'bridge') {
    const env = { PATH: process.env.PATH, HOME: sandbox.home };
    this.#process = spawn(PROGRAM, [command, ...args], { cwd: sandbox.project, env });
    this.#process.stdin.on('error', () => {}); // it has exited; `exited` has the code
    this.#process.stderr.setEncoding('utf8').on('data', (text) => (this.log += text));
    this.#stdout = readline.createInterface({ input: this.#process.stdout, crlfDelay: Infinity });
    this.#stdout.on('line', (line) => this.#take(line));
    this.#exit = once(this.#process, 'close').then(([code, signal]) => signal ?? code);
    this.#exit.then((code) => this.messages.end(new Error(`exited with ${code}:\n${this.log}`)));
  }

  #take(line) {
    this.lines.push(line);
    this.messages.push(JSON.parse(line));
  }

  /** Completes the handshake. */
  async begin() {
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    };
    const answer = await this.ask('initialize', params);
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer;
  }

  /** Sends a request and returns the response. */
  ask(method, params = {}, id = method) {
    this.send({ jsonrpc: '2.0', id, method, params });
    return this.messages.next((message) => message.id === id && !message.method);
  }

  /** Waits for the next notification of that method. */
  next(method) {
    return this.messages.next((message) => message.method === method);
  }

  send(message) {
    this.sendLine(JSON.stringify(message));
  }

  sendLine(line) {
    this.#process.stdin.write(`${line}\n`);
  }

  signal(name) {
    this.#process.kill(name);
  }

  /** Ends it like a client that quits. Returns the exit code, or the signal that ended it. */
  async close() {
    this.#process.stdin.end();
    try {
      return await within(this.#exit, 'the end of the bridge');
    } finally {
      this.#process.kill('SIGKILL');
    }
  }

  exited() {
    return within(this.#exit, 'the end of the bridge');
  }
}
