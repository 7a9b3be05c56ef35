// Tests the review of edits in a real window: a user changes, accepts and rejects them.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe } from 'node:test';

import { REJECTED, UNCHANGED, accepted } from '../lib/decision.mjs';
import { CONNECTED, Scene } from '../lib/ide-scene.mjs';

describe('in a window', () => {
  const scene = new Scene();
  before(() => scene.open());
  after(() => scene.close());

  /** Types an x when a window has the focus again, and expects it in the file. */
  async function typesOnIn(file, text) {
    await scene.ide.until(({ focus }) => focus?.editor, 'the focus in an editor');
    await scene.ide.display.type('x');
    const isTyped = (now) => now === text;
    await scene.ide.untilRobot(['text of file', { path: file }], isTyped, 'what was typed');
  }

  /** Opens the proposal from the notification, and rejects it. */
  async function endsByReview(file, decision) {
    await scene.ide.click('text', { text: 'Review' });
    const { title } = await scene.proposal(file, ({ isSelected }) => isSelected);
    await scene.ide.invoke('Companion.RejectProposal', title);
    await scene.ends(decision, REJECTED);
  }

  scene.test('an edit is changed and accepted, and the next rejected', async (scene) => {
    const { ide, client } = scene;
    const old = 'one\ntwo\nthree\n';
    const file = await scene.edit('main-job.txt', old, {
      line: 2,
      character: 4,
      from: { line: 2, character: 1 },
    });
    const [active] = await client.openFiles(([file]) => file?.selectedText === 'two');
    assert.equal(active.path, file);
    assert.deepEqual(active.cursor, { line: 2, character: 4 });

    const first = await scene.propose(file, 'one\ntwo!\nthree\n');
    assert.equal(first.tab.left, old);
    const edited = 'one\ntwo, by the user\nthree\n';
    await ide.robot('write proposal', { tab: first.title, text: edited });
    await ide.invoke('Companion.AcceptProposal', first.title);
    await scene.ends(first.decision, accepted(edited));
    assert.equal(fs.readFileSync(file, 'utf8'), old, 'it is the CLI that writes the file');
    fs.writeFileSync(file, edited);
    await ide.untilRobot(
      ['text of file', { path: file }],
      (text) => text === edited,
      'what the CLI has written',
    );

    const second = await scene.propose(file, 'four\n');
    await scene.clickX(second.title);
    await scene.ends(second.decision, REJECTED);
  });

  for (const [button, answer] of [
    ['Accept (Ctrl+Enter)', UNCHANGED],
    ['Reject', REJECTED],
  ]) {
    scene.test(`a click on ${button} in the banner counts`, async (scene) => {
      const file = await scene.edit('banner.txt', 'old\n');
      const { title, decision } = await scene.propose(file, 'new\n');
      await scene.turnTo(title);
      await scene.ide.click('text', { text: button });
      await scene.ends(decision, answer);
    });
  }

  scene.test('Ctrl+Enter accepts the text that was typed in the proposal', async (scene) => {
    const file = await scene.edit('typed.txt', 'old\n');
    const { title, decision } = await scene.propose(file, 'new\n');
    await scene.clickInto(title);
    await scene.ide.display.type('really ');
    await scene.proposal(file, ({ right }) => right === 'really new\n');
    await scene.ide.display.press('ctrl+Return');
    await scene.ends(decision, accepted('really new\n'));
  });

  scene.test('the IDE asks nothing because a file that is not saved is proposed to', async (scene) => {
    const { ide } = scene;
    const file = await scene.edit('unsaved.txt', 'old\n');
    await ide.display.type('x');
    const unsaved = ['text of file', { path: file }];
    await ide.untilRobot(unsaved, (text) => text === 'xold\n', 'what was typed');
    fs.writeFileSync(file, 'by another program\n');
    const { title, tab, decision } = await scene.propose(file, 'new\n');
    assert.equal(tab.left, 'xold\n');
    fs.writeFileSync(file, 'by another program, again\n');
    const isWarning = (text) => text.includes('It has changed meanwhile.');
    const { windows } = await ide.until(({ texts }) => texts.some(isWarning), 'the word about it');
    assert.equal(windows.length, 1, 'no dialog is open');
    assert.equal(await ide.robot(...unsaved), 'xold\n');
    // Who turns to the file is asked.
    await ide.click('tab', { tab: 'unsaved.txt' });
    await ide.click('text', { text: 'Load File System Changes' });
    await ide.untilRobot(unsaved, (text) => text.includes('again'), 'the text of the disk');
    await ide.invoke('Companion.RejectProposal', title);
    await scene.ends(decision, REJECTED);
  });

  scene.test('an edit waits without a tab while the user types in an editor', async (scene) => {
    const { ide } = scene;
    const file = await scene.edit('here.txt', 'one\ntwo\n', { line: 2, character: 2 });
    const { focus } = await ide.robot('look');
    const decision = scene.client.openDiff(file, 'new\n');
    await scene.status(`${CONNECTED}, 1 proposal waits for your review`);
    await ide.display.type('x');
    await ide.untilRobot(
      ['text of file', { path: file }],
      (text) => text === 'one\ntxwo\n',
      'what was typed',
    );
    const typed = { ...focus, character: 3, text: 'one\ntxwo\n' };
    assert.deepEqual((await ide.robot('look')).focus, typed);
    await endsByReview(file, decision);
    await scene.status(CONNECTED);
  });

  scene.test('an edit waits without a tab while the user writes a comment', async (scene) => {
    const { ide } = scene;
    const file = await scene.edit('commented.txt', 'one\ntwo\n', { line: 2 });
    await ide.display.press('ctrl+alt+shift+m');
    await ide.until(({ focus }) => focus?.name?.startsWith('Comment for the CLI'), 'the field');
    await ide.display.type('Why');
    const decision = scene.client.openDiff(file, 'new\n');
    await scene.status(`${CONNECTED}, 1 proposal waits for your review`);
    await scene.picture('proposal-below-comment');
    await ide.display.press('Escape');
    await typesOnIn(file, 'one\nxtwo\n');
    await endsByReview(file, decision);
  });

  scene.test('an edit that a dialog has held back waits without a tab', async (scene) => {
    const { ide } = scene;
    const file = await scene.edit('dialog.txt', 'one\ntwo\n', { line: 2 });
    await ide.display.press('ctrl+g');
    await ide.until(({ windows }) => windows.length > 1, 'the dialog');
    const decision = scene.client.openDiff(file, 'new\n');
    // The plugin looks at the files in the order of the requests: it has now looked at that file, too.
    const { isError } = await scene.client.callTool('openDiff', {
      filePath: scene.sandbox.project,
      newContent: '',
    });
    assert.equal(isError, true);
    await ide.display.press('Escape', 'Escape');
    await scene.status(`${CONNECTED}, 1 proposal waits for your review`);
    await typesOnIn(file, 'one\nxtwo\n');
    await endsByReview(file, decision);
  });

  scene.test(
    'an edit shows at once while the user is elsewhere, and stays there',
    async (scene) => {
      const { ide } = scene;
      const file = scene.sandbox.file('there.txt', 'old\n');
      await scene.leaveEditors();
      const inToolWindow = ({ focus }) => focus?.component;
      const component = await ide.until(inToolWindow, 'the focus in a tool window');
      const { title, decision } = await scene.propose(file, 'new\n');
      await ide.tab(title, ({ isSelected }) => isSelected);
      assert.equal(inToolWindow(await ide.robot('look')), component);
      await ide.invoke('Companion.RejectProposal', title);
      await scene.ends(decision, REJECTED);
      await ide.display.press('Escape'); // back into the editor, for the next test
      await ide.until(({ focus }) => focus?.path, 'the focus in an editor');
    },
  );

  scene.test('the context follows the user’s actions in editors', async (scene) => {
    const { ide, client } = scene;
    const file = await scene.edit('follow.txt', 'tab\there\n');
    await ide.display.press('End', 'shift+ctrl+Left');
    const [active] = await client.openFiles(([file]) => file?.selectedText === 'here');
    assert.equal(active.path, file);
    assert.deepEqual(active.cursor, { line: 1, character: 5 });

    await ide.robot('rename', { path: file, name: 'renamed.txt' });
    const renamed = path.join(scene.sandbox.project, 'renamed.txt');
    await client.openFiles(([file]) => file?.path === renamed);
    const folder = scene.sandbox.folder('project', 'moved');
    await ide.robot('move', { path: renamed, folder });
    await client.openFiles(([file]) => file?.path === path.join(folder, 'renamed.txt'));
    await ide.robot('delete', { path: folder });
    await client.openFiles((files) => files.every(({ path }) => !path.startsWith(folder)));
  });

  scene.test('closing the project rejects the open proposal', async (scene) => {
    const file = await scene.edit('last.txt', 'old\n');
    const { decision } = await scene.propose(file, 'new\n');
    await scene.ide.invoke('CloseProject');
    assert.deepEqual(await decision, REJECTED);
    await scene.ide.until(({ projects }) => projects.length === 0, 'the end of the project');
  });
});
