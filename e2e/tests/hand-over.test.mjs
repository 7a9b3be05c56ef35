// Tests that a client goes on with another editor of its folder when its own one ends. A client
// whose stream has ended reconnects after 20 s, so the scenarios run concurrently.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'node:test';

import { accepted } from '../lib/decision.mjs';
import { until } from '../lib/inbox.mjs';
import { Session } from '../lib/http.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { Window, endStreams, propose, stateFiles } from '../lib/window.mjs';

/** Returns the state files with this token. A companion may remove or replace a file meanwhile. */
function statesWith(sandbox, token) {
  const has = (file) => {
    try {
      return fs.readFileSync(file, 'utf8').includes(token);
    } catch (error) {
      if (error.code === 'ENOENT') return false;
      throw error;
    }
  };
  return stateFiles(sandbox).filter(has);
}

/** An editor with its companion, and a process that stands for the editor. */
class EditorProcess extends Window {
  #process;

  static async open(sandbox, name, ...args) {
    const editor = new EditorProcess();
    editor.sandbox = sandbox;
    editor.#process = spawn('sleep', ['600']);
    sandbox.defer(() => editor.#end());
    editor.args = ['--ide-name', name, '--ide-pid', `${editor.#process.pid}`, ...args];
    await editor.start();
    return editor;
  }

  async start(...args) {
    await super.start(...this.args, ...args);
  }

  async #end() {
    if (this.#process.exitCode ?? this.#process.signalCode) return;
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exit;
  }

  /** The user quits the editor, which waits for its companion. */
  async quit() {
    await this.stop();
    await this.#end();
  }

  /** The system kills the editor and its companion. */
  async killAll() {
    await this.#end();
    await this.kill();
  }

  states() {
    return statesWith(this.sandbox, this.companion.ready.authToken);
  }

  /** Waits until the companion goes on with the clients of `other`. */
  async hasTaken(other) {
    await this.companion.logged(/going on with its clients/);
    const { authToken } = other.companion.ready;
    const [own] = this.states();
    await until('its file is gone', () => {
      const states = statesWith(this.sandbox, authToken);
      return states.length === 1 && states[0] === own;
    });
  }

  /** A client of this editor, as in its terminal. */
  async connectHere() {
    return await this.connect(this.companion.ready.env);
  }
}

async function two(t, ...args) {
  const sandbox = Sandbox.of(t);
  const first = await EditorProcess.open(sandbox, 'first', ...args);
  const second = await EditorProcess.open(sandbox, 'second');
  return { sandbox, first, second };
}

/** The client notices that it has no companion any more. */
async function isLost(client) {
  await assert.rejects(client.openDiff('/lost.txt', 'text'));
  assert.equal(await client.status(), 'disconnected');
}

test('a client goes on with the other editor', { concurrency: true }, async (t) => {
  const scenarios = {
    async 'when its own one is killed'(t) {
      const { first, second } = await two(t);
      const client = await first.connectHere();
      await first.killAll();
      await second.hasTaken(first);
      await second.assertGoesOn(client);
    },

    async 'and receives what the user had decided in its own one'(t) {
      const { sandbox, first, second } = await two(t);
      const proxy = await Proxy.start(sandbox, first.companion);
      const client = await first.connect(proxy.env);
      const { file, decision } = await propose(first, client, 'decided.txt');
      await endStreams(first, proxy);
      first.editor.accept(file, 'the final text');
      await first.quit();
      await second.hasTaken(first);
      assert.deepEqual(await decision, accepted('the final text'));
    },

    async 'when several end, one after the other'(t) {
      const { sandbox, first, second } = await two(t);
      const clients = [await first.connectHere(), await second.connectHere()];
      const third = await EditorProcess.open(sandbox, 'third');
      await first.quit();
      // One of the two others has it.
      const taker = await Promise.any([
        second.hasTaken(first).then(() => second),
        third.hasTaken(first).then(() => third),
      ]);
      const last = taker === second ? third : second;
      await taker.quit();
      if (taker === second) await last.hasTaken(second);
      await last.hasTaken(first);
      for (const client of clients) await last.assertGoesOn(client);
    },
  };
  await Promise.all(Object.entries(scenarios).map(([name, scenario]) => t.test(name, scenario)));
});

/** Returns the status of an `initialize` with this token, at this port. */
async function initialize({ port }, { authToken }) {
  const reply = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${authToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} }),
  });
  const session = reply.headers.get('mcp-session-id');
  return { status: reply.status, session };
}

test('each token counts only at its own port, until its last session is gone', async (t) => {
  const { sandbox, first, second } = await two(t);
  const session = await Session.open(sandbox, first.companion);
  await first.quit();
  await second.hasTaken(first);
  const [old, own] = [first.companion.ready, second.companion.ready];
  assert.equal((await initialize(old, own)).status, 401);
  assert.equal((await initialize(own, old)).status, 401);
  const later = await initialize(old, old);
  assert.equal(later.status, 200);

  await session.delete();
  // A look closes what nobody needs, and comes with each other companion.
  await (await EditorProcess.open(sandbox, 'third')).quit();
  const headers = { 'mcp-session-id': later.session, authorization: `Bearer ${old.authToken}` };
  const url = `http://127.0.0.1:${old.port}/mcp`;
  const deleted = await fetch(url, { method: 'DELETE', headers });
  assert.equal(deleted.status, 204, 'it is served as long as it has a session');
  await EditorProcess.open(sandbox, 'fourth');
  await until('the port is closed', async () => {
    const socket = net.connect(old.port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return !isOpen;
  });
  assert.equal(statesWith(sandbox, old.authToken).length, 0);
});

test('an editor that has taken over clients serves them again after its restart', async (t) => {
  const { sandbox, first, second } = await two(t);
  const session = await Session.open(sandbox, first.companion);
  await first.quit();
  await second.hasTaken(first);
  await second.kill();
  await second.start();
  const pong = () => session.ask('ping').catch(() => undefined);
  assert.deepEqual((await until('it listens at their port', pong)).result, {});
});

test('a client does not go on with an editor', { concurrency: true }, async (t) => {
  const scenarios = {
    async 'if another program has taken the port meanwhile'(t) {
      const { sandbox, first, second } = await two(t);
      const client = await first.connectHere();
      const { port, authToken } = first.companion.ready;
      // Its editor lives, so there is time.
      await first.kill();
      const server = net.createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
      sandbox.defer(() => server.close());
      await once(server, 'listening');
      await second.companion.logged(/not listening on port \d+ of another companion/);
      await until('the token is gone', () => statesWith(sandbox, authToken).length === 0);
      await isLost(client);
    },

    async 'if others can read what its own one has left'(t) {
      const { sandbox, first, second } = await two(t);
      const client = await first.connectHere();
      await first.kill();
      const { authToken } = first.companion.ready;
      for (const file of statesWith(sandbox, authToken)) fs.chmodSync(file, 0o644);
      await second.companion.logged(/ignoring resume data of another companion/);
      assert.doesNotMatch(second.companion.log, /going on/);
      await isLost(client);
    },
  };
  await Promise.all(Object.entries(scenarios).map(([name, scenario]) => t.test(name, scenario)));
});
