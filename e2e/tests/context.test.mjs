// Tests the context that a client gets: open files, focus, caret, selection.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { IdeClient } from '../lib/ide-client.mjs';
import { openWindow, openWindowWithClient } from '../lib/scene.mjs';

const paths = (files) => files.map((file) => file.path);
const newestIs = (file) => (files) => files[0]?.path === file;

test('a client that connects later gets the open files, the caret and the selection', async (t) => {
  const { sandbox, companion } = await openWindow(t);
  const file = sandbox.file('src/main.rs', 'fn main() {}\n');
  const before = Date.now();
  companion.notify('editor/focused', { path: file });
  companion.notify('editor/cursor', { path: file, line: 1, character: 4 });
  companion.notify('editor/selection', { path: file, text: 'main' });
  const client = await IdeClient.connect(sandbox);
  const [told, ...others] = await client.openFiles(([file]) => file?.selectedText);
  const { timestamp, ...rest } = told;
  assert.deepEqual(rest, {
    path: file,
    isActive: true,
    cursor: { line: 1, character: 4 },
    selectedText: 'main',
  });
  assert.ok(timestamp >= before && timestamp <= Date.now(), `timestamp ${timestamp}`);
  assert.deepEqual(others, []);
});

test('the file that had the focus last comes first, and it alone is active', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => sandbox.file(name));
  for (const file of [a, b, c, a]) companion.notify('editor/focused', { path: file });
  companion.notify('editor/opened', { path: d });
  const files = await client.openFiles((files) => files.length === 4);
  assert.deepEqual(paths(files), [a, c, b, d]);
  assert.deepEqual(
    files.map((file) => Boolean(file.isActive)),
    [true, false, false, false],
  );
});

test('caret and selection are those of the active file, and come back with the focus', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const [a, b] = [sandbox.file('a'), sandbox.file('b')];
  companion.notify('editor/focused', { path: a });
  companion.notify('editor/cursor', { path: a, line: 3, character: 7 });
  companion.notify('editor/selection', { path: a, text: 'in a' });
  companion.notify('editor/focused', { path: b });
  const [first, second] = await client.openFiles(newestIs(b));
  for (const file of [first, second]) {
    assert.deepEqual([file.cursor, file.selectedText], [undefined, undefined]);
  }
  companion.notify('editor/focused', { path: a });
  const [again] = await client.openFiles(newestIs(a));
  assert.deepEqual([again.cursor, again.selectedText], [{ line: 3, character: 7 }, 'in a']);
});

test('the client gets the caret’s moves, always including the last one of a burst', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const file = sandbox.file('a');
  companion.notify('editor/focused', { path: file });
  await client.openFiles(newestIs(file));
  const start = Date.now();
  for (let line = 1; line <= 500; line++) {
    companion.notify('editor/cursor', { path: file, line, character: 80 });
  }
  let contexts = 0;
  await client.openFiles(([{ cursor }]) => ++contexts && cursor?.line === 500);
  // One is sent 50 ms after a burst, so a slow machine may cut this one into several.
  const most = 2 + (Date.now() - start) / 50;
  assert.ok(contexts <= most, `${contexts} contexts for 500 moves, at most ${most} expected`);
});

test('an unchanged context is not sent twice', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const file = sandbox.file('a');
  companion.notify('editor/focused', { path: file });
  companion.notify('editor/cursor', { path: file, line: 2, character: 1 });
  await client.openFiles(([file]) => file?.cursor?.line === 2);
  companion.notify('editor/focused', { path: file });
  companion.notify('editor/cursor', { path: file, line: 3, character: 1 });
  companion.notify('editor/cursor', { path: file, line: 2, character: 1 });
  await IdeClient.connect(sandbox); // takes longer than a burst, and is none of the first's business
  companion.notify('editor/selection', { path: file, text: 'new' });
  const context = await client.events.context.next();
  assert.equal(context.workspaceState.openFiles[0].selectedText, 'new');
});

test('the client gets a selection unchanged, and its end', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const file = sandbox.file('a');
  const text = 'é 文 😀 👩‍👩‍👧‍👦 "quoted" \\ \t\r\n\u0000\u2028 end';
  companion.notify('editor/focused', { path: file });
  companion.notify('editor/selection', { path: file, text });
  const [selected] = await client.openFiles(([file]) => file?.selectedText !== undefined);
  assert.equal(selected.selectedText, text);
  companion.notify('editor/selection', { path: file, text: '' });
  await client.openFiles(([file]) => file.selectedText === undefined);
});

test('a selection that is too long is cut before half an emoji', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const file = sandbox.file('a');
  companion.notify('editor/focused', { path: file });
  companion.notify('editor/selection', { path: file, text: `${'x'.repeat(16_383)}😀 and more` });
  const [cut] = await client.openFiles(([file]) => file?.selectedText !== undefined);
  assert.ok(cut.selectedText === 'x'.repeat(16_383), `${cut.selectedText.length} units`);
  companion.notify('editor/selection', { path: file, text: `${'y'.repeat(16_382)}😀 and more` });
  const [whole] = await client.openFiles(([file]) => file.selectedText.startsWith('y'));
  assert.ok(
    whole.selectedText === `${'y'.repeat(16_382)}😀`,
    `${whole.selectedText.length} units, the client’s own mark for a longer one included`,
  );
});

test('a file that does not exist on disk is not in the context', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const [real, unsaved] = [sandbox.file('real'), path.join(sandbox.project, 'unsaved')];
  companion.notify('editor/focused', { path: unsaved });
  companion.notify('editor/focused', { path: sandbox.project });
  companion.notify('editor/focused', { path: real });
  assert.deepEqual(paths(await client.openFiles((files) => files.length > 0)), [real]);

  companion.notify('editor/focused', { path: unsaved });
  const [inactive] = await client.openFiles(([file]) => !file.isActive);
  assert.equal(inactive.path, real);
  fs.writeFileSync(unsaved, '');
  companion.notify('editor/cursor', { path: unsaved, line: 1, character: 1 });
  assert.deepEqual(paths(await client.openFiles(newestIs(unsaved))), [unsaved, real]);
});

test('the context has the ten files that had the focus last', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const files = Array.from({ length: 12 }, (_, n) => sandbox.file(`${n}`));
  for (const file of files) companion.notify('editor/focused', { path: file });
  const told = await client.openFiles(newestIs(files[11]));
  assert.deepEqual(paths(told), files.slice(2).reverse());
  companion.notify('editor/closed', { path: files[11] });
  const next = await client.openFiles(newestIs(files[10]));
  assert.deepEqual(paths(next), files.slice(1, 11).reverse());
});

test('a renamed file keeps its place, caret and selection; so do all files of a folder', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const [other, old] = [sandbox.file('dir/other'), sandbox.file('dir/old')];
  companion.notify('editor/focused', { path: other });
  companion.notify('editor/focused', { path: old });
  companion.notify('editor/cursor', { path: old, line: 9, character: 1 });
  await client.openFiles(([file]) => file?.cursor);

  const renamed = path.join(sandbox.project, 'dir', 'new');
  fs.renameSync(old, renamed);
  companion.notify('editor/renamed', { from: old, to: renamed });
  const [file] = await client.openFiles(newestIs(renamed));
  assert.deepEqual([file.isActive, file.cursor], [true, { line: 9, character: 1 }]);

  const [from, to] = ['dir', 'moved'].map((name) => path.join(sandbox.project, name));
  fs.renameSync(from, to);
  companion.notify('editor/renamed', { from, to });
  const moved = await client.openFiles(newestIs(path.join(to, 'new')));
  assert.deepEqual(paths(moved), [path.join(to, 'new'), path.join(to, 'other')]);
});

test('deleted and closed files leave the context; the rest stays, without an active one', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const [kept, nearby, inside, closed] = ['kept', 'dirt', 'dir/inside', 'closed'].map((name) =>
    sandbox.file(name),
  );
  for (const file of [kept, nearby, inside, closed]) {
    companion.notify('editor/focused', { path: file });
  }
  await client.openFiles((files) => files.length === 4);
  companion.notify('editor/closed', { path: closed });
  companion.notify('editor/deleted', { path: path.join(sandbox.project, 'dir') });
  const rest = await client.openFiles((files) => files.length === 2);
  assert.deepEqual(paths(rest), [nearby, kept]);
  assert.ok(rest.every((file) => !file.isActive));
  for (const file of rest) companion.notify('editor/closed', { path: file.path });
  await client.openFiles((files) => files.length === 0);
});

test('a file that the editor names by a link and by its own path is there once', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const file = sandbox.file('a.txt', 'one\n');
  const link = path.join(sandbox.project, 'link.txt');
  fs.symlinkSync(file, link);
  const last = sandbox.file('last.txt');
  for (const name of [file, link, file, link, last]) {
    companion.notify('editor/focused', { path: name });
  }
  const files = await client.openFiles(newestIs(last));
  assert.equal(files.length, 2, paths(files).join());
});
