// Tests several clients in one window: each gets its own decisions, and the newest edit of a file
// replaces the older one.

import assert from 'node:assert/strict';
import test from 'node:test';

import { REJECTED, UNCHANGED, accepted } from '../lib/decision.mjs';
import { Session } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { openWindow, openWindowWithClient } from '../lib/scene.mjs';

/** A client that has received the first context. */
async function watch(sandbox, companion) {
  const session = await Session.open(sandbox, companion);
  const stream = await session.stream();
  assert.equal((await stream.next()).method, 'ide/contextUpdate');
  return { session, stream };
}

/** Opens a file in the editor, so that all clients get another notification. */
function focusNew(sandbox, companion) {
  companion.notify('editor/focused', { path: sandbox.file('marker.txt') });
}

test('two clients review at the same time and do not wait for each other', async (t) => {
  const { sandbox, editor, client: first } = await openWindowWithClient(t);
  const second = await IdeClient.connect(sandbox);
  const [a, b] = [sandbox.file('a.txt'), sandbox.file('b.txt')];
  const decisions = [first.openDiff(a, 'from first'), second.openDiff(b, 'from second')];
  const numbers = [(await editor.view(a)).cli, (await editor.view(b)).cli];
  assert.deepEqual(numbers.sort(), [1, 2]);
  editor.accept(b, 'for second');
  assert.deepEqual(await decisions[1], accepted('for second'));
  editor.accept(a, 'for first');
  assert.deepEqual(await decisions[0], accepted('for first'));
});

test('a decision goes to the client that asked, and to no other', async (t) => {
  const { sandbox, companion, editor } = await openWindow(t);
  const asker = await watch(sandbox, companion);
  const other = await watch(sandbox, companion);
  const filePath = sandbox.file('a.txt');
  await asker.session.callTool('openDiff', { filePath, newContent: 'x' });
  editor.accept(filePath, 'y');
  assert.deepEqual(await asker.stream.next(), {
    jsonrpc: '2.0',
    method: 'ide/diffAccepted',
    params: { filePath, content: 'y' },
  });
  focusNew(sandbox, companion);
  for (const { stream } of [asker, other]) {
    assert.equal((await stream.next()).method, 'ide/contextUpdate');
  }
});

test('a client cannot close another client’s proposal or read the user’s edits in it', async (t) => {
  const { sandbox, editor, client } = await openWindowWithClient(t);
  const other = await IdeClient.connect(sandbox);
  const file = sandbox.file('a.txt');
  const { decision } = await client.propose(editor, file, 'proposed');
  editor.edit(file, 'typed');
  assert.equal(await other.closeDiff(file), undefined);
  editor.accept(file);
  assert.deepEqual(await decision, accepted('typed'));
});

test('when a second client proposes another edit of a file, the first one’s is rejected', async (t) => {
  const { sandbox, editor, client: first } = await openWindowWithClient(t);
  const second = await IdeClient.connect(sandbox);
  const file = sandbox.file('a.txt');
  const { decision: earlier } = await first.propose(editor, file, 'from first');
  const later = second.openDiff(file, 'from second');
  assert.deepEqual(await earlier, REJECTED);
  assert.equal((await editor.view(file)).newContent, 'from second');
  editor.accept(file);
  assert.deepEqual(await later, UNCHANGED);
});

test('one client leaves, the other one stays', async (t) => {
  const { sandbox, companion, editor, client: first } = await openWindowWithClient(t);
  const second = await IdeClient.connect(sandbox);
  const file = sandbox.file('a.txt');
  const { decision } = await second.propose(editor, file, 'text');
  await first.close();
  companion.notify('editor/focused', { path: file });
  await second.openFiles((files) => files[0]?.path === file);
  editor.accept(file);
  assert.deepEqual(await decision, UNCHANGED);
});
