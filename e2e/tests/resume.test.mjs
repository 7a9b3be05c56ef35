// Tests where `serve --resume` can't continue the last process: its port is taken, or its disk fails.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { once } from 'node:events';
import test from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { REJECTED, accepted } from '../lib/decision.mjs';
import { Session } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { Window, endStreams, propose, saved } from '../lib/window.mjs';

/** The status of a request in a session of another companion. */
async function statusIn(companion, session) {
  const there = new Session(undefined, companion);
  there.headers = session.headers;
  return (await there.post(there.message('ping'))).status;
}

test('a port that another program took disconnects the client, and the log has a warning', async (t) => {
  const window = await Window.open(t);
  const session = await Session.open(window.sandbox, window.companion);
  const old = window.companion.ready;
  await window.kill();
  const other = net.createServer().listen(old.port, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');

  await window.start();
  const { ready } = window.companion;
  assert.notEqual(ready.port, old.port);
  assert.notEqual(ready.authToken, old.authToken, 'whoever has the port has seen it');
  const file = JSON.parse(fs.readFileSync(ready.discoveryFiles.gemini, 'utf8'));
  assert.deepEqual([file.port, file.authToken], [ready.port, ready.authToken]);
  // A CLI that took this file would connect to the other program.
  await until('the last process has no file', () => !fs.existsSync(old.discoveryFiles.gemini));
  await window.companion.logged(
    new RegExp(`WARN.*not listening on port ${old.port} again: Address already in use.*/ide enable`),
  );
  assert.equal(await statusIn(window.companion, session), 404);
  await IdeClient.connect(window.sandbox, {
    env: { ...ready.env, TERM_PROGRAM: 'vscode' },
  });
});

test('without --resume there is no state', async (t) => {
  const sandbox = Sandbox.of(t);
  const first = await Companion.start(sandbox);
  const session = await Session.open(sandbox, first);
  await first.close();
  const second = await Companion.start(sandbox, { args: ['--port', `${first.ready.port}`] });
  assert.notEqual(second.ready.authToken, first.ready.authToken);
  assert.equal(await statusIn(second, session), 404);
  assert.deepEqual(fs.readdirSync(sandbox.home), []);
});

test('an unusable state directory prevents only the resumption', async (t) => {
  const sandbox = Sandbox.of(t);
  fs.writeFileSync(path.join(sandbox.home, '.local'), '');
  const companion = await Companion.start(sandbox, { args: ['--resume'] });
  await companion.logged(/WARN.*a restart will disconnect the CLIs: /);
  await IdeClient.connect(sandbox);
});

/** Has room for files of 64 KB. */
const fullDisk = {
  prefix: () => ['bash', '-c', `trap '' XFSZ; ulimit -f 64; exec "$@"`, 'bash'],
  env: {},
};

test('a text that has no space on the disk costs no other client its connection', async (t) => {
  const window = await Window.open(t);
  await window.stop();
  await window.startOn(fullDisk);
  const before = window.companion.ready;
  const proxy = await Proxy.start(window.sandbox, window.companion);
  const clients = [];
  for (const _ of [1, 2]) clients.push(await window.connect(proxy.env));
  const small = await propose(window, clients[0], 'a.txt');
  const large = await propose(window, clients[1], 'b.txt');
  await endStreams(window, proxy);
  window.editor.accept(small.file, 'the user’s own words');
  await saved(window, small.file, 'the user’s own words');
  window.editor.accept(large.file, 'x'.repeat(200_000));
  await until('it is said', () => window.companion.log.includes('no space for 1 accepted texts'));
  await saved(window, small.file, 'the user’s own words');
  await window.stop();
  await window.start();
  assert.deepEqual(window.companion.ready, before);
  assert.deepEqual(await small.decision, accepted('the user’s own words'));
  assert.deepEqual(await large.decision, REJECTED);
});
