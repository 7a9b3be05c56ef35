// Models a user, several CLIs and a companion that ends at random, and checks the notes of each model.
//
// A note is a comment, the reason of a rejection or a revert, each with its own word. Most steps are sequential;
// the end of the companion, a lost message and the user's hand fall into a running hook.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FakeCli } from './fake-cli.mjs';
import { HookProxy } from './hook-proxy.mjs';
import { Session } from './http.mjs';
import { until } from './inbox.mjs';
import { isSaved, untilUnmarked } from './notes.mjs';

/** The time until notes without a confirmation wait again, and a little more, in ms. */
const GIVEN_BACK = 4000;

/** The time for all notes to arrive. A hook that was too slow makes others wait for 10 s. */
const FINISH = 40_000;

const STEPS = {
  propose: 14,
  decide: 12,
  prompt: 10,
  tool: 10,
  end: 4,
  comment: 12,
  change: 4,
  remove: 4,
  resend: 2,
  write: 6,
  revert: 5,
  undo: 2,
  renew: 4,
  hide: 2,
  byHand: 6,
  lose: 8,
  pause: 2,
  kill: 4,
  killInHook: 4,
  stop: 2,
};

export class ConversationFuzz {
  /** The number of times that each step was taken. */
  counts = {};
  /** The steps so far, for a failure. */
  log = [];
  #random;
  #clis;
  /** All notes by their words. */
  #notes = new Map();
  #last = 0;
  /** The prompts that have changed files, by path, each with the companion that keeps them. */
  #changed = new Map();
  #isHidden = false;
  #proxy;

  constructor(window, random) {
    this.window = window;
    this.#random = random;
    const { sandbox } = window;
    this.files = ['a', 'b', 'c', 'd'].map((name) => sandbox.file(`${name}.txt`, 'old\n'));
    this.secret = sandbox.file('secret.txt', 'old\n');
  }

  async start() {
    this.#proxy = await HookProxy.start(this.window);
    this.#clis = [
      new FakeCli(this.window, 'direct'),
      new FakeCli(this.window, 'forwarded', this.#proxy),
      new FakeCli(this.window, 'bridged'),
      new FakeCli(this.window, 'bare'),
    ];
    for (const cli of this.#clis) {
      await cli.connect();
      this.#renew(cli);
    }
  }

  /** Takes a random step. */
  async step() {
    const total = Object.values(STEPS).reduce((sum, weight) => sum + weight);
    let number = this.#random(total);
    const [name] = Object.entries(STEPS).find(([, weight]) => (number -= weight) < 0);
    const cli = this.#choose(this.#clis);
    this.log.push(`${name} ${cli.name}`);
    if ((await this[`_${name}`](cli)) === false) this.log.pop();
    else this.counts[name] = (this.counts[name] ?? 0) + 1;
    await this.#readMessages();
  }

  /**
   * Reads the messages to the editor. The comments that the companion calls delivered are, because no
   * hook is running.
   */
  async #readMessages() {
    const { companion } = this.window;
    await companion.caughtUp();
    for (const { method, params } of companion.inbox.takeAll()) {
      if (method === 'cli/changed') {
        const { session, prompt, files } = params;
        for (const file of files) this.#changed.set(file.path, { companion, session, prompt });
      }
      for (const id of method === 'comment/delivered' ? params.ids : []) {
        const versions = [...this.#notes].filter(([, note]) => note.id === id);
        const isDelivered = versions.some(([, note]) => note.arrivals > 0);
        assert.ok(isDelivered, `no model got ${versions.map(([word]) => word)}, which count as delivered`);
      }
    }
  }

  /** Lets all CLIs get the notes that wait, and checks that each note has arrived that had to. */
  async finish() {
    this.log.push('finish');
    for (const cli of this.#clis) if (cli.diff) await this.#decideNow(cli, 'accept');
    if (this.#isHidden) await this._hide();
    const due = [...this.#notes].filter(([, note]) => note.isDue);
    const missing = () => due.filter(([, { arrivals }]) => arrivals === 0);
    const end = Date.now() + FINISH;
    while (missing().length > 0 && Date.now() < end) await this.#promptAll();
    assert.equal(missing().length, 0, `not arrived: ${JSON.stringify(missing())}`);
    // Nothing arrives twice.
    for (const last = Date.now() + GIVEN_BACK; Date.now() < last; ) await this.#promptAll();
    const said = this.window.log + this.window.companion.log;
    assert.doesNotMatch(said, /word\d|secret\.txt.*line/, 'a note is in the log');
  }

  async #promptAll() {
    for (const cli of this.#clis) if (cli.hasHooks) await this.#run(cli, 'prompt', 'go on');
  }

  get #forwarded() {
    return this.#clis.find(({ name }) => name === 'forwarded');
  }

  #choose(list) {
    return list[this.#random(list.length)];
  }

  /** A further note. `isDue`: it has to arrive once; otherwise it may arrive once, or never. */
  #note(kind, more) {
    const word = `word${++this.#last}`;
    this.#notes.set(word, { kind, isDue: true, arrivals: 0, isGone: false, ...more });
    return word;
  }

  #waiting(kind) {
    const all = [...this.#notes.entries()];
    return all.filter(([, note]) => note.kind === kind && note.arrivals === 0 && !note.isGone);
  }

  /** Runs a hook of a CLI, and records the answer for its model. Returns whether that has notes. */
  async #run(cli, call, ...args) {
    const gone = new Set([...this.#notes].filter(([, { isGone }]) => isGone).map(([word]) => word));
    const text = await cli.hooks[call](...args, cli.env);
    const words = text.match(/word\d+/g) ?? [];
    for (const word of words) {
      const note = this.#notes.get(word);
      const about = `${cli.name} ${call}: ${text}`;
      assert.ok(note, about);
      assert.ok(!gone.has(word), `${word} was removed; ${about}`);
      assert.ok(!note.isPrivate, `${word} is private; ${about}`);
      assert.ok(!note.cli || note.cli === cli.name, `${word} is for ${note.cli}; ${about}`);
      assert.equal(++note.arrivals, 1, `${word} again; ${about}`);
      // A comment arrives once, with the text that it has by then. A text that the user has sent
      // since the confirmation, while this hook was still running, arrives later.
      const versions = note.versions ?? [];
      for (const older of versions.slice(0, versions.indexOf(word))) {
        Object.assign(this.#notes.get(older), { isDue: false, isGone: true });
      }
    }
    return words.length > 0;
  }

  async _propose(cli) {
    const free = this.files.filter((file) => this.#clis.every(({ diff }) => diff?.file !== file));
    if (cli.diff || free.length === 0) return false;
    const file = this.#choose(free);
    const { editor } = this.window;
    // Another CLI may have begun an edit of the file that it does not show.
    const other = this.#choose(this.#clis);
    if (other !== cli && other.hasHooks && this.#random(3) === 0) {
      await other.hooks.before(file, {}, other.env);
    }
    if (cli.hasHooks) await cli.hooks.before(file, {}, cli.env);
    const newContent = `proposal ${++this.#last}\n`;
    const answer = cli.openDiff({ filePath: file, newContent });
    await editor.view(file);
    assert.deepEqual(await answer, { content: [] });
    cli.diff = { file, newContent, arrival: editor.reasons.get(file) };
    this.log.push(`  ${cli.diff.arrival}`);
    if (!cli.hasHooks) assert.equal(cli.diff.arrival, 'never', 'a CLI without hooks');
  }

  async _decide(cli) {
    if (!cli.diff) return false;
    const how = ['accept', 'reject', 'reason', 'reason'][this.#random(4)];
    this.log.push(`  ${how}`);
    await this.#decideNow(cli, how);
  }

  async #decideNow(cli, how) {
    const { file, newContent, arrival } = cli.diff;
    const old = fs.readFileSync(file, 'utf8');
    const { editor } = this.window;
    const decision = cli.decision();
    const isDue = arrival !== 'never';
    const word = how === 'reason' ? this.#note('reason', { cli: cli.name, isDue }) : undefined;
    if (how === 'accept') editor.accept(file);
    else editor.reject(file, word && `because of ${word}`);
    const { method, content } = await decision;
    cli.diff = undefined;
    const after = (originalContent, text) =>
      this.#run(cli, 'after', file, {
        tool_response: { returnDisplay: { filePath: file, originalContent, newContent: text } },
      });
    if (method === 'ide/diffRejected') {
      assert.notEqual(how, 'accept');
      return;
    }
    if (how === 'accept') {
      assert.equal(content, '');
      fs.writeFileSync(file, newContent);
      if (cli.hasHooks) await after(old, newContent);
      return;
    }
    assert.equal(content, old, 'a rejection is no acceptance of another text');
    assert.ok(word && cli.hasHooks, `${cli.name} gets an acceptance`);
    await after(old, old);
    // The hook may have failed; then a later one has the reason.
  }

  async _prompt(cli) {
    if (!cli.hasHooks) return false;
    await this.#run(cli, 'prompt', 'go');
  }

  async _tool(cli) {
    if (!cli.hasHooks) return false;
    await this.#run(cli, 'after', undefined, { tool_name: 'read_file' });
  }

  async _end(cli) {
    if (!cli.hasHooks) return false;
    await this.#run(cli, 'end', {});
  }

  /** The session of a CLI changes to a new one, or back to an earlier one. */
  #renew(cli) {
    const isBack = cli.sessions.length > 1 && this.#random(2);
    const session = isBack ? this.#choose(cli.sessions) : `${cli.name}-${cli.sessions.length}`;
    if (!isBack) cli.sessions.push(session);
    cli.hooks.session = session;
  }

  async _renew(cli) {
    if (!cli.hasHooks) return false;
    this.#renew(cli);
  }

  /** Sends a comment, with the text of `word`. */
  #send(word) {
    const { id, file, line } = this.#notes.get(word);
    const text = `see ${word}`;
    const lines = { line, endLine: line, content: 'old' };
    this.window.companion.notify('comment/set', { id, path: file, text, ...lines });
  }

  #comment(more) {
    const file = this.#random(8) ? this.#choose(this.files) : this.secret;
    const about = { id: `id${this.#last}`, file, line: 1, versions: [], ...more };
    const word = this.#note('comment', about);
    const note = this.#notes.get(word);
    const isSecret = note.file === this.secret;
    // The companion may take or refuse it while the ignore file changes.
    Object.assign(note, { isDue: !isSecret, isPrivate: isSecret && this.#isHidden });
    note.versions.push(word);
    this.#send(word);
    return word;
  }

  async _comment() {
    this.#comment();
    await this.window.companion.caughtUp();
  }

  /** The user changes a comment, or edits above its lines. */
  async _change() {
    const found = this.#choose(this.#waiting('comment'));
    if (!found) return false;
    const [word, note] = found;
    if (this.#random(2)) {
      note.line++;
      this.#send(word);
    } else {
      const { id, versions, file } = note;
      this.#comment({ id, versions, file });
    }
    await this.window.companion.caughtUp();
    if (note.versions.at(-1) !== word) Object.assign(note, { isDue: false, isGone: true });
  }

  async _remove() {
    const found = this.#choose(this.#waiting('comment'));
    if (!found) return false;
    await this.#remove(found);
  }

  async #remove([, note]) {
    this.window.companion.notify('comment/removed', { id: note.id });
    await this.window.companion.caughtUp();
    Object.assign(note, { isDue: false, isGone: true });
  }

  async _resend() {
    for (const [word] of this.#waiting('comment')) this.#send(word);
    await this.window.companion.caughtUp();
  }

  /** A CLI changes a file of its own without asking. */
  async _write(cli) {
    if (!cli.hasHooks) return false;
    await this.#run(cli, 'prompt', 'write');
    const file = path.join(this.window.sandbox.project, `word${this.#last + 1}.txt`);
    fs.writeFileSync(file, 'before\n');
    this.#note('revert', { cli: cli.name, isDue: false, file });
    await cli.hooks.before(file, {}, cli.env);
    fs.writeFileSync(file, 'after\n');
    const display = { filePath: file, originalContent: 'before\n', newContent: 'after\n' };
    await this.#run(cli, 'after', file, { tool_response: { returnDisplay: display } });
  }

  /** A change of a CLI that the present companion knows, with the notice of its revert. */
  #change(cli, isReverted) {
    const { companion } = this.window;
    const isIt = ([, note]) =>
      note.cli === cli.name &&
      Boolean(note.isReverted) === isReverted &&
      this.#changed.get(note.file)?.companion === companion;
    const found = this.#choose(this.#waiting('revert').filter(isIt));
    if (!found) return undefined;
    const [, note] = found;
    const { session, prompt } = this.#changed.get(note.file);
    return { note, companion, params: { session, prompt, paths: [note.file] } };
  }

  /** The user reverts such a change. */
  async _revert(cli) {
    const change = this.#change(cli, false);
    if (!change) return false;
    const { note, companion, params } = change;
    fs.writeFileSync(note.file, 'before\n');
    companion.notify('cli/reverted', params);
    Object.assign(note, { isReverted: true, isDue: true });
    await companion.caughtUp();
  }

  /** The user undoes such a revert. */
  async _undo(cli) {
    const change = this.#change(cli, true);
    if (!change) return false;
    const { note, companion, params } = change;
    fs.writeFileSync(note.file, 'after\n');
    companion.notify('cli/revertUndone', params);
    await companion.caughtUp();
    Object.assign(note, { isDue: false, isGone: true });
  }

  /** An ignore file begins or ceases to name the secret file. */
  async _hide() {
    const { companion, sandbox } = this.window;
    this.#isHidden = !this.#isHidden;
    companion.notify('editor/focused', { path: this.secret });
    sandbox.file('.aiexclude', this.#isHidden ? 'secret*\n' : 'nothing\n');
    await companion.inbox.next(
      ({ method, params }) =>
        method === 'companion/private' && params.paths.includes(this.secret) === this.#isHidden,
    );
    for (const note of this.#notes.values()) {
      // A comment on it may have been refused meanwhile.
      if (note.file === this.secret) note.isPrivate = this.#isHidden;
    }
  }

  /** The user changes a note while a hook runs. */
  async _byHand(cli) {
    if (!cli.hasHooks) return false;
    const comment = this.#choose(this.#waiting('comment'));
    const remove = () => comment && this.#remove(comment);
    const acts = [() => this._comment(), () => this._change(), remove];
    const act = this.#choose(acts);
    await Promise.all([this.#run(cli, 'prompt', 'go'), sleep(this.#random(30)).then(act)]);
  }

  /** A message of a hook, or the answer to it, is lost or late. */
  async _lose() {
    const cli = this.#forwarded;
    const proxy = this.#proxy;
    const late = this.#random(600);
    const acts = {
      event: ['onEvent', () => undefined],
      answer: ['onEvent', async (forward) => void (await forward())],
      confirmation: ['onAck', () => undefined],
      'answer to the confirmation': ['onAck', async (forward) => void (await forward())],
      'late answer': ['onAck', (forward) => forward().then((reply) => sleep(late, reply))],
    };
    const [what, [on, act]] = this.#choose(Object.entries(acts));
    this.log.push(`  ${what} ${late}`);
    proxy[on](act).catch(() => {}); // such a message may not come
    await this.#run(cli, 'prompt', 'go');
    proxy.clear();
  }

  /** The companion is suspended while a hook runs. */
  async _pause(cli) {
    if (!cli.hasHooks) return false;
    const { companion } = this.window;
    const [before, time] = [this.#random(30), this.#random(600)];
    this.log.push(`  after ${before} for ${time}`);
    const suspended = sleep(before).then(async () => {
      companion.signal('SIGSTOP');
      await sleep(time);
      companion.signal('SIGCONT');
    });
    await Promise.all([this.#run(cli, 'prompt', 'go'), suspended]);
    // The companion does not know the forwarded port, which any earlier step may have marked. A later
    // hook clears the mark of that.
    await untilUnmarked(this.window, () => this.#run(this.#forwarded, 'prompt', 'go on'));
  }

  async _kill() {
    await this.#saved();
    await this.window.kill();
    await this.#startAgain();
  }

  /** The companion is killed while a hook runs, and is there again before its end, or later. */
  async _killInHook(cli) {
    if (!cli.hasHooks) return false;
    await this.#saved();
    const time = this.#random(40);
    this.log.push(`  after ${time}`);
    const tool = ['after', undefined, { tool_name: 'read_file' }];
    const running = this.#run(cli, ...this.#choose([['prompt', 'go'], ['end', {}], tool]));
    await sleep(time);
    await this.window.kill();
    await this.window.start();
    await running;
    await this.#startedAgain();
  }

  async _stop() {
    await this.window.stop();
    await this.#startAgain();
  }

  /** Waits until the next process would know all notes. */
  async #saved() {
    const { sandbox, companion } = this.window;
    // Comments are checked before they are kept.
    await this._resend();
    const words = this.#waiting('comment').filter(([, { isDue }]) => isDue);
    const areKept = async () => {
      await this.#readMessages();
      return words.every(([word]) => isSaved(this.window, `"see ${word}"`));
    };
    await until(`${words.map(([word]) => word)} are kept`, areKept);
    // The companion answers this after it has saved all earlier notes.
    const session = await Session.open(sandbox, companion);
    await session.delete();
  }

  async #startAgain() {
    await this.window.start();
    await this.#startedAgain();
  }

  /** The editor and the clients continue with the next process. */
  async #startedAgain() {
    const { companion } = this.window;
    for (const [word] of this.#waiting('comment')) this.#send(word);
    companion.notify('editor/focused', { path: this.secret });
    if (this.#isHidden) {
      const isHidden = ({ method, params }) =>
        method === 'companion/private' && params.paths.includes(this.secret);
      await companion.inbox.next(isHidden);
    }
    for (const cli of this.#clis) {
      const { diff } = cli;
      await cli.listen();
      if (!diff) continue;
      const { method } = await cli.decision();
      assert.equal(method, 'ide/diffRejected');
      cli.diff = undefined;
    }
    await companion.caughtUp();
  }
}
