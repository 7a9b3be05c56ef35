// Owns restarts that nobody is to notice: of `serve --resume`, however it ended, while a client is
// connected. A client whose stream has ended comes back to it after 20 s, so the scenarios run all
// at once.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { Editor } from '../lib/editor.mjs';
import { Session } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { PATIENCE } from '../lib/inbox.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const REJECTED = { status: 'rejected', content: undefined };
const accepted = (content) => ({ status: 'accepted', content });

/** A folder whose companion comes and goes. */
class Window {
  sandbox;
  /** The one that runs now. */
  companion;
  editor;
  /** What all of them wrote to stderr. */
  log = '';

  static async open(t) {
    const window = new Window();
    window.sandbox = Sandbox.of(t);
    await window.start();
    return window;
  }

  async start(...args) {
    const options = { args: ['--resume', '--log-level', 'trace', ...args] };
    this.companion = await Companion.start(this.sandbox, options);
    this.editor = new Editor(this.companion);
  }

  async stop() {
    await this.companion.close();
    this.log += this.companion.log;
  }

  async kill() {
    await this.companion.kill();
    this.log += this.companion.log;
  }

  /** A client that has been told that the file `before.txt` is open. */
  async connect(env) {
    const client = await IdeClient.connect(this.sandbox, { env });
    await this.#seeFile(client, 'before.txt');
    client.events.status.takeAll();
    return client;
  }

  async #seeFile(client, name) {
    const file = this.sandbox.file(name);
    this.companion.notify('editor/focused', { path: file });
    await client.openFiles((files) => files[0]?.path === file);
  }

  /** The files below the state directory, with their content. */
  states() {
    const folder = path.join(
      this.sandbox.home,
      ...['.local', 'state', 'companion-for-gemini-cli', 'resume'],
    );
    const files = fs.readdirSync(folder).map((name) => path.join(folder, name));
    return files.filter((file) => file.endsWith('.json'));
  }

  /**
   * Asserts that for this client nothing has happened: it was connected all the time, it gets the
   * context, and a user's edit of a proposal, both before it is back on its stream and after.
   */
  async assertGoesOn(client) {
    for (const when of ['before', 'after']) {
      if (when === 'after') await until(() => this.companion.log.includes('is back on its stream'));
      const file = this.sandbox.file(`edited ${when}.txt`, 'old');
      const decision = client.openDiff(file, 'new');
      await this.editor.view(file);
      this.editor.accept(file, `edited ${when}`);
      assert.deepEqual(await decision, accepted(`edited ${when}`));
      await this.#seeFile(client, `${when} the stream.txt`);
    }
    assert.deepEqual(client.events.status.takeAll(), []);
    assert.equal(await client.status(), 'connected');
    assert.equal(await client.isDiffingEnabled(), true);
  }
}

/** A proposal that waits for the user, and whose openDiff the client has seen answered. */
async function propose(window, client, name) {
  const { companion, editor, sandbox } = window;
  const file = sandbox.file(name);
  const decision = client.openDiff(file, 'text');
  await editor.view(file);
  await saved(window, file);
  // The companion has one thread: it comes to this only after that answer.
  const session = await Session.open(sandbox, companion);
  await session.delete();
  return { file, decision };
}

/** Ends the client's stream, after which it has none for 20 s: decisions have to wait. */
async function endStreams({ companion }, proxy) {
  companion.inbox.takeAll();
  proxy.end();
  await companion.inbox.next(({ method, params }) => {
    return method === 'companion/sessions' && params.count === 0;
  });
}

test('a client does not notice', { concurrency: true }, async (t) => {
  const scenarios = {
    async 'that it was restarted three times in a row, once with other settings'(t) {
      const window = await Window.open(t);
      const client = await window.connect();
      for (const settings of [[], ['--body-limit', '8', '--untrusted'], []]) {
        await window.stop();
        await window.start(...settings);
      }
      await window.assertGoesOn(client);
    },

    async 'that it was killed three times in a row'(t) {
      const window = await Window.open(t);
      const client = await window.connect();
      for (let i = 0; i < 3; i++) {
        await window.kill();
        await window.start();
      }
      await window.assertGoesOn(client);
    },

    async 'that it was killed, but that the proposal it had open is rejected'(t) {
      const window = await Window.open(t);
      const client = await window.connect();
      const first = await propose(window, client, 'twice.txt');
      window.editor.accept(first.file, 'first');
      assert.deepEqual(await first.decision, accepted('first'));
      const { decision } = await propose(window, client, 'twice.txt');
      await window.kill();
      await sleep(1000);
      await window.start();
      assert.deepEqual(await decision, REJECTED, 'not the answer to the earlier question');
      await window.assertGoesOn(client);
    },

    async 'that it was killed after the user decided and before it could tell'(t) {
      const window = await Window.open(t);
      const proxy = await Proxy.start(window.sandbox, window.companion);
      const client = await window.connect(proxy.env(window.sandbox));
      const { file, decision } = await propose(window, client, 'decided.txt');
      await endStreams(window, proxy);
      const text = 'all of it “ünïcode”\n'.repeat(5000);
      window.editor.accept(file, text);
      await saved(window, file, text);
      await window.kill();
      await window.start();
      assert.deepEqual(await decision, accepted(text));
      await window.assertGoesOn(client);
    },

    async 'that it was stopped while the client was on its way back to its stream'(t) {
      const window = await Window.open(t);
      const proxy = await Proxy.start(window.sandbox, window.companion);
      const client = await window.connect(proxy.env(window.sandbox));
      const { decision } = await propose(window, client, 'open.txt');
      await endStreams(window, proxy);
      await window.stop();
      await window.start();
      assert.deepEqual(await decision, REJECTED);
      await window.assertGoesOn(client);
    },
  };
  for (const seconds of [0.2, 1, 5, 15]) {
    scenarios[`that it was down for ${seconds} s`] = async (t) => {
      const window = await Window.open(t);
      const client = await window.connect();
      const { decision } = await propose(window, client, 'open.txt');
      await window.stop();
      assert.deepEqual(await decision, REJECTED);
      await sleep(seconds * 1000);
      await window.start();
      await window.assertGoesOn(client);
    };
  }
  await Promise.all(Object.entries(scenarios).map(([name, run]) => t.test(name, run)));
});

/** Waits until the next companion would know of `file`, and which text the user accepted. */
async function saved(window, file, content) {
  const [state] = window.states();
  await until(() => {
    const { answers } = JSON.parse(fs.readFileSync(state, 'utf8'));
    return answers.some((answer) => answer.path === file && answer.content === content);
  });
}

/** Waits for what nobody tells. */
async function until(condition) {
  const deadline = Date.now() + PATIENCE;
  while (!condition()) {
    assert.ok(Date.now() < deadline, `it did not come to that: ${condition}`);
    await sleep(10);
  }
}

/** The status of a request in a session of another companion. */
async function statusIn(companion, session) {
  const there = new Session(undefined, companion);
  there.headers = session.headers;
  return (await there.post(there.message('ping'))).status;
}

test('the address stays, and what it is made of is private', async (t) => {
  const window = await Window.open(t);
  const before = window.companion.ready;
  const [state] = window.states();
  const { secret } = JSON.parse(fs.readFileSync(state, 'utf8'));
  assert.equal(fs.statSync(state).mode & 0o777, 0o600);
  assert.equal(fs.statSync(path.dirname(state)).mode & 0o777, 0o700);
  await window.stop();
  await window.start();
  assert.deepEqual(window.companion.ready, before);
  await window.stop();
  for (const told of [secret, before.authToken]) {
    assert.ok(told.length >= 64 && !window.log.includes(told));
  }
});

test('a port that was taken meanwhile costs the client its connection, and the log says so', async (t) => {
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
  const file = JSON.parse(fs.readFileSync(ready.discoveryFile, 'utf8'));
  assert.deepEqual([file.port, file.authToken], [ready.port, ready.authToken]);
  assert.equal(fs.existsSync(old.discoveryFile), true, 'its port is answered, if not by us');
  await window.companion.logged(
    new RegExp(`WARN.*can't listen on port ${old.port} again: Address already in use.*/ide enable`),
  );
  assert.equal(await statusIn(window.companion, session), 404);
  await IdeClient.connect(window.sandbox, {
    env: { ...ready.env, TERM_PROGRAM: 'vscode' },
  });
});

test('two companions of one folder keep what is each one’s own', async (t) => {
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
    await window.companion.logged(new RegExp(`WARN.*${why}.*starting afresh`));
    assert.equal(fs.lstatSync(state).isSymbolicLink(), false);
    assert.equal(fs.lstatSync(state).mode & 0o777, 0o600);
  }
});

test('without --resume nothing is kept', async (t) => {
  const sandbox = Sandbox.of(t);
  const first = await Companion.start(sandbox);
  const session = await Session.open(sandbox, first);
  await first.close();
  const second = await Companion.start(sandbox, { args: ['--port', `${first.ready.port}`] });
  assert.notEqual(second.ready.authToken, first.ready.authToken);
  assert.equal(await statusIn(second, session), 404);
  assert.deepEqual(fs.readdirSync(sandbox.home), []);
});

test('a state directory that can’t be used costs nothing but the restart', async (t) => {
  const sandbox = Sandbox.of(t);
  fs.writeFileSync(path.join(sandbox.home, '.local'), '');
  const companion = await Companion.start(sandbox, { args: ['--resume'] });
  await companion.logged(/WARN.*a restart will disconnect the CLIs: /);
  await IdeClient.connect(sandbox);
});
