// Tests the list of a CLI's changes with the real Gemini CLI and a real window.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { replace, shell, write } from '../lib/conversation.mjs';
import { startCli } from '../lib/extension.mjs';
import { CONNECTED, Scene } from '../lib/ide-scene.mjs';
import { until } from '../lib/inbox.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';

const OLD = 'one\ntwo\nthree\nfour\nfive\n';
/** Two changes in it are far from each other. */
const LONG = `one\ntwo\n${'.\n'.repeat(20)}five\n`;
const TITLE = 'Revert CLI Changes';

const NAMES = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'gone.txt', 'made.txt', 'new.txt', 'user.txt'];

/** The model's answers to three prompts, which change eight files. */
const steps = (file) => [
  [replace(file('a.txt')), replace(file('b.txt'))],
  write(file('new.txt'), 'new\n'),
  'The first is done.',
  [replace(file('a.txt'), 'five', 'FIVE'), replace(file('c.txt'))],
  [replace(file('c.txt'), 'five', 'FIVE')],
  [replace(file('user.txt'))],
  'The second is done.',
  shell(`rm ${file('gone.txt')} && echo made > ${file('made.txt')}`),
  [replace(file('d.txt'))],
  'The third is done.',
];

/** Opens a window, lets the CLI carry out three prompts, and opens the list. */
async function open(t) {
  const scene = new Scene();
  t.after(() => scene.close());
  await scene.openIde();
  const file = (name) => path.join(scene.sandbox.project, name);
  for (const name of NAMES) {
    if (name !== 'new.txt' && name !== 'made.txt')
      scene.sandbox.file(name, name === 'c.txt' ? LONG : OLD);
  }
  await scene.edit('gone.txt', OLD);
  await scene.edit('a.txt', OLD);
  const cli = await startCli(scene.sandbox, 'gemini', steps(file), { yolo: true });
  await scene.status(CONNECTED);
  for (const [prompt, answer] of [
    ['Rename two', 'The first is done.'],
    ['Rename five', 'The second is done.'],
    ['Make and remove', 'The third is done.'],
  ]) {
    await cli.terminal.enter(prompt);
    await cli.terminal.shows(new RegExp(answer));
  }
  await scene.ide.until(({ statusBar }) => statusBar.includes('8 files changed'), 'the count');
  return { scene, file, read: (name) => fs.readFileSync(file(name), 'utf8'), ...cli };
}

/** Opens the tool window by the status bar. */
async function openList({ ide }) {
  await ide.click('text', { text: '8 files changed' });
  await ide.until(({ texts }) => texts.includes('Restart companion'), 'the popup');
  await ide.click('text', { text: '8 files changed' });
  await row(ide, 'new.txt');
}

/** Waits for a row that begins with `start`, and contains `part`. */
const row = (ide, start, part = '') =>
  ide.until(
    ({ rows }) => rows.find((text) => text.startsWith(start) && text.includes(part)),
    `a row ${start} with ${part}`,
  );

/** Waits for a row that begins with `start`, and has not `part`. */
const rowWithout = (ide, start, part) =>
  ide.until(
    ({ rows }) => rows.some((text) => text.startsWith(start) && !text.includes(part)),
    `a row ${start} without ${part}`,
  );

/** Waits until a file has this text, in the editor and on the disk. */
async function untilText({ ide }, path, wanted) {
  await ide.untilRobot(['text of file', { path }], (text) => text === wanted, wanted);
  await until(`${wanted} on the disk`, () => fs.readFileSync(path, 'utf8') === wanted);
}

/** The texts of the status bar about changed files. */
const changeCounts = ({ statusBar }) => statusBar.filter((text) => /files? changed/.test(text));

test('the changes of three prompts are listed, shown and reverted', { skip }, async (t) => {
  const { scene, file, read } = await open(t);
  const { ide } = scene;
  await ide.untilRobot(
    ['text of file', { path: file('a.txt') }],
    (text) => text.includes('FIVE'),
    'it',
  );
  await openList(scene);
  await scene.picture('changes-list');
  for (const [start, part] of [
    ['Make and remove', '3 files'],
    ['made.txt', 'also changed'],
    ['gone.txt', '−5'],
    ['d.txt', '+1 −1'],
    ['Rename five', '3 files'],
    ['Rename two', '3 files'],
    ['new.txt', '+1 −0'],
  ]) {
    await row(ide, start, part);
  }

  // All changes of a prompt in one tab, where one of them is reverted, and that is undone.
  const [c, changed] = [file('c.txt'), LONG.replace('two', 'TWO').replace('five', 'FIVE')];
  await scene.invokeOnChange('Rename five', 'Companion.ShowPrompt');
  const inTab = (part) => ide.until(({ focus }) => focus?.text?.includes(part), part);
  await inTab('@@ -1,5 +1,5 @@\n one\n-two\n+TWO\n .');
  await scene.picture('changes-prompt');
  await ide.click('icon', { line: '@@ -20,4 +20,4 @@', tooltip: 'Revert' });
  await row(ide, 'c.txt', '+1 −1');
  await untilText(scene, c, LONG.replace('two', 'TWO'));
  await ide.until(
    ({ focus }) => focus?.text?.includes('+TWO') && !focus.text.includes('20,4'),
    'the rest',
  );
  await scene.picture('changes-prompt-reverted');
  await ide.display.press('ctrl+z');
  await row(ide, 'c.txt', '+2 −2');
  await ide.invoke('SaveAll');
  await untilText(scene, c, changed);
  await inTab('@@ -20,4 +20,4 @@');

  // That change is kept by its key: it leaves the list, and stays in the file.
  const { focus } = await ide.robot('look');
  await ide.display.press('ctrl+Home');
  const above = focus.text.split('\n').indexOf('@@ -20,4 +20,4 @@');
  for (let line = 0; line < above; line++) await ide.display.press('Down');
  await ide.display.press('ctrl+Return');
  await row(ide, 'c.txt', '+1 −1');
  await ide.until(
    ({ focus }) => focus?.text?.includes('+TWO') && !focus.text.includes('20,4'),
    'the rest',
  );
  assert.equal(read('c.txt'), changed);
  await scene.picture('changes-prompt-kept');
  await ide.display.press('ctrl+Home');
  for (let line = 0; line < 2; line++) await ide.display.press('Down');
  await ide.display.press('Return');
  await ide.until(({ focus }) => focus?.path === file('a.txt'), 'a.txt');

  // The diff has an arrow for each change, which reverts it.
  await scene.invokeOnChange('d.txt', 'Companion.ShowChange');
  await ide.until(({ texts }) => texts.includes('Before the prompt'), 'the diff');
  await scene.picture('changes-diff');
  await ide.click('arrow');
  await ide.untilRobot(['text of file', { path: file('d.txt') }], (text) => text === OLD, 'OLD');
  await scene.picture('changes-arrow');
  await ide.display.press('Escape');

  // A file that the user has edited meanwhile.
  await scene.edit('user.txt', read('user.txt'));
  await ide.display.type('mine ');
  await scene.invokeOnChange('user.txt', 'Companion.RevertFile');
  await ide.until(({ windows }) => windows.includes(TITLE), 'the question');
  await scene.picture('changes-question');
  await ide.click('text', { text: 'Show changes' });
  await ide.until(({ texts }) => texts.includes('After the CLI’s edits'), 'three sides');
  await scene.picture('changes-three-sides');
  await ide.display.press('Escape');

  // A file.
  await scene.invokeOnChange('c.txt', 'Companion.RevertFile');
  await row(ide, 'c.txt', 'reverted');
  assert.equal(read('c.txt'), LONG.replace('five', 'FIVE'));

  // A prompt with a created file.
  await scene.invokeOnChange('new.txt', 'Companion.RevertPrompt');
  await ide.until(({ windows }) => windows.includes(TITLE), 'the question about a.txt');
  await scene.picture('changes-prompt-question');
  await ide.click('text', { text: 'Revert Other 2 Files' });
  await row(ide, 'new.txt', 'reverted');
  assert.equal(fs.existsSync(file('new.txt')), false);
  assert.equal(read('b.txt'), OLD);
  assert.ok(read('a.txt').includes('TWO'));
  await scene.picture('changes-reverted');

  // The user undoes that.
  await ide.click('row', { text: 'new.txt' });
  await ide.display.press('ctrl+z');
  await ide.untilRobot(
    ['text of file', { path: file('b.txt') }],
    (text) => text.includes('TWO'),
    'it',
  );
  assert.equal(read('new.txt'), 'new\n');
  const isAsBefore = ({ rows }) =>
    rows.some((text) => text.startsWith('new.txt') && !text.includes('reverted'));
  await ide.until(isAsBefore, 'new.txt as before the revert');

  // The list ends with the IDE. The Local History has a label for each prompt.
  await ide.close();
  await scene.openIde({ display: ide.display });
  assert.deepEqual(await scene.ide.robot('look').then(changeCounts), []);
  await scene.edit('c.txt', OLD);
  await scene.ide.invoke('LocalHistory.ShowHistory');
  const isLabel = (row) => row.includes('Before a prompt of the CLI');
  await scene.ide.until(({ tableRows }) => tableRows.some(isLabel), 'a label');
  await scene.picture('changes-label');
  await scene.ide.display.press('Escape');
});
