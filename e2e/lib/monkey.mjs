// Runs random actions in a real window, and models the expected state: the text of each file, and
// the proposals of two real clients.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { REJECTED, accepted } from './decision.mjs';
import { HookCli } from './hook-cli.mjs';
import { Scene } from './ide-scene.mjs';
import { until } from './inbox.mjs';
import { ACTIONS } from './monkey-actions.mjs';
import { ENDS } from './monkey-ends.mjs';
import { randomOf } from './random.mjs';

const WAIT_TIMEOUT = 3_600_000;
const CLIENTS = 2;
const BACK = 'Show your edits';
const CHANGED = /, \d+ files? changed$/;
const FOLDED = /^\d+ more$/;

export class Monkey {
  /** The actions so far, each as `name:seed`. */
  script = [];
  /** Each file's texts, from the first to the current one. */
  files = new Map();
  /** The open proposals, by path. */
  waiting = new Map();
  clients = [];
  /** The hooks of a CLI that edits without asking. */
  cli;
  scene = new Scene();
  #random = () => 0;
  #count = 0;

  /** Opens the window. */
  async begin() {
    await this.scene.open();
    this.cli = new HookCli(this.scene.sandbox);
    this.clients.push(this.scene.client);
    while (this.clients.length < CLIENTS) this.clients.push(await this.scene.connect());
    for (const name of ['a.txt', 'b.txt', 'deep/a.txt', 'c.txt']) this.create(name);
    // The platform of 2018.3 treats a file as empty that is renamed before it was first read.
    await this.check();
  }

  /** Takes a picture and closes the window. */
  async giveUp(error) {
    const picture = await this.scene.picture('monkey').catch(() => 'no picture');
    error.message += `\nthe window is in ${picture}\n${this.ide?.problems().join('\n')}`;
    this.ide?.kill();
    await this.scene.close().catch(() => {}); // it was killed
  }

  get ide() {
    return this.scene.ide;
  }

  random(count) {
    return this.#random(count);
  }

  any(list) {
    return list[this.random(list.length)];
  }

  /** Returns a new number. */
  next() {
    return ++this.#count;
  }

  create(name) {
    const file = this.scene.sandbox.file(name, 'old\n');
    this.files.set(file, ['old\n']);
    return file;
  }

  anyFile() {
    return this.any([...this.files.keys()]);
  }

  text(file) {
    return this.files.get(file).at(-1);
  }

  /** Runs a possible action, chosen by the seed. */
  async play(seed, actions) {
    const random = randomOf(seed);
    const names = Object.entries(actions).flatMap(([name, { weight }]) => Array(weight).fill(name));
    while (!(await this.step(names[random(names.length)], random(1_000_000))));
  }

  /** Runs one action, and checks the state. Returns whether the action was possible. */
  async step(name, seed) {
    this.#random = randomOf(seed);
    this.script.push(`${name}:${seed}`);
    const done = (await { ...ACTIONS, ...ENDS }[name].play(this)) !== false;
    if (done) await this.check();
    else this.script.pop();
    return done;
  }

  /** Checks that each proposal waits and that each file has its text. */
  async check() {
    await this.#countIs(this.waiting.size);
    this.#allWait();
    const titles = this.#titles();
    const isKnown = ({ right, title }) =>
      right === null || (titles.has(right) && title.startsWith(`${titles.get(right)} (`));
    await this.ide.until(({ tabs }) => tabs.every(isKnown), 'no tabs but those of what waits');
    for (const file of this.files.keys()) await this.hasText(file);
    assert.deepEqual(this.ide.problems(), []);
  }

  /** Maps each waiting text to its file's name, or to the path if several files have the name. */
  #titles() {
    const waiting = [...this.waiting.values()];
    const names = waiting.map(({ file }) => path.basename(file));
    const title = ({ file }) =>
      names.filter((name) => name === path.basename(file)).length > 1
        ? path.relative(this.scene.sandbox.project, file)
        : path.basename(file);
    return new Map(waiting.map((proposal) => [proposal.text, title(proposal)]));
  }

  hasText(file) {
    const isThere = (text) => text === this.text(file);
    const what = `${JSON.stringify(this.text(file))} in ${path.basename(file)}`;
    return this.ide.untilRobot(['text of file', { path: file }], isThere, what);
  }

  /** Waits until all typed text is on the disk. */
  async saved() {
    for (const file of this.files.keys()) {
      const what = `${JSON.stringify(this.text(file))} on the disk, in ${path.basename(file)}`;
      await until(what, () => fs.readFileSync(file, 'utf8') === this.text(file));
    }
  }

  #allWait() {
    for (const { file, ended } of this.waiting.values()) {
      if (ended instanceof Error) throw ended;
      assert.equal(ended, undefined, `${path.basename(file)} has ended by itself`);
    }
  }

  /** Waits until the status widget shows this number of waiting proposals. */
  #countIs(count) {
    const connected = `Companion for Gemini CLI: ${CLIENTS} CLIs connected`;
    const wait = count === 1 ? '1 proposal waits' : `${count} proposals wait`;
    const text = count === 0 ? connected : `${connected}, ${wait} for your review`;
    const isShown = ({ statusBar }) => {
      this.#allWait();
      return statusBar.some((shown) => shown.replace(CHANGED, '') === text);
    };
    return this.ide.until(isShown, text);
  }

  /** Returns the tabs of a proposal. */
  async tabsOf({ text }) {
    const { tabs } = await this.ide.robot('look');
    return tabs.filter(({ right }) => right === text);
  }

  /** Returns one of the proposals with tabs, and the title of its first tab. */
  async anyShown() {
    const { tabs } = await this.ide.robot('look');
    const shown = [...this.waiting.values()].flatMap((proposal) => {
      const tab = tabs.find(({ right }) => right === proposal.text);
      return tab ? [{ proposal, title: tab.title }] : [];
    });
    return shown.length > 0 ? this.any(shown) : undefined;
  }

  /** Gives a file the focus, with the caret at its start. */
  focus(file) {
    return this.#focus(file, ['open', { path: file }], ({ path }) => path === file);
  }

  /** Gives a proposal the focus, with the caret at its start. */
  focusProposal({ text }, tab) {
    const isThere = (focus) => focus.editor === 'DIFF' && focus.text === text;
    return this.#focus(tab, ['turn to', { tab }], isThere);
  }

  /**
   * Moves the focus. Its former owner may still take it back. In a split each editor has its own
   * caret.
   */
  async #focus(what, action, isThere) {
    await until(`the focus in ${what}`, async () => {
      await this.ide.robot(...action);
      const { focus } = await this.ide.robot('look');
      return focus && isThere(focus);
    });
    await this.ide.display.press('ctrl+Home');
  }

  /** Makes a client propose an edit, which may replace its waiting proposal. */
  async propose(client, file) {
    const former = this.waiting.get(file);
    const text = `proposed ${this.next()}\n`;
    const proposal = { file, client, text, texts: [text], ended: undefined };
    proposal.decision = client.openDiff(file, text, WAIT_TIMEOUT);
    proposal.decision.then(
      (result) => (proposal.ended = result),
      (error) => (proposal.ended = error),
    );
    this.waiting.set(file, proposal);
    if (!former) return;
    assert.deepEqual(await former.decision, REJECTED);
    await this.offersBack(former);
  }

  /** Records the user's edit of a proposal. */
  edited(proposal, text) {
    proposal.texts.push(text);
    proposal.text = text;
  }

  isEdited(proposal) {
    return proposal.text !== proposal.texts[0];
  }

  /** Expects one decision, with the user's edits in the accepted text or offered in a notification. */
  async ends(proposal, isAccepted) {
    // The CLI itself writes an unchanged proposal.
    const content = this.isEdited(proposal) ? proposal.text : '';
    const expected = isAccepted ? accepted(content) : REJECTED;
    assert.deepEqual(await proposal.decision, expected);
    this.waiting.delete(proposal.file);
    if (!isAccepted) await this.offersBack(proposal);
  }

  /** Expects that a click on the notification shows the user's edits. */
  async offersBack(proposal) {
    if (!this.isEdited(proposal)) return;
    const about = path.relative(this.scene.sandbox.project, proposal.file);
    let isClicked = false;
    await until(`${JSON.stringify(proposal.text)} to be had back`, async () => {
      const { tabs, texts } = await this.ide.robot('look');
      if (tabs.some(({ text }) => text === proposal.text)) return true;
      if (texts.includes(BACK) && !isClicked) {
        // A notification may close at the moment of the click, and another may have the same link.
        isClicked = true;
        await this.ide.click('text', { text: BACK }).catch(() => {});
      } else if (isClicked || texts.some((text) => FOLDED.test(text))) {
        // The platform shows only the last notifications, and has all in its log.
        await this.ide.robot('follow log', { about, link: BACK }).catch(() => {});
      }
      return false;
    });
  }

  /** Ends all proposals, closes all tabs, and returns the remaining threads and plugin objects. */
  async tidy() {
    for (const proposal of [...this.waiting.values()]) {
      await proposal.client.resolveDiffFromCli(proposal.file, 'rejected');
      await this.ends(proposal, false);
    }
    await this.#keepChanges();
    await this.focus(this.anyFile());
    await until('the end of all tabs', async () => {
      const { tabs } = await this.ide.robot('look');
      if (tabs.length > 0) await this.ide.invoke('CloseAllEditors');
      return tabs.length === 0;
    });
    await this.check();
    const objects = await this.ide.objects('dev.companion.gemini.');
    return { threads: this.ide.threads(), objects };
  }

  /** Removes all files from the list of changes. */
  async #keepChanges() {
    const isKept = ({ statusBar }) => !statusBar.some((text) => CHANGED.test(text));
    while (!isKept(await this.ide.robot('look'))) {
      await this.scene.openChanges();
      const find = ({ rows }) => rows.find((row) => row.startsWith('prompt '));
      const row = await this.ide.until(find, 'a prompt in the list');
      // The rest of the row changes with the time.
      const [title] = row.match(/^prompt \d+ /);
      await this.scene.invokeOnChange(title, 'Companion.KeepChange');
      const isGone = ({ rows }) => !rows.some((row) => row.startsWith(title));
      await this.ide.until(isGone, `the end of ${title} in the list`);
    }
  }
}
