// Tests the conversation around an edit, with the real Gemini CLI in a terminal: the reason of a
// rejection, the review of every edit, unsaved files, and the reports to the editor about the CLI.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

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
  shell,
  time,
  untilChecked,
  withPrompt,
  write,
} from '../lib/conversation.mjs';
import { NAMES } from '../lib/extension.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import { until } from '../lib/inbox.mjs';
import { noTerminal } from '../lib/terminal.mjs';

const LINES = 'some text of a line\n';

describe('a rejection with a reason', { skip: noTerminal, concurrency: 2 }, () => {
  test('reaches its own model at once, leaves the files, and the turn goes on', async (t) => {
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
    const { sandbox, companion, editor, terminal, results, file } = await open(t, texts, steps);
    const { last, ...rejected } = file;
    const other = new HookCli(sandbox, 'another');
    await other.before(file.lf); // the same edit
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
    assert.deepEqual(results().slice(0, -1), paths.map((path) => inPlaceOfResult(path)));
    assert.match(results().at(-1), /Successfully modified/);
    assert.equal(read(last), 'one\nTWO\n');
    const after = paths.map((path) => [read(path), time(path)]);
    // `write_file` writes the same bytes again.
    after.at(-1)[1] = before.at(-1)[1];
    assert.deepEqual(after, before);
    assert.equal((await other.after(file.lf)) + (await other.prompt('go')), '');
    const methods = companion.inbox.takeAll().map(({ method }) => method);
    assert.ok(!methods.includes('cli/waiting'), 'the editor shows what the CLI asks');
  });

  test('reaches the model with the next prompt where it can not at once, but not for a private file', async (t) => {
    const texts = {
      mixed: 'one\r\ntwo\n',
      latin: Buffer.from('\xe9 two\n', 'latin1'),
      large: `two\n${LINES.repeat(1700)}`,
      long: `two\n${'x'.repeat(2001)}\n`,
      'a.key': 'two\n',
      changed: 'one\ntwo\n',
    };
    const steps = ({ '.aiexclude': _, ...file }) => [
      ...Object.values(file).map((path) => replace(path)),
      write(`${file.changed}-new`),
      'That was all.',
    ];
    const arrivals = { 'a.key': 'never', changed: 'now' };
    const window = await open(t, { '.aiexclude': '*.key\n', ...texts }, steps);
    const { editor, terminal, asked, file } = window;
    for (const name of Object.keys(texts)) {
      const path = file[name];
      await terminal.enter(`rename ${name}`);
      await editor.view(path);
      assert.equal(editor.reasons.get(path), arrivals[name] ?? 'nextPrompt', name);
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
    const names = [...Object.keys(texts), 'changed-new'].filter((name) => name !== 'a.key');
    const reasons = names.map((name) => withPrompt(name).replace(/<.?hook_context>/g, ''));
    assert.equal(asked().at(-1), `and now<hook_context>${reasons.join('\n\n')}</hook_context>`);
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

test('the review of every edit shows those that the CLI would make without asking', { skip: noTerminal }, async (t) => {
  const steps = ({ a, b, c, d }) => [
    [replace(a), replace(b)],
    'That was the first.',
    [replace(c), replace(d)],
    'That was the second.',
  ];
  const names = ['a', 'b', 'c', 'd'];
  const files = Object.fromEntries(names.map((name) => [name, 'one\ntwo\n']));
  const options = { review: false, serve: ['--review-all'] };
  const { editor, terminal, results, file } = await open(t, files, steps, options);
  const review = async (rejected, accepted) => {
    await editor.view(rejected);
    editor.reject(rejected, REASON);
    await editor.view(accepted);
    editor.accept(accepted);
  };
  await terminal.shows(/auto-accept edits/);
  await terminal.enter('rename them');
  await review(file.a, file.b);
  await terminal.shows(/That was the first\./);

  terminal.press('C-y');
  await terminal.shows(/YOLO/);
  await terminal.enter('rename others');
  await review(file.c, file.d);
  await terminal.shows(/That was the second\./);
  const [first, , second] = results();
  assert.deepEqual([first, second], [inPlaceOfResult(file.a), inPlaceOfResult(file.c)]);
  const texts = names.map((name) => read(file[name]));
  assert.deepEqual(texts, ['one\ntwo\n', 'one\nTWO\n', 'one\ntwo\n', 'one\nTWO\n']);
});

for (const name of NAMES) {
  test(`comments reach the model of ${name}, and its questions and ends the editor`, { skip: noTerminal }, async (t) => {
    const steps = ({ a }) => [
      write(`${a}-new`),
      'That was all.',
      'That was all again.',
      shell('touch made'),
      'That was the last.',
    ];
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
    await companion.next('cli/finished');
    // Qwen Code's main model gets it beside the result.
    const withResult = name === 'gemini' ? results()[0] : asked().at(-1);
    assert.ok(withResult.includes(commentOf('1')), withResult);
    companion.notify('comment/set', comment(file.a, '2'));
    companion.notify('comment/set', comment(file.a, '3'));
    companion.notify('comment/removed', { id: '2' });
    await untilChecked(window);
    await terminal.enter('and now');
    assert.deepEqual((await companion.next('comment/delivered')).params, { ids: ['3'] });
    await terminal.shows(name === 'gemini' ? /That was all again\./ : /and now[^]*That was all/);
    assert.ok(asked().at(-1).includes(commentOf('3')), asked().at(-1));
    assert.ok(!asked().at(-1).includes(commentOf('2')));

    await companion.next('cli/finished');
    companion.inbox.takeAll();
    await terminal.enter('make it');
    // Not that of Qwen Code, which waits for a prompt now.
    const { message } = (await companion.next('cli/waiting')).params;
    assert.match(message, /touch|shell|permission/i);
    await terminal.shows(/once/);
    terminal.press('Enter');
    await terminal.shows(/That was the last\./);
    const { seconds } = (await companion.next('cli/finished')).params;
    assert.ok(seconds >= 0 && seconds < 60, String(seconds));
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
  await companion.next('cli/finished');
  assert.ok(asked().at(-1).includes(commentOf('1')), asked().at(-1));
});
