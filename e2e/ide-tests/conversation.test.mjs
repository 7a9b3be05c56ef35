// Tests the conversation around an edit with the real Gemini CLI and a real window.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe } from 'node:test';

import { replace, shell, write } from '../lib/conversation.mjs';
import { startCli } from '../lib/extension.mjs';
import { CONNECTED, Scene } from '../lib/ide-scene.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';

const ASK = 'Reject… (Ctrl+Alt+Shift+Enter)';
const NOW = 'The CLI gets the reason without a new prompt, and goes on.';
const NEXT_PROMPT = 'The CLI gets the reason with your next prompt.';
const REASON = 'Use the name seven.';

const OLD = 'one\ntwo\n';
const FILES = ['a.txt', 'b.txt', 'c.txt'];

/** The model's answers to all prompts of the tests. */
const steps = ([a, b, c]) => [
  replace(a),
  write(`${a}-new`),
  'That was the first.',
  replace(b),
  'That was the second.',
  'That was the third.',
  shell('touch made'),
  'That was the fourth.',
  replace(c),
  'That was the fifth.',
];

describe('Gemini CLI with the extension, in the project of a window', { skip }, () => {
  const scene = new Scene();
  after(() => scene.close());
  let [a, b, c] = [];
  let cli;

  before(async () => {
    await scene.openIde();
    [a, b, c] = FILES.map((name) => scene.sandbox.file(name, OLD));
    cli = await startCli(scene.sandbox, 'gemini', steps([a, b, c]), { review: true });
    await scene.status(CONNECTED);
    await scene.leaveEditors();
  });

  /** Waits for a text in the window. */
  const seen = (text) => scene.ide.until(({ texts }) => texts.includes(text), text);

  scene.test('a reason reaches the model at once, or with the next prompt', async () => {
    const { terminal, results, asked } = cli;
    await terminal.enter('rename it');
    const changed = await scene.proposal(a);
    await scene.turnTo(changed.title);
    await scene.ide.click('text', { text: ASK });
    await seen(NOW);
    await scene.ide.display.type(REASON);
    await seen(REASON);
    await scene.picture('reject-with-reason');
    await scene.ide.display.press('Return');

    const created = await scene.proposal(`${a}-new`);
    assert.ok(results()[0].includes(`The user's reason: ${REASON}`), results()[0]);
    assert.equal(fs.readFileSync(a, 'utf8'), OLD);
    await scene.clickInto(created.title);
    await scene.ide.display.press('ctrl+alt+shift+Return');
    await seen(NEXT_PROMPT);
    await scene.ide.display.type(REASON);
    await scene.ide.display.press('Return');
    await terminal.shows(/Request cancelled/);
    await scene.noProposal();
    await terminal.enter('and now');
    await terminal.shows(/That was the first\./);
    assert.ok(asked().at(-1).includes(`The user's reason: ${REASON}`), asked().at(-1));
    assert.ok(!fs.existsSync(`${a}-new`));
  });

  scene.test('a switch shows edits that the CLI would make without asking', async () => {
    const { terminal } = cli;
    await scene.leaveEditors();
    await scene.ide.click('text', { text: '1' });
    await seen('Review every edit');
    await scene.picture('review-every-edit');
    await scene.ide.click('text', { text: 'Review every edit' });
    terminal.press('C-y');
    await terminal.shows(/YOLO/);
    await terminal.enter('rename another');
    const { title } = await scene.proposal(b);
    assert.equal(fs.readFileSync(b, 'utf8'), OLD);
    await scene.accept(title);
    await terminal.shows(/That was the second\./);
    assert.equal(fs.readFileSync(b, 'utf8'), 'one\nTWO\n');
    terminal.press('C-y');
    await terminal.shows(/^(?![^]*YOLO)/);
  });

  scene.test('a comment on lines reaches the model', async () => {
    const { terminal, asked } = cli;
    const file = await scene.edit('commented.txt', 'one\ntwo\nthree\n', { line: 2 });
    await scene.ide.display.press('ctrl+alt+shift+m');
    await seen('Comment for the CLI on Line 2');
    await scene.ide.display.type('Why two?');
    await scene.picture('comment-field');
    await scene.ide.display.press('Return');
    await scene.ide.until(({ focus }) => focus?.path === file, 'the focus in the file');
    await scene.ide.display.press('Up', 'Home');
    await scene.ide.display.type('zero');
    await scene.ide.display.press('Return');
    await scene.picture('comment-in-gutter');
    await terminal.enter('go on');
    await terminal.shows(/That was the third\./);
    const comment = '- commented.txt, line 3 (`two`): Why two?';
    assert.ok(asked().at(-1).includes(comment), asked().at(-1));
    const got = (text) => text.includes('The CLI has your comment on commented.txt:3.');
    await scene.ide.until(({ texts }) => texts.some(got), 'the notification');
  });

  scene.test('files are saved before a prompt, and a question of the CLI shows', async () => {
    const { terminal, asked } = cli;
    const file = await scene.edit('typed.txt', 'old\n');
    await scene.ide.display.type('really ');
    await scene.ide.untilRobot(['text of file', { path: file }], (text) => text === 'really old\n', 'it');
    assert.equal(fs.readFileSync(file, 'utf8'), 'old\n');
    await terminal.enter('make it');
    const waits = (text) => text.includes('The CLI waits for your answer: ');
    await scene.ide.until(({ texts }) => texts.some(waits), 'the notification');
    await scene.picture('cli-waits');
    assert.equal(fs.readFileSync(file, 'utf8'), 'really old\n');
    assert.doesNotMatch(asked().at(-1), /not saved/);
    await terminal.shows(/Allow once/);
    terminal.press('Enter');
    await terminal.shows(/That was the fourth\./);
    await scene.ide.until(({ texts }) => !texts.some(waits), 'the end of the notification');
  });

  scene.test('a comment in a proposal reaches the model with the result', async () => {
    const { terminal, results } = cli;
    await scene.leaveEditors();
    await terminal.enter('rename the last');
    const { title } = await scene.proposal(c);
    await scene.clickInto(title);
    await scene.ide.display.press('ctrl+Home', 'Down', 'ctrl+alt+shift+m');
    await seen('Comment for the CLI on Line 2');
    await scene.ide.display.type('Why TWO?');
    await scene.ide.display.press('Return');
    await scene.picture('comment-in-proposal');
    await scene.accept(title);
    await terminal.shows(/That was the fifth\./);
    const result = results().at(-1);
    assert.ok(result.includes('- c.txt, line 2 (`TWO`): Why TWO?'), result);
  });
});
