// Tests the conversation around an edit with the real Gemini CLI and a real window.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { replace, shell, write } from '../lib/conversation.mjs';
import { startCli } from '../lib/extension.mjs';
import { CONNECTED, Scene } from '../lib/ide-scene.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';

const ASK = 'Reject… (Ctrl+Alt+Shift+Enter)';
const NOW = 'The CLI gets the reason without a new prompt, and goes on.';
const NEXT_PROMPT = 'The CLI gets the reason with your next prompt.';
const REASON = 'Use the name seven.';

/** Opens a window, and Gemini CLI with the extension in its project. */
async function open(t, steps, options) {
  const scene = new Scene();
  t.after(() => scene.close());
  await scene.openIde();
  const file = scene.sandbox.file('a.txt', 'one\ntwo\n');
  const cli = await startCli(scene.sandbox, 'gemini', steps(file), { review: true, ...options });
  await scene.status(CONNECTED);
  await scene.leaveEditors();
  return { scene, file, ...cli };
}

/** Waits for a text in the window. */
const seen = ({ ide }, text) => ide.until(({ texts }) => texts.includes(text), text);

test('a reason reaches the model at once, or with the next prompt', { skip }, async (t) => {
  const steps = (file) => [replace(file), write(`${file}-new`), 'That was all.'];
  const { scene, file, terminal, results, asked } = await open(t, steps);
  await terminal.enter('rename it');
  const changed = await scene.proposal(file);
  await scene.turnTo(changed.title);
  await scene.ide.click('text', { text: ASK });
  await seen(scene, NOW);
  await scene.ide.display.type(REASON);
  await seen(scene, REASON);
  await scene.picture('reject-with-reason');
  await scene.ide.display.press('Return');

  const created = await scene.proposal(`${file}-new`);
  assert.ok(results()[0].includes(`The user's reason: ${REASON}`), results()[0]);
  assert.equal(fs.readFileSync(file, 'utf8'), 'one\ntwo\n');
  await scene.clickInto(created.title);
  await scene.ide.display.press('ctrl+alt+shift+Return');
  await seen(scene, NEXT_PROMPT);
  await scene.ide.display.type(REASON);
  await scene.ide.display.press('Return');
  await terminal.shows(/Request cancelled/);
  await scene.noProposal();
  await terminal.enter('and now');
  await terminal.shows(/That was all\./);
  assert.ok(asked().at(-1).includes(`The user's reason: ${REASON}`), asked().at(-1));
  assert.ok(!fs.existsSync(`${file}-new`));
});

test('files are saved before a prompt, and a question of the CLI shows', { skip }, async (t) => {
  const { scene, terminal, asked } = await open(t, () => ['Ready.', shell('touch made'), 'That was all.']);
  // The first prompt loads the IDE's classes; a busy machine needs more than the 0.5 s for it.
  await terminal.enter('hello');
  await terminal.shows(/Ready\./);
  const file = await scene.edit('typed.txt', 'old\n');
  await scene.ide.display.type('really ');
  await scene.ide.untilRobot(['text of file', { path: file }], (text) => text === 'really old\n', 'it');
  assert.equal(fs.readFileSync(file, 'utf8'), 'old\n');
  await terminal.enter('make it');
  const waits = (text) => text.includes('The CLI waits for your answer: ');
  await scene.ide.until(({ texts }) => texts.some(waits), 'the notification');
  await scene.picture('cli-waits');
  assert.equal(fs.readFileSync(file, 'utf8'), 'really old\n');
  assert.doesNotMatch(asked().join(), /not saved/);
  await terminal.shows(/Allow once/);
  terminal.press('Enter');
  await terminal.shows(/That was all\./);
  await scene.ide.until(({ texts }) => !texts.some(waits), 'the end of the notification');
});

test('a switch shows edits that the CLI would make without asking', { skip }, async (t) => {
  const steps = (file) => [replace(file), 'That was all.'];
  const { scene, file, terminal } = await open(t, steps, { review: false });
  await scene.ide.click('text', { text: '1' });
  await seen(scene, 'Review every edit');
  await scene.picture('review-every-edit');
  await scene.ide.click('text', { text: 'Review every edit' });
  await terminal.enter('rename it');
  const { title } = await scene.proposal(file);
  assert.equal(fs.readFileSync(file, 'utf8'), 'one\ntwo\n');
  await scene.accept(title);
  await terminal.shows(/That was all\./);
  assert.equal(fs.readFileSync(file, 'utf8'), 'one\nTWO\n');
});

test('a comment on lines reaches the model', { skip }, async (t) => {
  const { scene, terminal, asked } = await open(t, () => ['That was all.']);
  const file = await scene.edit('commented.txt', 'one\ntwo\nthree\n', { line: 2 });
  await scene.ide.display.press('ctrl+alt+shift+m');
  await seen(scene, 'Comment for the CLI on Line 2');
  await scene.ide.display.type('Why two?');
  await scene.picture('comment-field');
  await scene.ide.display.press('Return');
  await scene.ide.until(({ focus }) => focus?.path === file, 'the focus in the file');
  await scene.ide.display.press('Up', 'Home');
  await scene.ide.display.type('zero');
  await scene.ide.display.press('Return');
  await scene.picture('comment-in-gutter');
  await terminal.enter('go on');
  await terminal.shows(/That was all\./);
  const comment = '- commented.txt, line 3 (`two`): Why two?';
  assert.ok(asked().at(-1).includes(comment), asked().at(-1));
  const got = (text) => text.includes('The CLI has your comment on commented.txt:3.');
  await scene.ide.until(({ texts }) => texts.some(got), 'the notification');
});

test('a comment in a proposal reaches the model with the result', { skip }, async (t) => {
  const { scene, file, terminal, results } = await open(t, (path) => [replace(path), 'That was all.']);
  await terminal.enter('rename it');
  const { title } = await scene.proposal(file);
  await scene.clickInto(title);
  await scene.ide.display.press('ctrl+Home', 'Down', 'ctrl+alt+shift+m');
  await seen(scene, 'Comment for the CLI on Line 2');
  await scene.ide.display.type('Why TWO?');
  await scene.ide.display.press('Return');
  await scene.picture('comment-in-proposal');
  await scene.accept(title);
  await terminal.shows(/That was all\./);
  assert.ok(results()[0].includes('- a.txt, line 2 (`TWO`): Why TWO?'), results()[0]);
});
