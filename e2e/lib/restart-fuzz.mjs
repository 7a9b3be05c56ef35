// Models clients, an editor and a `serve --resume` that ends at random, and checks each decision.
//
// The steps are sequential, so the model knows which decision each client must receive. Only a step
// that the end of the process interrupts has several possible results.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { Session } from './http.mjs';
import { within } from './inbox.mjs';

/** Gemini CLI receives no text for an unchanged proposal; a client without a name receives it. */
const GEMINI = { name: 'streamable-http-client', version: '0.61.0' };

const DECISIONS = { 'ide/diffAccepted': 'accepted', 'ide/diffRejected': 'rejected' };

/** One client, which has at most one proposal per file. */
class Client {
  /** The text that it proposes, by path, while it waits for the user. */
  waiting = new Map();
  /** The number of its diff, by path, as the editor knows it. */
  diffs = new Map();
  /**
   * The decisions that the client must still receive: path → all correct texts; `undefined` is a
   * rejection.
   */
  due = new Map();
  /**
   * Whether the client has a stream. After a restart it has none, and the answer to a request is
   * one while a proposal of it is open.
   */
  isBack = true;
  #session;
  #stream;
  #lastId;

  constructor(fuzz, name) {
    this.fuzz = fuzz;
    this.name = name;
  }

  async connect() {
    const { sandbox, companion } = this.fuzz.window;
    const info = this.name === 'gemini' ? GEMINI : undefined;
    this.#session = await Session.open(sandbox, companion, info);
    this.waiting.clear();
    this.due.clear();
    this.#lastId = undefined;
    await this.listen();
  }

  get listens() {
    return this.#stream !== undefined;
  }

  async listen() {
    this.#session.resume(this.fuzz.window.companion);
    this.#stream = await this.#session.stream(this.#lastId);
    this.isBack = true;
    await this.receive();
  }

  async unlisten() {
    const stream = this.#stream;
    this.#stream = undefined;
    if (!stream) return;
    await stream.close();
    this.#lastId = stream.lastId ?? this.#lastId;
    // These messages arrived before the end.
    for (const message of stream.messages.takeAll()) this.#take(message);
  }

  /** Ends the session. Its decisions then have no receiver. */
  async leave() {
    await this.unlisten();
    await this.#session.delete();
  }

  call(name, args) {
    return this.#session.callTool(name, args);
  }

  /** Expects one of these decisions, now or once the client listens again. */
  async expect(path, ...contents) {
    this.waiting.delete(path);
    this.due.set(path, contents);
    if (this.listens) await this.receive();
  }

  /** Receives all due decisions, and nothing else. */
  async receive() {
    while (this.due.size > 0) {
      const decision = await within(
        this.#stream.messages.next(({ method }) => method in DECISIONS),
        `the decisions about ${[...this.due.keys()]} for ${this.name}`,
      );
      this.#take(decision);
    }
    for (const message of this.#stream.messages.takeAll()) this.#take(message);
  }

  #take({ method, params }) {
    if (!(method in DECISIONS)) return;
    const { filePath, content } = params;
    const right = this.due.get(filePath);
    const received = `${this.name}: ${DECISIONS[method]} ${filePath} ${JSON.stringify(content)}`;
    assert.ok(right, `${received}, but nothing was decided`);
    assert.ok(right.includes(content), `${received}, not ${JSON.stringify(right)}`);
    this.due.delete(filePath);
  }
}

export class RestartFuzz {
  /** The number of times that each step was taken. */
  counts = {};
  #clients;
  #paths;
  #random;
  #texts = 0;

  constructor(window, random) {
    this.window = window;
    this.#random = random;
    this.#clients = ['gemini', 'other', 'third'].map((name) => new Client(this, name));
    this.#paths = ['a', 'b', 'c'].map((name) => window.sandbox.file(`${name}.txt`, 'old\n'));
  }

  async start() {
    for (const client of this.#clients) await client.connect();
  }

  /** Takes a random step. */
  async step() {
    const steps = [
      ['open', 30],
      ['close', 8],
      ['accept', 20],
      ['reject', 8],
      ['unlisten', 8],
      ['listen', 12],
      ['leave', 2],
      ['stop', 2],
      ['restart', 3],
      ['kill', 3],
      ['killWhileOpening', 3],
      ['killWhileAccepting', 3],
    ];
    let at = this.#random(steps.reduce((sum, [, weight]) => sum + weight, 0));
    const [name] = steps.find(([, weight]) => (at -= weight) < 0);
    const client = this.#choose(this.#clients);
    const taken = await this[`_${name}`](client, this.#choose(this.#paths));
    if (taken !== false) this.counts[name] = (this.counts[name] ?? 0) + 1;
  }

  /** Ends the run. Each client receives all due decisions. */
  async finish() {
    for (const client of this.#clients) if (!client.listens) await client.listen();
    await this._stop();
    for (const client of this.#clients) {
      assert.deepEqual([client.waiting.size, client.due.size], [0, 0], client.name);
    }
  }

  #choose(list) {
    return list[this.#random(list.length)];
  }

  #owner(path) {
    return this.#clients.find((client) => client.waiting.has(path));
  }

  /** Returns the contents of an acceptance of `text`. */
  #content(client, text) {
    const isUnchanged = client.waiting.get(text.path) === text.content;
    return client.name === 'gemini' && isUnchanged ? '' : text.content;
  }

  async _open(client, path) {
    if (!client.isBack) await client.listen();
    const content = `proposal ${++this.#texts}\n`;
    const earlier = this.#owner(path);
    // The newer question replaces a decision that has not arrived.
    client.due.delete(path);
    const answer = client.call('openDiff', { filePath: path, newContent: content });
    await this.window.editor.view(path);
    assert.deepEqual(await answer, { content: [] });
    client.diffs.set(path, this.window.editor.diffs.get(path));
    if (earlier && earlier !== client) await earlier.expect(path, undefined);
    client.waiting.set(path, content);
  }

  async _close(client, path) {
    const { waiting } = client;
    if (!waiting.has(path)) return false;
    if (!client.isBack) await client.listen();
    const args = { filePath: path, suppressNotification: true };
    const result = JSON.parse((await client.call('closeDiff', args)).content[0].text);
    assert.equal(result.content, this.#content(client, { path, content: waiting.get(path) }));
    waiting.delete(path);
  }

  async _accept(_, path) {
    const client = this.#owner(path);
    if (!client) return false;
    const content = this.#random(2) ? client.waiting.get(path) : `edited ${++this.#texts}\n`;
    const received = this.#content(client, { path, content });
    this.window.editor.accept(path, content);
    await this.window.companion.caughtUp();
    await client.expect(path, received);
  }

  async _reject(_, path) {
    const client = this.#owner(path);
    if (!client) return false;
    this.window.editor.reject(path);
    await this.window.companion.caughtUp();
    await client.expect(path, undefined);
  }

  async _unlisten(client) {
    if (!client.listens) return false;
    await client.unlisten();
  }

  async _listen(client) {
    if (client.listens) return false;
    await client.listen();
  }

  async _leave(client) {
    await client.leave();
    await client.connect();
  }

  /** Restarts the companion in order. The editor keeps its views. */
  async _restart() {
    await this.#saved();
    this.window.companion.notify('editor/restarts', {});
    await this.window.stop();
    await this.#startAgain();
  }

  /** Stops the companion in order, which rejects all open proposals. */
  async _stop() {
    const rejected = this.#clients.map((client) => this.#rejectAll(client));
    await this.window.stop();
    await Promise.all(rejected);
    await this.#startAgain();
  }

  async _kill() {
    await this.#saved();
    await this.window.kill();
    await this.#startAgain();
  }

  /**
   * Kills the process during openDiff. The call may have been carried out or not. Its client does
   * not know, and closes the proposal.
   */
  async _killWhileOpening(client, path) {
    await this.#saved();
    if (!client.isBack) await client.listen();
    const earlier = this.#owner(path);
    const content = `proposal ${++this.#texts}\n`;
    if (earlier) earlier.waiting.delete(path);
    if (earlier && earlier !== client) earlier.due.set(path, [undefined]);
    // The call may replace a decision, or its own proposal may be rejected.
    client.due.set(path, [...(client.due.get(path) ?? []), undefined]);
    const answer = client
      .call('openDiff', { filePath: path, newContent: content })
      .catch(() => undefined);
    await sleep(this.#random(4));
    await this.window.kill();
    await answer;
    await this.#startAgain(client);
    await client.call('closeDiff', { filePath: path, suppressNotification: true });
    client.due.delete(path);
    await client.listen();
  }

  /** Kills the process during an acceptance. The decision was saved, or else it is a rejection. */
  async _killWhileAccepting(_, path) {
    const client = this.#owner(path);
    if (!client) return false;
    await this.#saved();
    const content = this.#random(2) ? client.waiting.get(path) : `edited ${++this.#texts}\n`;
    const received = this.#content(client, { path, content });
    const arrival = client.expect(path, received, undefined).catch((error) => {
      // The stream may have ended before the client received it.
      if (!client.due.has(path)) throw error;
    });
    this.window.editor.accept(path, content);
    await sleep(this.#random(4));
    await this.window.kill();
    await arrival;
    await this.#startAgain();
  }

  /** Expects a rejection of each waiting proposal of `client`, now or once it listens. */
  async #rejectAll(client) {
    for (const path of [...client.waiting.keys()]) {
      client.waiting.delete(path);
      client.due.set(path, [undefined]);
    }
    if (client.listens) await client.receive();
  }

  /**
   * Waits until the next process would know all decisions. Without it, a decision whose client does
   * not listen may end with the process that has not saved it yet.
   */
  async #saved() {
    const { companion } = this.window;
    // The companion answers this after it has saved all earlier decisions.
    const session = await Session.open(this.window.sandbox, companion);
    await session.delete();
  }

  /**
   * Starts the next process, which takes up the proposals that the editor still shows: most of them, but none of
   * `except`. Each client except that one listens again now or later.
   */
  async #startAgain(except) {
    await this.window.start('--keep-proposals');
    const proposals = [];
    const listening = this.#clients.filter((client) => client.listens && client !== except);
    for (const client of this.#clients) {
      await client.unlisten();
      client.isBack = false;
      for (const [path, newContent] of [...client.waiting]) {
        if (client !== except && this.#random(4)) {
          proposals.push({ diff: client.diffs.get(path), newContent });
          this.window.editor.edit(path, newContent);
        } else {
          client.waiting.delete(path);
          client.due.set(path, [undefined]);
        }
      }
    }
    const resumed = await this.window.companion.request('diff/resume', { proposals });
    assert.deepEqual(
      resumed.proposals.map(({ diff }) => diff),
      proposals.map(({ diff }) => diff),
    );
    for (const client of listening) if (this.#random(3)) await client.listen();
  }
}
