// Tests the conversation around an edit, with the real Gemini CLI in a terminal: the reason of a
// rejection, the review of every edit, unsaved files, and the reports to the editor about the CLI.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { bridgeEnv, byDiscovery } from '../lib/bridge.mjs';
import { Companion } from '../lib/companion.mjs';
import {
  REASON,
  comment,
  commentOf,
  edit,
  inPlaceOfResult,
  look,
  open,
  read,
  rejectTurn,
  replace,
  time,
  untilChecked,
  withPrompt,
  write,
} from '../lib/conversation.mjs';
import { Editor } from '../lib/editor.mjs';
import { BY, NAMES, startCli } from '../lib/extension.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import { until } from '../lib/inbox.mjs';
import { openWindow } from '../lib/scene.mjs';
import { noTerminal } from '../lib/terminal.mjs';

const LINES = 'some text of a line\n';

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
    const { editor, terminal, results, file } = await open(t, texts, steps);
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
    assert.deepEqual(results().slice(0, -1), paths.map(inPlaceOfResult));
    assert.match(results().at(-1), /Successfully modified/);
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
    // The CLI has taken each rejected prompt out of the model's history, with the reason in it.
    const names = [...Object.keys(file), 'changed-new'];
    const reasons = names.map((name) => withPrompt(name).replace(/<.?hook_context>/g, ''));
    assert.equal(asked().at(-1), `and now<hook_context>${reasons.join('\n\n')}</hook_context>`);
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

  test('is sent to no other CLI that has begun the same edit', async (t) => {
    const steps = ({ a }) => [replace(a), 'That was all.'];
    const window = await open(t, { a: 'one\ntwo\n' }, steps);
    const { sandbox, editor, terminal, results, file } = window;
    const other = new HookCli(sandbox, 'another');
    await other.before(file.a);
    await terminal.enter('rename it');
    await editor.view(file.a);
    assert.equal(editor.reasons.get(file.a), 'now');
    editor.reject(file.a, REASON);
    await terminal.shows(/That was all\./);
    assert.equal((await other.after(file.a)) + (await other.prompt('go')), '');
    assert.ok(results().join('\n').includes(inPlaceOfResult(file.a)), results().join('\n'));
  });
});

test('Qwen Code gets a reason for each kind of file', { skip: noTerminal }, async (t) => {
  const texts = {
    first: 'one\ntwo\n',
    crlf: 'one\r\ntwo\r\n',
    bom: '\uFEFFone\ntwo\n',
    end: 'one\ntwo',
    mixed: 'one\r\ntwo\n',
  };
  const steps = (file) => [
    ...Object.values(file).map(look),
    ...Object.values(file).map((path) => edit(path)),
    write(`${file.first}-new`),
    'That was all.',
  ];
  const window = await open(t, texts, steps, { name: 'qwen' });
  const { editor, terminal, results, asked, file } = window;
  const { first, ...others } = file;
  const { crlf, bom, end, mixed } = others;
  const untouched = Object.values(others).map((path) => [read(path), time(path)]);
  await terminal.enter('rename it');
  await editor.view(first);
  // On Linux its hook with the prompt shows its connection.
  assert.equal(editor.reasons.get(first), 'now');
  editor.accept(first);
  for (const path of [crlf, bom, end]) {
    await editor.view(path);
    assert.equal(editor.reasons.get(path), 'now', path);
    editor.reject(path, REASON);
  }
  const isSent = (context) => asked().join('\n').includes(context);
  for (const [path, name] of [
    [mixed, 'mixed'],
    [`${first}-new`, 'first-new'],
  ]) {
    await editor.view(path);
    assert.equal(editor.reasons.get(path), 'nextPrompt', path);
    editor.reject(path, REASON);
    await terminal.shows(new RegExp(`- (Edit|Write).*${name}`)); // the mark of a cancelled call
    await terminal.enter(`after ${name}`);
    await until('the model gets the reason', () => isSent(`your last edit of ${name}, and`));
  }
  await terminal.shows(/That was all\./);
  for (const path of [crlf, bom, end]) assert.ok(results().join('\n').includes(inPlaceOfResult(path)));
  assert.deepEqual(Object.values(others).map((path) => [read(path), time(path)]), untouched);
  assert.equal(read(first), 'one\nTWO\n');
  assert.ok(!fs.existsSync(`${first}-new`));
});

describe('the review of every edit', { skip: noTerminal, concurrency: 2 }, () => {
  const steps = ({ a, b }) => [[replace(a), replace(b)], 'That was all.'];
  const files = { a: 'one\ntwo\n', b: 'two\n' };

  for (const [mode, yolo] of [
    ['auto-edit', false],
    ['YOLO', true],
  ]) {
    test(`shows an edit that the CLI would make without asking in mode ${mode}`, async (t) => {
      const options = { review: false, yolo, serve: ['--review-all'] };
      const { editor, terminal, results, file } = await open(t, files, steps, options);
      await terminal.enter('rename it');
      await editor.view(file.a);
      editor.reject(file.a, REASON);
      await editor.view(file.b);
      editor.accept(file.b);
      await terminal.shows(/That was all\./);
      assert.equal(results()[0], inPlaceOfResult(file.a));
      assert.deepEqual([read(file.a), read(file.b)], ['one\ntwo\n', 'TWO\n']);
    });
  }
});

for (const name of NAMES) {
  test(`a comment on lines reaches the model of ${name}`, { skip: noTerminal }, async (t) => {
    const steps = ({ a }) => [write(`${a}-new`), 'That was all.', 'That was all again.'];
    const window = await open(t, { a: 'one\ntwo\n' }, steps, { name });
    const { companion, editor, terminal, results, asked, file } = window;
    await terminal.enter('look at it');
    await editor.view(`${file.a}-new`);
    companion.notify('comment/set', comment(file.a));
    await untilChecked(window);
    editor.accept(`${file.a}-new`);
    assert.deepEqual((await companion.next('comment/delivered')).params, { ids: ['1'] });
    await terminal.shows(/That was all\./);
    // Otherwise the hook at the end of the turn may have the next comment.
    await companion.next('agent/finished');
    assert.ok(results()[0].includes(commentOf('1')), results()[0]);
    companion.notify('comment/set', comment(file.a, '2'));
    companion.notify('comment/set', comment(file.a, '3'));
    companion.notify('comment/removed', { id: '2' });
    await untilChecked(window);
    await terminal.enter('and now');
    assert.deepEqual((await companion.next('comment/delivered')).params, { ids: ['3'] });
    await terminal.shows(name === 'gemini' ? /That was all again\./ : /and now[^]*That was all/);
    assert.ok(asked().at(-1).includes(commentOf('3')), asked().at(-1));
    assert.ok(!asked().at(-1).includes(commentOf('2')));
  });

  describe(`the editor of ${name}`, { skip: noTerminal, concurrency: 2 }, () => {
    test('is notified that the CLI asks something, and that it has finished', async (t) => {
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
  });
}

test('a comment lets a turn of Qwen Code go on once', { skip: noTerminal }, async (t) => {
  let window;
  const steps = ({ a }) => [
    async () => {
      window.companion.notify('comment/set', comment(a));
      await untilChecked(window);
      return 'Nothing to do.';
    },
  ];
  const files = { a: 'one\ntwo\n' };
  window = await open(t, files, steps, { name: 'qwen' });
  const { companion, terminal, asked } = window;
  await terminal.enter('look at it');
  assert.deepEqual((await companion.next('comment/delivered')).params, { ids: ['1'] });
  await companion.next('agent/finished');
  await companion.next('agent/finished');
  assert.ok(asked().at(-1).includes(commentOf('1')), asked().at(-1));
});
