// Tests the conversation around an edit, with the real Gemini CLI in a terminal: the reason of a
// rejection, the review of every edit, unsaved files, and what the editor hears of the CLI.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { Editor } from '../lib/editor.mjs';
import { BY, NAMES, startCli } from '../lib/extension.mjs';
import { beforeEdit, hook } from '../lib/hook.mjs';
import { openWindow } from '../lib/scene.mjs';
import { noTerminal } from '../lib/terminal.mjs';

const REASON = 'Use the name <seven>, please.';
const LINES = 'some text of a line\n';

const replace = (file_path, old_string = 'two', new_string = 'TWO') => ({
  name: 'replace',
  args: { file_path, old_string, new_string, instruction: 'rename it' },
});
const write = (file_path, content = 'other\n') => ({
  name: 'write_file',
  args: { file_path, content },
});

const read = (file) => fs.readFileSync(file, 'latin1');
const time = (file) => fs.statSync(file).mtimeMs;

/**
 * Gemini CLI with the extension, at its prompt. `files` are the texts of the project's files by their
 * names; `steps` returns the model's answers for the paths.
 */
async function open(t, files, steps, { serve, name = 'gemini', ...options } = {}) {
  const window = await openWindow(t, { args: serve });
  const { sandbox, companion } = window;
  const paths = Object.entries(files).map(([name, text]) => [name, sandbox.file(name, text)]);
  const file = Object.fromEntries(paths);
  const all = { env: companion.ready.env, review: true, ...options };
  const cli = await startCli(sandbox, name, steps(file), all);
  await companion.next('companion/sessions');
  return { ...window, ...cli, file };
}

/** The reason as the model gets it in place of the result. */
const inPlaceOfResult = (file) =>
  `The user rejected this edit of ${file}, and the file was not changed. ` +
  `The user's reason: ${REASON}`;

/** The reason as the model gets it with a prompt. */
const withPrompt = (name) =>
  `<hook_context>The user rejected your last edit of ${name}, and the file was not changed. ` +
  `The user's reason: ${REASON.replace('<', '&lt;').replace('>', '&gt;')}</hook_context>`;

/** Rejects the edit of a prompt that ends the CLI's turn. */
async function rejectTurn({ terminal, editor }, prompt, path) {
  await terminal.enter(prompt);
  await editor.view(path);
  editor.reject(path, REASON);
  await terminal.shows(new RegExp(`${prompt}[^]*Request cancelled`));
}

describe('a rejection with a reason', { skip: noTerminal, concurrency: 2 }, () => {
  test('reaches the model at once, leaves the files, and the turn goes on', async (t) => {
    const texts = {
      lf: 'one\ntwo\n',
      crlf: 'one\r\ntwo\r\n',
      bom: '\uFEFFone\ntwo\n',
      end: 'one\ntwo',
      large: `two\n${LINES.repeat(1600)}`,
      written: '\uFEFFone\r\ntwo',
      last: 'one\ntwo\n',
    };
    const steps = ({ written, last, ...others }) => [
      [...Object.values(others).map((file) => replace(file)), write(written), replace(last)],
      'That was all.',
    ];
    const { editor, terminal, heard, file } = await open(t, texts, steps);
    const { last, ...rejected } = file;
    const paths = Object.values(rejected);
    const before = paths.map((path) => [read(path), time(path)]);
    await terminal.enter('rename it');
    for (const path of paths) {
      await editor.view(path);
      assert.equal(editor.reasons.get(path), 'now', path);
      editor.reject(path, REASON);
    }
    await editor.view(last);
    editor.accept(last);
    await terminal.shows(/That was all\./);
    assert.deepEqual(heard().slice(0, -1), paths.map(inPlaceOfResult));
    assert.match(heard().at(-1), /Successfully modified/);
    assert.equal(read(last), 'one\nTWO\n');
    const after = paths.map((path) => [read(path), time(path)]);
    // `write_file` writes the same bytes again.
    after.at(-1)[1] = before.at(-1)[1];
    assert.deepEqual(after, before);
  });

  test('reaches the model with the next prompt where it can not at once', async (t) => {
    const texts = {
      mixed: 'one\r\ntwo\n',
      latin: Buffer.from('\xe9 two\n', 'latin1'),
      large: `two\n${LINES.repeat(1700)}`,
      long: `two\n${'x'.repeat(2001)}\n`,
      changed: 'one\ntwo\n',
    };
    const steps = (file) => [
      ...Object.values(file).map((path) => replace(path)),
      write(`${file.changed}-new`),
      'That was all.',
    ];
    const window = await open(t, texts, steps);
    const { editor, terminal, asked, file } = window;
    for (const [name, path] of Object.entries(file)) {
      await terminal.enter(`rename ${name}`);
      await editor.view(path);
      assert.equal(editor.reasons.get(path), name === 'changed' ? 'now' : 'nextPrompt', name);
      if (name === 'changed') fs.writeFileSync(path, 'zero\none\ntwo\n');
      const before = [read(path), time(path)];
      editor.reject(path, REASON);
      await terminal.shows(new RegExp(`rename ${name}[^]*Request cancelled`));
      assert.deepEqual([read(path), time(path)], before);
    }
    const created = `${file.changed}-new`;
    await rejectTurn(window, 'create it', created);
    assert.equal(editor.reasons.get(created), 'nextPrompt');
    assert.ok(!fs.existsSync(created));
    await terminal.enter('and now');
    await terminal.shows(/That was all\./);
    assert.equal(asked().at(-1), `and now${withPrompt('changed-new')}`);
    for (const name of Object.keys(file)) assert.ok(asked().join().includes(withPrompt(name)));
  });

  test('survives the end of the companion, and is told once', async (t) => {
    const serve = ['--resume'];
    const steps = ({ a }) => [write(`${a}-new`), 'That was all.', 'That was all again.'];
    const window = await open(t, { a: 'one\ntwo\n' }, steps, { serve });
    const { sandbox, companion, terminal, asked, file } = window;
    await rejectTurn(window, 'create it', `${file.a}-new`);
    await companion.kill();
    new Editor(await Companion.start(sandbox, { args: serve }));
    await terminal.enter('and now');
    await terminal.shows(/That was all\./);
    await terminal.enter('and then');
    await terminal.shows(/That was all again\./);
    assert.deepEqual(asked().slice(-2), [`and now${withPrompt('a-new')}`, 'and then']);
  });

  test('is impossible without the extension, or for a private file', async (t) => {
    const steps = ({ a }) => [replace(a), 'That was all.'];
    const bare = await open(t, { a: 'two\n' }, steps, { by: BY.nothing });
    await rejectTurn(bare, 'rename it', bare.file.a);
    assert.equal(bare.editor.reasons.get(bare.file.a), 'never');
    const all = { '.aiexclude': '*.key\n', 'a.key': 'two\n' };
    const secret = await open(t, all, ({ 'a.key': a }) => [replace(a), 'That was all.']);
    await rejectTurn(secret, 'rename it', secret.file['a.key']);
    assert.equal(secret.editor.reasons.get(secret.file['a.key']), 'never');
    await secret.terminal.enter('and now');
    await secret.terminal.shows(/That was all\./);
    assert.doesNotMatch(secret.asked().join(), /seven/);
  });

  test('is told to no other CLI that has begun the same edit', async (t) => {
    const steps = ({ a }) => [replace(a), 'That was all.'];
    const { sandbox, editor, terminal, file } = await open(t, { a: 'one\ntwo\n' }, steps);
    const other = beforeEdit(file.a, { session_id: 'another' });
    await hook(sandbox, 'before-tool', other);
    await terminal.enter('rename it');
    await editor.view(file.a);
    assert.equal(editor.reasons.get(file.a), 'never');
  });
});

test('Qwen Code hears a reason once an edit was accepted', { skip: noTerminal }, async (t) => {
  const edit = (file_path) => ({
    name: 'edit',
    args: { file_path, old_string: 'two', new_string: 'TWO' },
  });
  const steps = ({ a, b, c }) => [
    { name: 'read_file', args: { file_path: a } },
    { name: 'read_file', args: { file_path: b } },
    { name: 'read_file', args: { file_path: c } },
    edit(a),
    edit(b),
    edit(c),
    'That was all.',
  ];
  const texts = { a: 'one\ntwo\n', b: 'one\r\ntwo\r\n', c: 'one\ntwo\n' };
  const { editor, terminal, heard, file } = await open(t, texts, steps, { name: 'qwen' });
  await terminal.enter('rename it');
  await editor.view(file.a);
  assert.equal(editor.reasons.get(file.a), 'never');
  editor.accept(file.a);
  await editor.view(file.b);
  assert.equal(editor.reasons.get(file.b), 'now');
  const before = [read(file.b), time(file.b)];
  editor.reject(file.b, REASON);
  await editor.view(file.c);
  editor.accept(file.c);
  await terminal.shows(/That was all\./);
  assert.deepEqual([read(file.b), time(file.b)], before);
  assert.ok(heard().join('\n').includes(inPlaceOfResult(file.b)), heard().join('\n'));
  assert.deepEqual([read(file.a), read(file.c)], ['one\nTWO\n', 'one\nTWO\n']);
});

describe('the review of every edit', { skip: noTerminal, concurrency: 2 }, () => {
  const steps = ({ a, b }) => [[replace(a), replace(b)], 'That was all.'];
  const files = { a: 'one\ntwo\n', b: 'two\n' };

  test('shows an edit that the CLI would make without asking', async (t) => {
    const options = { review: false, serve: ['--review-all'] };
    const { editor, terminal, heard, file } = await open(t, files, steps, options);
    await terminal.enter('rename it');
    await editor.view(file.a);
    editor.reject(file.a, REASON);
    await editor.view(file.b);
    editor.accept(file.b);
    await terminal.shows(/That was all\./);
    assert.equal(heard()[0], inPlaceOfResult(file.a));
    assert.deepEqual([read(file.a), read(file.b)], ['one\ntwo\n', 'TWO\n']);
  });

  test('is switched on and off by the editor', async (t) => {
    const options = { review: false };
    const all = ({ a, b }) => [replace(a), 'That was all.', replace(b), 'That was all again.'];
    const { companion, editor, terminal, file } = await open(t, files, all, options);
    companion.notify('workspace/review', { all: true });
    await terminal.enter('rename it');
    await editor.view(file.a);
    editor.accept(file.a);
    await terminal.shows(/That was all\./);
    companion.notify('workspace/review', { all: false });
    await terminal.enter('and the other');
    await terminal.shows(/That was all again\./);
    assert.deepEqual([read(file.a), read(file.b)], ['one\nTWO\n', 'TWO\n']);
  });
});

for (const name of NAMES) {
  describe(`the editor of ${name}`, { skip: noTerminal, concurrency: 2 }, () => {
    test('hears that the CLI asks something, and that it has finished', async (t) => {
      const args = { command: 'touch made', description: 'x', is_background: false };
      const steps = () => [{ name: 'run_shell_command', args }, 'That was all.'];
      const { companion, terminal } = await open(t, {}, steps, { name });
      await terminal.enter('make it');
      const { params } = await companion.next('agent/waiting');
      assert.match(params.message, /touch|shell|permission/i);
      await terminal.shows(/once/);
      terminal.press('Enter');
      await terminal.shows(/That was all\./);
      const { seconds } = (await companion.next('agent/finished')).params;
      assert.ok(seconds >= 0 && seconds < 60, String(seconds));
    });

    test('tells the model which files are not saved', async (t) => {
      const files = { a: 'one\n', '.aiexclude': '*.key\n', 'b.key': 'x\n' };
      const window = await open(t, files, () => ['That was all.'], { name });
      const { editor, terminal, asked, file, sandbox } = window;
      editor.unsaved = [file.a, file['b.key'], `${sandbox.home}/outside`];
      await terminal.enter('look at it');
      await terminal.shows(/That was all\./);
      assert.match(asked().join('\n'), /not saved, so the disk has an older text: a(<|$)/m);
    });
  });
}
