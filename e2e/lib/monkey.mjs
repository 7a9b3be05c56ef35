// Owns a user who does not think, in a real window, and the books of what must have come of it: the
// files with all that was typed into them, and the proposals of two real clients.

import assert from 'node:assert/strict';
import path from 'node:path';

import { REJECTED, Scene } from './ide-scene.mjs';
import { until } from './inbox.mjs';
import { DEEDS } from './monkey-deeds.mjs';
import { ENDS } from './monkey-ends.mjs';
import { randomOf } from './random.mjs';

const PATIENCE = 3_600_000;
const CLIENTS = 2;
const BACK = 'Show Your Edits';
const FOLDED = /^\d+ more$/;

export class Monkey {
  /** What was done, each as `name:seed`. */
  script = [];
  /** Each file's texts, from the first to the one that it has. */
  files = new Map();
  /** The proposals that have not ended, by path. */
  waiting = new Map();
  clients = [];
  scene = new Scene();
  #random = () => 0;
  #count = 0;

  /** Opens the window. */
  async begin() {
    await this.scene.open();
    this.clients.push(this.scene.client);
    while (this.clients.length < CLIENTS) this.clients.push(await this.scene.connect());
    for (const name of ['a.txt', 'b.txt', 'deep/a.txt', 'c.txt']) this.create(name);
    // The platform of 2018.3 takes a file for empty that is renamed before it was ever read.
    await this.check();
  }

  /** Takes a picture and closes the window, whatever is in it. */
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

  /** A number that is new. */
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

  /** Does something that can be done now, as that seed has it. */
  async play(seed, deeds) {
    const random = randomOf(seed);
    const names = Object.entries(deeds).flatMap(([name, { weight }]) => Array(weight).fill(name));
    while (!(await this.step(names[random(names.length)], random(1_000_000))));
  }

  /** Does one thing, and looks whether all is as it should be; returns whether it could be done. */
  async step(name, seed) {
    this.#random = randomOf(seed);
    this.script.push(`${name}:${seed}`);
    const done = (await { ...DEEDS, ...ENDS }[name].play(this)) !== false;
    if (done) await this.check();
    else this.script.pop();
    return done;
  }

  /** Whether each proposal waits and each text is there. */
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

  /** By the text of each that waits: its file's name, or its path where several have the name. */
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

  #allWait() {
    for (const { file, ended } of this.waiting.values()) {
      if (ended instanceof Error) throw ended;
      assert.equal(ended, undefined, `${path.basename(file)} has ended by itself`);
    }
  }

  /** What the status widget says. */
  #countIs(count) {
    const connected = `Companion for Gemini CLI: ${CLIENTS} CLIs connected`;
    const wait = count === 1 ? '1 proposal waits' : `${count} proposals wait`;
    const text = count === 0 ? connected : `${connected}, ${wait} for your review`;
    const isTold = ({ statusBar }) => {
      this.#allWait();
      return statusBar.includes(text);
    };
    return this.ide.until(isTold, text);
  }

  /** The tabs of a proposal. */
  async tabsOf({ text }) {
    const { tabs } = await this.ide.robot('look');
    return tabs.filter(({ right }) => right === text);
  }

  /** One of the proposals that have tabs, and the title of its first one. */
  async anyShown() {
    const { tabs } = await this.ide.robot('look');
    const shown = [...this.waiting.values()].flatMap((proposal) => {
      const tab = tabs.find(({ right }) => right === proposal.text);
      return tab ? [{ proposal, title: tab.title }] : [];
    });
    return shown.length > 0 ? this.any(shown) : undefined;
  }

  /** Gives a file the focus, its caret at the start. */
  focus(file) {
    return this.#focus(file, ['open', { path: file }], ({ path }) => path === file);
  }

  /** Gives a proposal the focus, its caret at the start. */
  focusProposal({ text }, tab) {
    const isThere = (focus) => focus.editor === 'DIFF' && focus.text === text;
    return this.#focus(tab, ['turn to', { tab }], isThere);
  }

  /** What had the focus before may yet ask for it back. In a split the caret is another in each. */
  async #focus(what, deed, isThere) {
    await until(`the focus in ${what}`, async () => {
      await this.ide.robot(...deed);
      const { focus } = await this.ide.robot('look');
      return focus && isThere(focus);
    });
    await this.ide.display.press('ctrl+Home');
  }

  /** A client proposes, perhaps in place of what waits. */
  async propose(client, file) {
    const former = this.waiting.get(file);
    const text = `proposed ${this.next()}\n`;
    const proposal = { file, client, text, texts: [text], ended: undefined };
    proposal.decision = client.openDiff(file, text, PATIENCE);
    proposal.decision.then(
      (result) => (proposal.ended = result),
      (error) => (proposal.ended = error),
    );
    this.waiting.set(file, proposal);
    if (!former) return;
    assert.deepEqual(await former.decision, REJECTED);
    await this.offersBack(former);
  }

  /** The user writes into a proposal. */
  edited(proposal, text) {
    proposal.texts.push(text);
    proposal.text = text;
  }

  isEdited(proposal) {
    return proposal.text !== proposal.texts[0];
  }

  /** It ends, once, as expected; what the user wrote is in what was accepted or can be had back. */
  async ends(proposal, isAccepted) {
    // An unchanged proposal is left to the CLI.
    const content = this.isEdited(proposal) ? proposal.text : '';
    const expected = isAccepted ? { status: 'accepted', content } : REJECTED;
    assert.deepEqual(await proposal.decision, expected);
    this.waiting.delete(proposal.file);
    if (!isAccepted) await this.offersBack(proposal);
  }

  /** A click on what is offered shows what the user had written. */
  async offersBack(proposal) {
    if (!this.isEdited(proposal)) return;
    const about = path.relative(this.scene.sandbox.project, proposal.file);
    await until(`${JSON.stringify(proposal.text)} to be had back`, async () => {
      const { tabs, texts } = await this.ide.robot('look');
      if (tabs.some(({ text }) => text === proposal.text)) return true;
      // A notification may go in the moment of the click.
      if (texts.includes(BACK)) await this.ide.click('text', { text: BACK }).catch(() => {});
      // Of many the platform shows the last ones, and keeps all in its log.
      else if (texts.some((text) => FOLDED.test(text))) {
        await this.ide.robot('follow log', { about, link: BACK });
      }
      return false;
    });
  }

  /** Ends what waits, closes all tabs, and says what is left of threads and of our objects. */
  async tidy() {
    for (const proposal of [...this.waiting.values()]) {
      await proposal.client.resolveDiffFromCli(proposal.file, 'rejected');
      await this.ends(proposal, false);
    }
    await this.focus(this.anyFile());
    await until('the end of all tabs', async () => {
      const { tabs } = await this.ide.robot('look');
      if (tabs.length > 0) await this.ide.robot('invoke', { action: 'CloseAllEditors' });
      return tabs.length === 0;
    });
    await this.check();
    const objects = await this.ide.objects('dev.companion.gemini.');
    return { threads: this.ide.threads(), objects };
  }
}
