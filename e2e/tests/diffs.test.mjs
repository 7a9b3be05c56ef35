// Tests the life of a proposal: it shows, changes, and ends once, by the user or by the CLI.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { REJECTED, UNCHANGED, accepted } from '../lib/decision.mjs';
import { Editor } from '../lib/editor.mjs';
import { Session } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { openWindowWithClient } from '../lib/scene.mjs';

test('an edit that the user changes and accepts comes back as the user left it', async (t) => {
  const { sandbox, editor, client } = await openWindowWithClient(t);
  const file = sandbox.file('a.txt', 'old\n');
  const decision = client.openDiff(file, 'proposed\n');
  const proposed = { kind: 'change', private: false, cli: 1, newContent: 'proposed\n' };
  const view = { filePath: file, ...proposed };
  assert.deepEqual(await editor.view(file), view);
  editor.accept(file, 'proposed, with a change\n');
  assert.deepEqual(await decision, accepted('proposed, with a change\n'));
  assert.equal(fs.readFileSync(file, 'utf8'), 'old\n', 'it is the CLI that writes the file');
});

test('the CLI itself writes an edit that the user accepts unchanged', async (t) => {
  const { sandbox, editor, client } = await openWindowWithClient(t);
  const file = path.join(sandbox.project, 'new', 'file.txt');
  const decision = client.openDiff(file, 'proposed\r\n\tno newline at the end');
  assert.equal((await editor.view(file)).kind, 'create');
  editor.accept(file);
  assert.deepEqual(await decision, UNCHANGED);
});

test('an edit that the user rejects is rejected', async (t) => {
  const { sandbox, editor, client } = await openWindowWithClient(t);
  const file = sandbox.file('a.txt');
  const { decision } = await client.propose(editor, file, 'proposed\n');
  editor.reject(file);
  assert.deepEqual(await decision, REJECTED);
});

test('an edit that is accepted in the CLI includes the user’s changes from the editor', async (t) => {
  const { sandbox, editor, client } = await openWindowWithClient(t);
  const file = sandbox.file('a.txt');
  const { decision } = await client.propose(editor, file, 'proposed\n');
  editor.edit(file, 'typed 😀\n');
  await client.resolveDiffFromCli(file, 'accepted');
  assert.deepEqual(await decision, accepted('typed 😀\n'));
  assert.equal(await editor.closed.next(), file);
});

test('an edit that is rejected in the CLI closes its view in the editor', async (t) => {
  const { sandbox, editor, client } = await openWindowWithClient(t);
  const file = sandbox.file('a.txt');
  const { decision } = await client.propose(editor, file, 'proposed\n');
  await client.resolveDiffFromCli(file, 'rejected');
  assert.deepEqual(await decision, REJECTED);
  assert.equal(await editor.closed.next(), file);
});

test('closing a view without a decision rejects the edit and returns the user’s text', async (t) => {
  const { sandbox, editor, client } = await openWindowWithClient(t);
  const file = sandbox.file('a.txt');
  const { decision } = await client.propose(editor, file, 'proposed\n');
  editor.edit(file, 'typed\n');
  assert.equal(await client.closeDiff(file), 'typed\n');
  assert.deepEqual(await decision, REJECTED);
  assert.equal(await client.closeDiff(file), undefined, 'there is nothing left to close');
});

/** If the client learns too late that its proposal has ended, it does not open another one. */
test('a disconnect closes the client’s view, and its edits are reviewed after it reconnects', async (t) => {
  const { sandbox, editor, client } = await openWindowWithClient(t);
  const file = sandbox.file('a.txt');
  for (let round = 0; round < 50; round++) {
    const { decision } = await client.propose(editor, file, `proposed ${round}\n`);
    await client.disconnect();
    assert.equal(await editor.closed.next(), file);
    assert.deepEqual(await decision, REJECTED);
    await client.connect();
  }
});

test('a script accepts no edit outside of the workspace, the user does', async (t) => {
  const { sandbox, companion, editor, client } = await openWindowWithClient(t);
  const outside = path.join(sandbox.folder('other'), 'a.txt');
  fs.writeFileSync(outside, 'old\n');
  const link = path.join(sandbox.project, 'link');
  fs.symlinkSync(outside, link);
  const script = await Session.open(sandbox, companion);
  for (const file of [outside, link, `${sandbox.project}/../other/new.txt`]) {
    const { decision } = await client.propose(editor, file, 'proposed\n');
    const { isError, content } = await script.callTool('acceptDiff', { filePath: file });
    assert.equal(isError, true);
    assert.match(content[0].text, /^acceptDiff: .* outside of the workspace; accept it in the editor$/);
    assert.equal(fs.readFileSync(outside, 'utf8'), 'old\n');
    editor.accept(file, 'by the user\n');
    assert.deepEqual(await decision, accepted('by the user\n'));
  }

  // The folders that count are those that are open now.
  companion.notify('workspace/folders', { paths: [sandbox.project, path.dirname(outside)] });
  await script.callTool('openDiff', { filePath: outside, newContent: 'proposed\n' });
  const { isError } = await script.callTool('acceptDiff', { filePath: outside });
  assert.ok(!isError);
  assert.equal(fs.readFileSync(outside, 'utf8'), 'proposed\n');
});

test('an edit stays open while the editor restarts its companion', async (t) => {
  const options = { args: ['--resume', '--keep-proposals'] };
  const { sandbox, companion, editor, client } = await openWindowWithClient(t, options);
  const [kept, closed] = ['a.txt', 'b.txt'].map((name) => sandbox.file(name, 'old\n'));
  const other = await IdeClient.connect(sandbox);
  const { decision: rejection } = await other.propose(editor, closed, 'proposed\n');
  client.openDiff(kept, 'proposed\n');
  await editor.view(kept);
  companion.notify('editor/restarts', {});
  await companion.close();
  const next = await Companion.start(sandbox, options);
  const shown = { diff: editor.diffs.get(kept), newContent: 'proposed\n' };
  const { proposals } = await next.request('diff/resume', { proposals: [shown] });
  assert.deepEqual(proposals, [{ diff: shown.diff, cli: 1, reason: 'never' }]);
  new Editor(next).edit(kept, 'typed\n');
  assert.equal(await client.closeDiff(kept), 'typed\n');
  assert.equal(await client.status(), 'connected');
  assert.deepEqual(await rejection, REJECTED, 'the editor does not show it any more');
});
