// Tests the end of a real IDE, orderly or killed: no client waits forever, nothing is left behind.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { REJECTED, UNCHANGED } from '../lib/decision.mjs';
import { Scene } from '../lib/ide-scene.mjs';
import { until } from '../lib/inbox.mjs';

/** The discovery files. */
function discoveryFiles({ tmp }) {
  return fs.readdirSync(path.join(tmp, 'gemini', 'ide')).filter((name) => name.endsWith('.json'));
}

test('an IDE that exits asks once about a proposal that was edited', async (t) => {
  const scene = new Scene();
  t.after(() => scene.close());
  await scene.open();
  const { ide } = scene;
  const { title, decision } = await scene.propose(scene.sandbox.file('a.txt', 'old\n'), 'new\n');
  await scene.clickInto(title);
  await ide.display.type('mine ');
  await scene.proposal('a.txt', ({ right }) => right === 'mine new\n');
  await ide.invoke('Exit');
  await ide.until(({ texts }) => texts.includes('Close Anyway'), 'the question');
  await ide.click('text', { text: 'Close Anyway' });
  assert.equal(await ide.exited(), 0);
  assert.deepEqual(await decision, REJECTED);
});

test('a client does not notice that its IDE was killed and opened again, and gets a rejection when it exits', async (t) => {
  const scene = new Scene();
  t.after(() => scene.close());
  await scene.open();
  const { client, sandbox } = scene;
  const first = sandbox.file('a.txt', 'old\n');
  const { decision: pending } = await scene.propose(first, 'new\n');
  client.events.status.takeAll();
  scene.ide.kill();
  await scene.ide.exited();
  const [killed, ...others] = discoveryFiles(sandbox);
  assert.deepEqual(others, []);

  await scene.openIde();
  await until('the old file is gone', () => !discoveryFiles(sandbox).includes(killed));
  const [file] = discoveryFiles(sandbox);
  const port = (name) => /-(\d+)\.json$/.exec(name)[1];
  assert.equal(port(file), port(killed), 'the address has stayed');

  const lost = client.events.status.until(({ status }) => status === 'disconnected');
  lost.catch(() => {}); // the client has been closed
  await Promise.race([pending, lost]);
  if ((await client.status()) === 'disconnected') {
    t.diagnostic('the IDE took more than 20 s to open, so that the client had to be connected again');
    // The CLI asks in its terminal as well, and there is an answer from there at least.
    await client.resolveDiffFromCli(first, 'rejected');
    assert.equal((await client.connect()).status, 'connected');
  }
  assert.deepEqual(await pending, REJECTED);
  const { title, decision } = await scene.propose(sandbox.file('b.txt', 'old\n'), 'new\n');
  await scene.ide.invoke('Companion.AcceptProposal', title);
  assert.deepEqual(await decision, UNCHANGED);
  assert.equal(await client.status(), 'connected');

  const { decision: open } = await scene.propose(sandbox.file('c.txt', 'old\n'), 'new\n');
  await scene.ide.close();
  assert.deepEqual(await open, REJECTED);
  assert.deepEqual(discoveryFiles(sandbox), []);
});
