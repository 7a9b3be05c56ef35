// Starts an editor whose companions are this process, and exchanges messages with it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Inbox } from './inbox.mjs';
import { exampleOf, fromEditor, results } from './protocol-page.mjs';

const RELAY = fileURLToPath(new URL('checked-editor-relay.mjs', import.meta.url));

/** The longest timer of Node, in ms. The timeout of the check ends each wait before. */
const MAX_TIMEOUT = 2 ** 31 - 1;

const DECISIONS = ['diff/accepted', 'diff/rejected'];

/** Answers a request of the editor. As on the page: the CLI is connected, and gets the acceptance. */
function usualAnswer(method, { proposals }) {
  if (method === 'diff/resume') {
    return { proposals: proposals.map(({ diff }) => ({ diff, cli: 1, reason: 'nextPrompt' })) };
  }
  return results.find((example) => example.method === method)?.params;
}

/** A violation of the protocol, whose message says what the editor did. */
export class Violation extends Error {}

/** Calls `take` with each line. Not by node:readline, which also splits at U+2028. */
function onLines(socket, take) {
  let rest = '';
  socket.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    lines.forEach(take);
  });
}

/** Returns what is wrong with the parameters of a message, by the examples of the page. */
function wrongParams(method, params) {
  const example = fromEditor.find((example) => example.method === method);
  if (!example) return `${method}, which is not a message of the protocol`;
  const kind = (value) => (Array.isArray(value) ? 'array' : typeof value);
  for (const [name, value] of Object.entries(example.params)) {
    // A reason is the only field that may be absent.
    if (name === 'reason' && params?.reason === undefined) continue;
    if (kind(params?.[name]) !== kind(value)) return `${method} without a valid field ${name}`;
  }
  return undefined;
}

export class CheckedEditor {
  /** Whether the editor or one of its companions has ended. */
  isOver = false;
  /** The arguments of `gemini-companion`. */
  args;
  /** The folder where the editor works. */
  folder;
  /** The messages of the editor that are not valid, as sentences. */
  violations = [];
  /** Answers of this rule to the editor's requests, by method: functions of the parameters. No result is no answer. */
  answers = {};
  #root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'editor-check-'));
  #process;
  #exit;
  #errors = '';
  #server;
  #companions = new Inbox('a companion', MAX_TIMEOUT);
  #socket;
  #closed;
  #timeout;
  #requests = 0;
  #waiting;
  #received;
  #decisions = [];

  /**
   * Starts `command`, and waits up to `startTimeout` seconds until it has started its companion. It has
   * `timeout` seconds for an answer.
   */
  static async start(command, { timeout, startTimeout = timeout, env = process.env }) {
    const editor = new CheckedEditor();
    editor.#timeout = startTimeout;
    editor.folder = path.join(editor.#root, 'project');
    fs.mkdirSync(editor.folder);
    process.on('exit', editor.#kill);
    try {
      await editor.#start(command, env);
      editor.#timeout = timeout;
    } catch (error) {
      await editor.stop();
      throw error;
    }
    return editor;
  }

  async #start(command, env) {
    const bin = path.join(this.#root, 'bin');
    const program = path.join(bin, 'gemini-companion');
    const socket = path.join(this.#root, 'socket');
    fs.mkdirSync(bin);
    const relay = `#!/bin/sh\nexec '${process.execPath}' '${RELAY}' '${socket}' "$@"\n`;
    fs.writeFileSync(program, relay, { mode: 0o755 });
    this.#server = net.createServer((companion) => this.#companions.push(companion)).listen(socket);
    await once(this.#server, 'listening');
    this.#process = spawn(command[0], command.slice(1), {
      cwd: this.folder,
      env: { ...env, GEMINI_COMPANION: program, PATH: `${bin}:${env.PATH}` },
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true,
    });
    this.#process.stderr.on('data', (text) => (this.#errors = (this.#errors + text).slice(-2000)));
    this.#process.stdin.on('error', () => {});
    this.#exit = once(this.#process, 'exit').then(
      ([code, signal]) => signal ?? code,
      (error) => error.message,
    );
    const ended = this.#exit.then(async (code) => {
      await this.#errorsEnd();
      throw new Violation(`The editor ended with ${code} before it started its companion.${this.#why}`);
    });
    ended.catch(() => {});
    const begins = Promise.race([this.#companions.next(), ended]);
    await this.#serve(await this.#within(begins, 'The editor did not start $GEMINI_COMPANION serve.'));
    this.isReady();
  }

  /** Serves a connection as its companion. */
  async #serve(socket) {
    const waiting = new Map();
    this.#socket = socket.on('error', () => {});
    this.#waiting = waiting;
    this.#received = new Inbox('a message of the editor', MAX_TIMEOUT);
    this.#closed = new Promise((resolve) => socket.on('close', resolve));
    this.args = await new Promise((resolve) => {
      let take = (line) => {
        take = (line) => this.#take(line);
        resolve(JSON.parse(line));
      };
      onLines(socket, (line) => take(line));
    });
    this.#closed.then(async () => {
      this.isOver = true;
      await this.#errorsEnd();
      for (const { reject, method } of waiting.values()) {
        reject(new Violation(`The editor closed the stdin of its companion during ${method}.${this.#why}`));
      }
    });
  }

  /** Notifies the editor that its companion is ready. */
  isReady() {
    this.notify('companion/ready', exampleOf('companion/ready'));
  }

  /** Waits until the editor has started its next companion, which is not ready yet. */
  async nextCompanion() {
    const next = this.#companions.next();
    const socket = await this.#within(next, 'The editor did not start its next companion.');
    if (!this.#socket.closed) throw new Violation('The editor started a companion before the last one had ended.');
    await this.#serve(socket);
  }

  /** Waits for the last error of an editor that ends, for a second at most: its programs may go on. */
  async #errorsEnd() {
    const { stderr } = this.#process;
    if (!stderr.readableEnded) await Promise.race([once(stderr, 'end'), sleep(1000, undefined, { ref: false })]);
  }

  get #why() {
    const last = this.#errors.trim().split('\n').at(-1);
    return last ? ` Its last error: ${last}` : '';
  }

  /** Whether the editor keeps its proposals for its next companion. */
  get keepsProposals() {
    return this.args.includes('--keep-proposals');
  }

  get stdin() {
    return this.#process.stdin;
  }

  async #within(promise, sentence) {
    let timer;
    const timeout = new Promise((_, reject) => {
      const late = () => reject(new Violation(`${sentence} It had ${this.#timeout} s.${this.#why}`));
      timer = setTimeout(late, this.#timeout * 1000);
    });
    return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
  }

  #take(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.violations.push('The editor sent a line that is not JSON.');
      return;
    }
    const { jsonrpc, id, method, params } = message;
    if (jsonrpc !== '2.0') this.violations.push('The editor sent a message without "jsonrpc": "2.0".');
    if (method !== undefined) {
      const wrong = wrongParams(method, params);
      if (wrong) this.violations.push(`The editor sent ${wrong}.`);
      if (DECISIONS.includes(method)) this.#decisions.push({ method, ...params });
      this.#received.push(message);
      if (id !== undefined) this.respond(id, (this.answers[method] ?? usualAnswer.bind(null, method))(params));
      return;
    }
    const request = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (request) request.resolve(message);
    else this.violations.push(`The editor answered the request ${id} twice, or without being asked.`);
  }

  /** Answers a request of the editor, unless there is no result. */
  respond(id, result) {
    if (result !== undefined) this.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  }

  /** Waits for a message of the editor to its newest companion, `{id, method, params}`. */
  received(method) {
    const message = this.#received.next((message) => message.method === method);
    return this.#within(message, `The editor did not send ${method}.`);
  }

  /** Expects an answer to a request that the caller sends. Returns its id, and the answer. */
  expect(method) {
    const id = ++this.#requests;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { method, resolve, reject }));
    const inTime = this.#within(answer, `The editor did not answer ${method}.`);
    inTime.catch(() => {}); // another one may have failed before
    return { id, answer: inTime };
  }

  /** Sends messages in one chunk; requests get ids. Returns the answers, `{result}` or `{error}`. */
  send(...messages) {
    const answers = [];
    const lines = messages.map(({ method, params, isRequest }) => {
      const { id, answer } = isRequest ? this.expect(method) : {};
      if (answer) answers.push(answer);
      return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    });
    this.write(lines.join(''));
    return Promise.all(answers);
  }

  /** Writes bytes to the editor. */
  write(bytes) {
    return new Promise((resolve) => this.#socket.write(bytes, resolve));
  }

  notify(method, params) {
    this.send({ method, params });
  }

  /** Sends a request, and returns the answer, `{result}` or `{error}`. */
  async request(method, params) {
    const [answer] = await this.send({ method, params, isRequest: true });
    return answer;
  }

  /** Forgets the messages and the answers of the last rule. */
  begin() {
    this.answers = {};
    this.#decisions = [];
    this.#received.takeAll();
  }

  /** Takes the decisions that the editor has sent, as `{method, filePath, …}`. */
  takeDecisions() {
    return this.#decisions.splice(0);
  }

  /** Ends the companion, as after a crash. Returns the exit code of an editor that ends, too. */
  async endCompanion() {
    this.#socket.destroy();
    await this.#closed;
    return Promise.race([this.#exit, sleep(1000)]);
  }

  /** Asks the editor to end, and waits for that. */
  async quit() {
    this.#process.kill('SIGTERM');
    await this.#within(this.#exit, 'The editor did not end after SIGTERM.');
  }

  /** Waits until the editor has closed the stdin of its companion. */
  async stdinClosed() {
    await this.#within(this.#closed, 'The editor ended, and left its companion without an end of stdin.');
  }

  /** Kills the editor and its programs, and removes its folder. */
  #kill = () => {
    try {
      process.kill(-this.#process.pid, 'SIGKILL');
    } catch {
      // It has ended, or did not start.
    }
    fs.rmSync(this.#root, { recursive: true, force: true });
  };

  /** Ends everything. */
  async stop() {
    this.#socket?.destroy();
    this.#server?.close();
    process.off('exit', this.#kill);
    this.#kill();
    await this.#exit;
  }
}
