// Sets up a window test: the IDE with the plugin, and a client in its project. Tests share one
// window, because it opens slowly.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Ide } from './ide.mjs';
import { IdeClient } from './ide-client.mjs';
import { until } from './inbox.mjs';
import { Sandbox } from './sandbox.mjs';

/** The texts of the status widget without a client, and with one. */
export const WAITING = 'Companion for Gemini CLI: Waiting for a CLI';
export const CONNECTED = 'Companion for Gemini CLI: 1 CLI connected';

const TO_REVIEW = /^CLI: \d+ to review$/;

const PICTURES = fileURLToPath(new URL('../../target/ide-tests', import.meta.url));

const isInList = ({ focus }) => focus?.component?.endsWith('ChangesTree');

/** A window and a client. */
export class Scene {
  sandbox = new Sandbox();
  ide;
  client;

  /** Starts the IDE, and waits until its server is ready; clients may be reconnecting. */
  async openIde(options) {
    const isDark = process.env.COMPANION_DARK === 'true';
    this.ide = await Ide.start(this.sandbox, { isDark, ...options });
    const isReady = (text) => text === WAITING || / CLIs? connected$/.test(text);
    const ready = ({ statusBar }) => statusBar.some(isReady);
    await this.ide.until(ready, WAITING);
  }

  /** Waits until a client is connected. */
  async open() {
    await this.openIde();
    this.client = await this.connect();
  }

  /** Connects a client that proposes one edit at a time. */
  connect() {
    return IdeClient.connect(this.sandbox);
  }

  /** Waits until the status widget has that text. */
  status(text) {
    return this.ide.until(({ statusBar }) => statusBar.includes(text), text);
  }

  close() {
    return this.sandbox.close();
  }

  /** Runs a test in this window. */
  test(name, body) {
    test(name, async (t) => {
      try {
        await body(this);
      } catch (error) {
        await this.#print(t, name).catch(({ message }) => t.diagnostic(message));
        await this.#startOver();
        throw error;
      }
    });
  }

  /** Prints the state of the window after a failed test. */
  async #print(t, name) {
    t.diagnostic(`the client knows ${JSON.stringify(await this.client.context())}`);
    t.diagnostic(`the window is in ${await this.picture(name)}`);
  }

  /** Takes a picture to investigate a failure. */
  picture(name) {
    fs.mkdirSync(PICTURES, { recursive: true });
    return this.ide.picture(path.join(PICTURES, `${name.replaceAll(/\W+/g, '-')}.png`));
  }

  /** Removes the proposals of a failed test by ending their client. */
  async #startOver() {
    const { windows } = await this.ide.robot('look');
    if (windows.length > 1) await this.ide.display.press('Escape');
    await this.client?.close();
    this.client = await this.connect();
  }

  /** Opens a file of the project, with the focus and the caret in it. */
  async edit(name, content, { line = 1, character = 1, from } = {}) {
    const file = this.sandbox.file(name, content);
    if (line > 1 || character > 1) {
      // The IDE may have read the file while it was empty, in the middle of a write.
      const hasLine = (text) => text !== '' && text?.split('\n').length >= line;
      await this.ide.untilRobot(['text of file', { path: file }], hasLine, `line ${line} of ${name}`);
    }
    const open = () => this.ide.robot('open', { path: file, line, character, from });
    await open();
    // The focus may still be returning from a tab that was just closed.
    await until(`the focus in ${name}`, async () => {
      const { focus } = await this.ide.robot('look');
      if (focus?.path !== file) await open();
      return focus?.path === file;
    });
    return file;
  }

  /** Moves the focus out of editors, so that a proposal is shown at once. */
  leaveEditors() {
    return this.ide.untilRobot(['leave editors'], (left) => left, 'the focus in a tool window');
  }

  /**
   * Makes the client propose an edit, and waits until it is shown. Returns its tab and the
   * decision.
   */
  async propose(file, text, client = this.client) {
    await this.leaveEditors();
    const decision = client.openDiff(file, text);
    const tab = await Promise.race([
      this.#shown(file, text),
      decision.then((early) => assert.fail(`it was decided early: ${JSON.stringify(early)}`)),
    ]);
    return { title: tab.title, tab, decision };
  }

  /**
   * Waits until the proposal is shown. If the focus was returning to an editor, the proposal waits
   * without a tab, and this method opens it.
   */
  async #shown(file, text) {
    const isShown = ({ tabs }) => tabs.some(({ right }) => right === text);
    const look = await this.ide.until(
      (look) => (isShown(look) || look.texts.includes('Review')) && look,
      `a proposal for ${path.basename(file)}`,
    );
    if (!isShown(look)) await this.ide.click('text', { text: 'Review' });
    return this.proposal(file, ({ right }) => right === text);
  }

  /** Opens the list of waiting proposals, and clicks on a text in it. */
  async chooseInList(text) {
    const { statusBar } = await this.ide.until(
      ({ statusBar }) => statusBar.some((text) => TO_REVIEW.test(text)),
      'the count in the status bar',
    );
    await this.ide.click('text', { text: statusBar.find((text) => TO_REVIEW.test(text)) });
    await this.ide.until(({ texts }) => texts.includes('Open proposals:'), 'the list of proposals');
    await this.ide.click('text', { text });
  }

  /** Opens the list of changes. Its action hides a list that is active but has no focus. */
  openChanges() {
    return until('the focus in the list', async () => {
      if (isInList(await this.ide.robot('look'))) return true;
      await this.ide.invoke('ActivateGeminiCLIChangesToolWindow');
      await pause(1_000);
      return false;
    });
  }

  /** Runs an action on the row of the list of changes that begins with a text. */
  async invokeOnChange(text, action) {
    // A second click on a row within half a second would be a double click.
    await pause(600);
    await this.ide.click('row', { text });
    // The window gets the click later than it answers the robot.
    const isSelected = ({ focus }) =>
      focus?.selection?.length === 1 && focus.selection[0].startsWith(text);
    await this.ide.until((look) => isInList(look) && isSelected(look), `${text} selected`);
    await this.ide.invoke(action);
  }

  /**
   * Closes a tab by its X. Where the tab has a pin in place of the X, it is unpinned first, as a user
   * has to.
   */
  async clickX(title, times = 1) {
    const { hasPin } = await this.ide.tab(title);
    if (hasPin) {
      await this.ide.click('close button', { tab: title });
      await this.ide.tab(title, (tab) => !tab.hasPin);
    }
    await this.ide.click('close button', { tab: title }, 1, times);
  }

  /** Waits for a dialog with a question that takes keys. */
  asks() {
    const isReady = ({ windows, focus }) => windows.length > 1 && focus?.isButton;
    return this.ide.until(isReady, 'a question');
  }

  /** Accepts a proposal in its tab. */
  accept(title) {
    return this.ide.invoke('Companion.AcceptProposal', title);
  }

  /** Selects a proposal by a click on its tab. */
  async turnTo(title) {
    await this.ide.click('tab', { tab: title });
    await this.ide.tab(title, ({ isSelected }) => isSelected);
  }

  /** Waits for the proposal for a file. */
  proposal(file, matches = () => true) {
    const name = path.basename(file);
    const find = ({ tabs }) =>
      tabs.find((tab) => tab.right !== null && tab.title.includes(name) && matches(tab));
    return this.ide.until(find, `a proposal for ${name}`);
  }

  /** Waits until no proposal is shown. */
  noProposal() {
    const none = ({ tabs }) => tabs.every(({ right }) => right === null);
    return this.ide.until(none, 'the end of all proposals');
  }

  /** Expects the decision about a proposal, and that no proposal is left. */
  async ends(decision, expected) {
    assert.deepEqual(await decision, expected);
    await this.noProposal();
  }

  /** Selects a proposal, and clicks at its start to place the caret. */
  async clickInto(title) {
    await this.turnTo(title);
    await this.ide.click('proposal', { tab: title });
    await this.ide.until(({ focus }) => focus?.editor === 'DIFF', 'the focus in the proposal');
  }
}
