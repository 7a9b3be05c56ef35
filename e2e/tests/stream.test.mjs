// Tests a client's notification stream under silence, orderly ends, losses and breaks.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Companion } from '../lib/companion.mjs';
import { REJECTED, accepted } from '../lib/decision.mjs';
import { Session } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { openWindow, openWindowWithClient } from '../lib/scene.mjs';

/** A window with a client that connects through a proxy. */
async function openWindowBehindProxy(t) {
  const window = await openWindow(t);
  const { sandbox, companion } = window;
  const proxy = await Proxy.start(sandbox, companion);
  const client = await IdeClient.connect(sandbox, { env: proxy.env });
  assert.equal(await proxy.opened.next(), undefined);
  assert.equal((await companion.next('companion/clients')).params.count, 1);
  client.events.status.takeAll();
  return { ...window, proxy, client };
}

async function breakOff({ proxy, companion }, how) {
  proxy[how]();
  assert.equal((await companion.next('companion/clients')).params.count, 0);
}

/** Waits until the client has reconnected, and asserts that it noticed nothing. */
async function assertBack({ proxy, companion, client }) {
  assert.match(await proxy.opened.next(), /./, 'it says what it had received');
  assert.equal((await companion.next('companion/clients')).params.count, 1);
  assert.deepEqual(client.events.status.takeAll(), []);
  assert.equal(await client.status(), 'connected');
}

// These tests wait 20 s: the companion makes a client wait that long after its stream has ended.
describe('a client whose stream has ended', { concurrency: true }, () => {
  for (const [how, name] of [
    ['end', 'in order'],
    // The companion sends `Connection: close`, so that the client's HTTP library (undici) permits a
    // reset at the end of a body. Without that header a reset would disconnect permanently.
    ['cut', 'by a reset'],
  ]) {
    test(`${name} reconnects, and gets the missed messages`, async (t) => {
      const window = await openWindowBehindProxy(t);
      const { sandbox, companion, editor, client } = window;
      const file = sandbox.file('a.txt');
      const { decision } = await client.propose(editor, file, 'proposed');
      await breakOff(window, how);
      editor.accept(file, 'decided meanwhile');
      companion.notify('editor/focused', { path: file });
      companion.notify('editor/cursor', { path: file, line: 5, character: 6 });
      await assertBack(window);
      assert.deepEqual(await decision, accepted('decided meanwhile'));
      const [shown] = await client.openFiles((files) => files.length > 0);
      assert.deepEqual([shown.path, shown.cursor], [file, { line: 5, character: 6 }]);
    });
  }

  test('gets a lost decision again', async (t) => {
    const window = await openWindowBehindProxy(t);
    const { sandbox, companion, editor, proxy, client } = window;
    const file = sandbox.file('a.txt');
    const { decision } = await client.propose(editor, file, 'proposed');
    const watcher = await (await Session.open(sandbox, companion)).stream();
    assert.equal((await companion.next('companion/clients')).params.count, 2);
    await watcher.next();
    proxy.stall();
    editor.accept(file, 'decided');
    companion.notify('editor/focused', { path: file });
    await watcher.next(); // the decision before it has been sent by now
    await watcher.close();
    assert.equal((await companion.next('companion/clients')).params.count, 1);
    await breakOff(window, 'end');
    await assertBack(window);
    assert.deepEqual(await decision, accepted('decided'));
  });

  test('gets the user’s edits from the editor when it is also accepted in the terminal', async (t) => {
    const window = await openWindowBehindProxy(t);
    const { sandbox, companion, editor, client } = window;
    const file = sandbox.file('a.txt');
    const { decision } = await client.propose(editor, file, 'proposed');
    await breakOff(window, 'end');
    editor.accept(file, 'edited and accepted');
    // The companion takes the editor's words in order; it has that one once it has this.
    companion.notify('editor/focused', { path: file });
    const watcher = await (await Session.open(sandbox, companion)).stream();
    await watcher.messages.next((message) => JSON.stringify(message).includes('a.txt'));
    await client.resolveDiffFromCli(file, 'accepted');
    assert.deepEqual(await decision, accepted('edited and accepted'));

    // The decision is sent once: the next proposal for the file is new.
    const { decision: next } = await client.propose(editor, file, 'proposed again');
    await companion.next('companion/clients');
    await watcher.close();
    await companion.next('companion/clients');
    await assertBack(window);
    editor.accept(file, 'accepted again');
    assert.deepEqual(await next, accepted('accepted again'));
  });

  test('because the editor quit finds the next one when its user asks for it', async (t) => {
    const { sandbox, companion, client } = await openWindowWithClient(t);
    client.events.status.takeAll();
    await companion.close();
    const next = await Companion.start(sandbox);
    const lost = await client.events.status.next();
    assert.match(lost.details, /reconnecting by running \/ide enable/);
    assert.equal((await client.connect()).status, 'connected');
    assert.equal((await next.next('companion/clients')).params.count, 1);
  });
});

// Here the time itself is the test.
const FIVE_MINUTES = {
  concurrency: true,
  skip: process.env.COMPANION_TEST_LONG !== '1' && 'it takes five minutes',
};

describe('after five minutes', FIVE_MINUTES, () => {
  // It gives up after 300 s without a byte.
  test('of silence a client gets notifications', async (t) => {
    const { sandbox, companion, client } = await openWindowWithClient(t);
    client.events.status.takeAll();
    await sleep(301_000);
    assert.equal(await client.status(), 'connected');
    const file = sandbox.file('a.txt');
    companion.notify('editor/focused', { path: file });
    await client.openFiles((files) => files[0]?.path === file);
    assert.deepEqual(client.events.status.takeAll(), []);
  });

  // By a 404 it would be disconnected, and wait for its diff for ever.
  test('of suspension a client gets the rejection of its diff', async (t) => {
    const window = await openWindowBehindProxy(t);
    const { sandbox, editor, client } = window;
    const file = sandbox.file('a.txt');
    const decision = client.openDiff(file, 'proposed', 400_000);
    await editor.view(file);
    client.signal('SIGSTOP');
    await breakOff(window, 'end');
    await sleep(300_000);
    assert.equal(await editor.closed.next(), file);
    client.signal('SIGCONT');
    await assertBack(window);
    assert.deepEqual(await decision, REJECTED);
  });
});
