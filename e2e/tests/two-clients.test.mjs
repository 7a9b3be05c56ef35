// Tests several clients in one window: each gets its own decisions, and the newest edit of a file
// replaces the older one.

import assert from 'node:assert/strict';
import test from 'node:test';

import { UNCHANGED } from '../lib/decision.mjs';
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
