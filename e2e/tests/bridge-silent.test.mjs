// Tests that a companion that does not answer, because it is suspended or hangs, keeps a bridge from
// no other one.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';

import { Bridge, bridgeEnv, byDiscovery } from '../lib/bridge.mjs';
import { UNCHANGED } from '../lib/decision.mjs';
import { Companion } from '../lib/companion.mjs';
import { Editor } from '../lib/editor.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { suspend } from '../lib/suspend.mjs';

/** Starts a companion in each of three editors that have the same folder open. */
async function startThree(t) {
  const sandbox = Sandbox.of(t);
  const companions = [];
  for (const name of ['A', 'B', 'C']) {
    const companion = await Companion.start(sandbox, { args: ['--ide-name', name] });
    sandbox.defer(() => companion.signal('SIGCONT'));
    companions.push(companion);
  }
  return { sandbox, companions };
}

/** Returns the answer to `initialize`, and how long it took, in ms. */
async function begin(sandbox, ...args) {
  const bridge = Bridge.start(sandbox, [...byDiscovery(sandbox), ...args]);
  const begun = performance.now();
  const { result, error } = await bridge.begin();
  return { result, error, time: performance.now() - begun };
}

test('a healthy companion is reached although all others are suspended', async (t) => {
  const { sandbox, companions } = await startThree(t);
  for (const healthy of companions) {
    const others = companions.filter((companion) => companion !== healthy);
    for (const companion of others) await suspend(companion.pid);
    const { result, error, time } = await begin(sandbox);
    for (const companion of others) companion.signal('SIGCONT');
    assert.equal(error, undefined);
    assert.ok(result.serverInfo);
    assert.ok(time < 5000, `the CLI takes no prompt for ${time} ms`);
  }
});

test('if all are suspended, the CLI waits only as long as --wait says', async (t) => {
  const { sandbox, companions } = await startThree(t);
  for (const companion of companions) await suspend(companion.pid);
  for (const [args, limit] of [[[], 7000], [['--wait', '1'], 5000]]) {
    const { error, time } = await begin(sandbox, ...args);
    assert.match(error.message, /took the connection but did not answer in time/);
    assert.ok(time < limit, `the CLI takes no prompt for ${time} ms`);
  }
});

test('after a restart the companion is reached although another one is silent', async (t) => {
  const sandbox = Sandbox.of(t);
  const companion = await Companion.start(sandbox, { args: ['--resume'] });
  const env = bridgeEnv(sandbox, byDiscovery(sandbox));
  const client = await IdeClient.connect(sandbox, { env });

  // It takes the connection and sends nothing.
  const silent = net.createServer();
  sandbox.defer(() => silent.close());
  const connected = new Promise((resolve) => silent.once('connection', resolve));
  await new Promise((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address();
  const known = companion.ready.discoveryFiles.gemini;
  const content = JSON.parse(fs.readFileSync(known, 'utf8'));
  const name = `gemini-ide-server-${process.pid}-${port}.json`;
  const file = path.join(path.dirname(known), name);
  fs.writeFileSync(file, JSON.stringify({ ...content, port }), { mode: 0o600 });

  await companion.kill();
  (await connected).on('error', () => {}); // the bridge has given it up
  const next = await Companion.start(sandbox, { args: ['--resume'] });
  assert.equal(next.ready.port, companion.ready.port, next.log);
  const edited = sandbox.file('a.txt', 'old');
  const decision = client.openDiff(edited, 'new');
  const editor = new Editor(next);
  await editor.view(edited);
  editor.accept(edited);
  assert.deepEqual(await decision, UNCHANGED);
});
