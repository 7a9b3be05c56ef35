// Owns a client whose user reconnects it (`/ide enable`): it has a second session then, and leaves
// the first one open.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Proxy } from '../lib/proxy.mjs';
import { Window, accepted, endStreams, propose, saved } from '../lib/window.mjs';

test('a text that the first session has not heard answers no later question', async (t) => {
  const window = await Window.open(t);
  const proxy = await Proxy.start(window.sandbox, window.companion);
  const client = await window.connect(proxy.env(window.sandbox));
  const { file } = await propose(window, client, 'a.txt');
  await endStreams(window, proxy);
  window.editor.accept(file, 'the answer to the first question');
  await saved(window, file, 'the answer to the first question');
  await window.kill();
  // The terminal's answer finds nobody, and the client is cut off.
  await client.resolveDiffFromCli(file, 'rejected');
  await window.start();
  proxy.opened.takeAll();
  await client.connect();
  const second = client.openDiff(file, 'the second question');
  await window.editor.view(file);
  // The first session is back, and would be told now.
  await proxy.opened.next((last) => last !== undefined);
  assert.equal(await client.status(), 'connected');
  window.editor.accept(file, 'the answer to the second question');
  assert.deepEqual(await second, accepted('the answer to the second question'));
});

test('an answer in the terminal brings the text that the first session has not heard', async (t) => {
  const window = await Window.open(t);
  const proxy = await Proxy.start(window.sandbox, window.companion);
  const client = await window.connect(proxy.env(window.sandbox));
  const { file, decision } = await propose(window, client, 'a.txt');
  await endStreams(window, proxy);
  window.editor.accept(file, 'as the user wrote it');
  await saved(window, file, 'as the user wrote it');
  await client.connect();
  await client.resolveDiffFromCli(file, 'accepted');
  assert.deepEqual(await decision, accepted('as the user wrote it'));
});
