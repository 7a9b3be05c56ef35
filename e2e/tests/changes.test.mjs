// Tests what the editor hears of a CLI's changes, with the real CLIs in a terminal, where nobody is
// asked.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { edit, look, open, replace, write } from '../lib/conversation.mjs';
import { noTerminal } from '../lib/terminal.mjs';

const run = (command) => ({
  name: 'run_shell_command',
  args: { command, description: 'x', is_background: false },
});

/** A CLI that asks nothing, at its prompt. */
const openYolo = (t, name, files, steps) =>
  open(t, files, steps, { name, review: false, yolo: true });

/** Waits for the changes of a prompt, by its first line: names and kinds of files. */
async function changed({ companion }, title, files) {
  const wanted = JSON.stringify(Object.entries(files).sort());
  const listOf = ({ files: found }) =>
    JSON.stringify(found.map(({ path: of, kind }) => [path.basename(of), kind]).sort());
  const isIt = ({ method, params }) =>
    method === 'agent/changed' && params.title === title && listOf(params) === wanted;
  return (await companion.inbox.next(isIt)).params;
}

const keyOf = ({ session, prompt }) => ({ session, prompt });

const texts = ({ companion }, { session, prompt }, file) =>
  companion.request('agent/before', { session, prompt, path: file });

describe('the changes of Gemini CLI', { skip: noTerminal, concurrency: 2 }, () => {
  test('are listed by prompt, with the texts from before', async (t) => {
    const steps = ({ a, crlf }) => [
      look(a),
      look(crlf),
      replace(a, 'one', 'ONE'),
      replace(a, 'two', 'TWO'),
      replace(crlf, 'one', 'ONE'),
      write(`${a}-new`, 'new\n'),
      'That was the first.',
      run(`printf 'by the shell\\n' > b; rm crlf`),
      'That was the second.',
      look(a),
      replace(a, 'ONE', '1'),
      'That was the third.',
    ];
    const files = { a: 'one\ntwo\n', b: 'b\n', crlf: '\uFEFFone\r\n' };
    const window = await openYolo(t, 'gemini', files, steps);
    const { companion, terminal, file } = window;
    companion.notify('editor/opened', { path: file.b });

    await terminal.enter('Change a');
    await terminal.shows(/That was the first\./);
    const expected = { a: 'changed', crlf: 'changed', 'a-new': 'created' };
    const first = await changed(window, 'Change a', expected);
    assert.ok(Math.abs(Date.now() - first.time) < 300_000);
    const [a] = first.files;
    assert.deepEqual([a.added, a.removed, a.revertible, a.mixed], [2, 2, true, false]);
    const both = { content: 'one\ntwo\n', left: 'ONE\nTWO\n' };
    assert.deepEqual(await texts(window, first, file.a), both);
    const { content } = await texts(window, first, file.crlf);
    assert.equal(content, files.crlf, 'the bytes of the file');
    assert.deepEqual(await texts(window, first, `${file.a}-new`), { left: 'new\n' });

    await terminal.enter('Run it');
    await terminal.shows(/That was the second\./);
    const begun = (await companion.next('agent/command')).params;
    assert.deepEqual([begun.title, begun.running], ['Run it', true]);
    assert.equal((await companion.next('agent/command')).params.running, false);
    const second = await changed(window, 'Run it', { b: 'changed', crlf: 'deleted' });
    assert.ok(second.files.every(({ mixed, revertible }) => mixed && revertible));
    assert.equal((await texts(window, second, file.b)).content, 'b\n');
    assert.equal((await texts(window, second, file.crlf)).left, undefined);

    await terminal.enter('Once more');
    await terminal.shows(/That was the third\./);
    const third = await changed(window, 'Once more', { a: 'changed' });
    assert.equal((await texts(window, third, file.a)).content, 'ONE\nTWO\n');
    await assert.rejects(texts(window, third, file.b), /no text of this change is kept/);
  });

  test('that the user reverts are told to the model, unless that is undone', async (t) => {
    const steps = ({ a, b }) => [
      look(a),
      look(b),
      write(a, 'new a\n'),
      write(b, 'new b\n'),
      'That was all.',
      'That was all again.',
    ];
    const window = await openYolo(t, 'gemini', { a: 'old a\n', b: 'old b\n' }, steps);
    const { companion, terminal, asked, file } = window;
    await terminal.enter('Write');
    await terminal.shows(/That was all\./);
    const change = await changed(window, 'Write', { a: 'changed', b: 'changed' });
    const { content } = await texts(window, change, file.a);
    fs.writeFileSync(file.a, content);
    companion.notify('agent/reverted', { ...keyOf(change), paths: [file.a, file.b] });
    await terminal.enter('And now');
    await terminal.shows(/That was all again\./);
    await changed(window, 'Write', { b: 'changed' });
    assert.match(asked().join('\n'), /The user reverted your changes to a\. Read/);
  });
});

test('the changes of Qwen Code are listed and reverted as well', { skip: noTerminal }, async (t) => {
  const steps = ({ a }) => [
    look(a),
    edit(a, 'one', 'ONE'),
    edit(a, 'two', 'TWO'),
    write(`${a}-new`, 'new\n'),
    'That was the first.',
    run(`printf 'by the shell\\n' > b; rm ${a}-new`),
    'That was the second.',
    'That was the third.',
  ];
  const window = await openYolo(t, 'qwen', { a: 'one\ntwo\n', b: 'b\n' }, steps);
  const { companion, terminal, asked, file } = window;
  companion.notify('editor/opened', { path: file.b });
  await terminal.enter('Change a');
  await terminal.shows(/That was the first\./);
  const first = await changed(window, 'Change a', { a: 'changed', 'a-new': 'created' });
  const both = { content: 'one\ntwo\n', left: 'ONE\nTWO\n' };
  assert.deepEqual(await texts(window, first, file.a), both);

  await terminal.enter('Run it');
  await terminal.shows(/That was the second\./);
  const second = await changed(window, 'Run it', { b: 'changed', 'a-new': 'deleted' });
  const { content } = await texts(window, second, file.b);
  assert.equal(content, 'b\n');

  fs.writeFileSync(file.b, content);
  companion.notify('agent/reverted', { ...keyOf(second), paths: [file.b] });
  await terminal.enter('And now');
  await terminal.shows(/That was the third\./);
  assert.match(asked().join('\n'), /The user reverted your changes to b\. Read/);
});
