// Tests the state that `serve --resume` keeps between two processes: address, sessions, undelivered
// texts.

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

test('the address stays, and what keeps it is private', async (t) => {
  const window = await Window.open(t);
  const before = window.companion.ready;
  const [state] = window.states();
  const { token } = JSON.parse(window.state().split('\n')[0]);
  assert.equal(fs.statSync(state).mode & 0o777, 0o600);
  assert.equal(fs.statSync(path.dirname(state)).mode & 0o777, 0o700);
  await window.stop();
  await window.start();
  assert.deepEqual(window.companion.ready, before);
  await window.stop();
  assert.equal(token, before.authToken);
  assert.ok(token.length >= 64 && !window.log.includes(token));
});

test('no text is left of what the client has got', async (t) => {
  const window = await Window.open(t);
  const client = await window.connect();
  const { file, decision } = await propose(window, client, 'a.txt');
  window.editor.accept(file, 'the user’s own words');
  assert.deepEqual(await decision, accepted('the user’s own words'));
  await until('the client shows that it heard', () => !window.state().includes('own words'));
  await window.stop();
  assert.ok(!window.state().includes('own words'), 'after the end');
});

test('what the client could not be told is left, and its text is gone once it was', async (t) => {
  const window = await Window.open(t);
  const proxy = await Proxy.start(window.sandbox, window.companion);
  const client = await window.connect(proxy.env(window.sandbox));
  const { file, decision } = await propose(window, client, 'a.txt');
  await endStreams(window, proxy);
  window.editor.accept(file, 'the user’s own words');
  await saved(window, file, 'the user’s own words');
  await window.stop();
  assert.ok(window.state().includes('own words'), 'the next one needs it');
  await window.start();
  assert.deepEqual(await decision, accepted('the user’s own words'));
  await until('its text is gone', () => !window.state().includes('own words'));
});

test('another port has another token: the old one goes to whoever has the old port', async (t) => {
  const window = await Window.open(t);
  const session = await Session.open(window.sandbox, window.companion);
  const before = window.companion.ready;
  await window.stop();
  const other = net.createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address();
  await new Promise((resolve) => other.close(resolve));
  await window.start('--port', `${port}`);
  assert.equal(window.companion.ready.port, port);
  assert.notEqual(window.companion.ready.authToken, before.authToken);
  assert.equal(await statusIn(window.companion, session), 404);
});

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
  assert.equal(fs.existsSync(old.discoveryFiles.gemini), true, 'its port is answered, if not by us');
  await window.companion.logged(
    new RegExp(`WARN.*not listening on port ${old.port} again: Address already in use.*/ide enable`),
  );
  assert.equal(await statusIn(window.companion, session), 404);
  await IdeClient.connect(window.sandbox, {
    env: { ...ready.env, TERM_PROGRAM: 'vscode' },
  });
});

test('two companions of one folder have separate states', async (t) => {
  const sandbox = Sandbox.of(t);
  // Each of another editor, which outlives its companion.
  const editors = [process.pid, process.ppid];
  const start = (editor) =>
    Companion.start(sandbox, { args: ['--resume', '--ide-pid', `${editor}`] });
  const before = [await start(editors[0]), await start(editors[1])];
  assert.notEqual(before[0].ready.port, before[1].ready.port);
  assert.notEqual(before[0].ready.authToken, before[1].ready.authToken);
  const session = await Session.open(sandbox, before[1]);

  await before[0].kill();
  await before[1].close();
  const second = await start(editors[1]);
  const first = await start(editors[0]);
  const address = ({ ready: { port, authToken } }) => ({ port, authToken });
  assert.deepEqual([first, second].map(address), before.map(address));
  assert.equal(await statusIn(second, session), 200);
  assert.equal(await statusIn({ ready: { ...first.ready } }, session), 404);
});

test('a session that its client has ended does not come back', async (t) => {
  const window = await Window.open(t);
  const session = await Session.open(window.sandbox, window.companion);
  await window.kill();
  await window.start();
  assert.equal((await session.delete()).status, 204);
  assert.equal(await statusIn(window.companion, session), 404);
});

test('a state that can’t be trusted is not used, and the log says why', async (t) => {
  const window = await Window.open(t);
  const [state] = window.states();
  const spoil = {
    'is damaged': () => fs.writeFileSync(state, '{"version":1,'),
    'lets other users in': () => fs.chmodSync(state, 0o640),
    'is a symbolic link': () => {
      fs.renameSync(state, `${state}.moved`);
      fs.symlinkSync(`${state}.moved`, state);
    },
  };
  for (const [why, spoilIt] of Object.entries(spoil)) {
    const { authToken } = window.companion.ready;
    await window.stop();
    spoilIt();
    await window.start();
    assert.notEqual(window.companion.ready.authToken, authToken);
    await window.companion.logged(new RegExp(`WARN.*ignoring resume data: .*${why}`));
    assert.equal(fs.lstatSync(state).isSymbolicLink(), false);
    assert.equal(fs.lstatSync(state).mode & 0o777, 0o600);
  }
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
  for (const _ of [1, 2]) clients.push(await window.connect(proxy.env(window.sandbox)));
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
