// Tests the connection: its capabilities, the trust in the workspace, disconnecting and reconnecting.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { IdeClient } from '../lib/ide-client.mjs';
import { openWindow, openWindowWithClient } from '../lib/scene.mjs';

test('a client that disconnects and reconnects gets the context again', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const file = sandbox.file('a.txt');
  companion.notify('editor/focused', { path: file });
  await client.openFiles((files) => files[0]?.path === file);

  await client.disconnect();
  assert.equal(await client.status(), 'disconnected');
  assert.equal(await client.context(), undefined);

  assert.equal((await client.connect()).status, 'connected');
  const files = await client.openFiles((files) => files.length > 0);
  assert.deepEqual([files[0].path, files[0].isActive], [file, true]);
  assert.equal(await client.isDiffingEnabled(), true);
});

test('without the review of edits the client gets the context, and edits are not reviewed in the editor', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t, {
    args: ['--no-review'],
  });
  assert.equal(await client.isDiffingEnabled(), false);
  const file = sandbox.file('a.txt');
  companion.notify('editor/focused', { path: file });
  await client.openFiles((files) => files[0]?.path === file);
  await assert.rejects(client.openDiff(file, 'new\n'), /^Error: Unknown tool: openDiff$/);
});

test('the client gets the user’s trust in the workspace', async (t) => {
  for (const [option, trusted] of [
    ['--trusted', true],
    ['--untrusted', false],
  ]) {
    const { companion, client } = await openWindowWithClient(t, { args: [option] });
    assert.equal(await client.events.trust.next(), trusted);
    assert.deepEqual(await client.trust(), { isTrusted: trusted, source: 'ide' });
    companion.notify('workspace/trust', { trusted: !trusted });
    assert.equal(await client.events.trust.next(), !trusted);
  }
});

test('the CLI’s own folder trust stays in force unless the editor knows better', async (t) => {
  for (const [level, isTrusted] of [
    ['DO_NOT_TRUST', false],
    ['TRUST_FOLDER', true],
  ]) {
    const { sandbox, companion } = await openWindow(t);
    const folders = path.join(sandbox.folder('home', '.gemini'), 'trustedFolders.json');
    fs.writeFileSync(folders, JSON.stringify({ [sandbox.project]: level }));
    const client = await IdeClient.connect(sandbox);
    const file = sandbox.file('a.txt');
    companion.notify('editor/focused', { path: file });
    await client.openFiles((files) => files[0]?.path === file);
    assert.deepEqual(await client.trust(), { isTrusted, source: 'file' });

    companion.notify('workspace/trust', { trusted: !isTrusted });
    assert.equal(await client.events.trust.next(), !isTrusted, 'nothing was sent before');
    assert.deepEqual(await client.trust(), { isTrusted: !isTrusted, source: 'ide' });

    companion.notify('workspace/trust', {});
    const other = sandbox.file('b.txt');
    companion.notify('editor/focused', { path: other });
    await client.openFiles((files) => files[0]?.path === other);
    assert.deepEqual(await client.trust(), { isTrusted, source: 'file' });
  }
});
