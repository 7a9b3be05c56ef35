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
  const [shown, ...others] = await client.openFiles(([file]) => file?.selectedText);
  const { timestamp, ...rest } = shown;
  assert.deepEqual(rest, {
    path: file,
    isActive: true,
    cursor: { line: 1, character: 4 },
    selectedText: 'main',
  });
  assert.ok(timestamp >= before && timestamp <= Date.now(), `timestamp ${timestamp}`);
  assert.deepEqual(others, []);
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
