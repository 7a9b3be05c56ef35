// Tests `gemini-companion bridge` with the real client, which starts it as its stdio server and
// sees neither the companion's file nor its port.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { bridgeEnv, byDiscovery, byPort } from '../lib/bridge.mjs';
import { Companion } from '../lib/companion.mjs';
import { REJECTED, UNCHANGED, accepted } from '../lib/decision.mjs';
import { Editor } from '../lib/editor.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { openWindow } from '../lib/scene.mjs';
import { Window } from '../lib/window.mjs';
import { assertWorks } from '../lib/smoke-checks.mjs';

const WAIT_1_S = ['--wait', '1'];

/** A window, and a client that can reach it only through a bridge. */
async function openWindowBehindBridge(t, args = byDiscovery) {
  const window = await openWindow(t);
  const env = bridgeEnv(window.sandbox, args(window.sandbox, window.companion));
  return { ...window, client: await IdeClient.connect(window.sandbox, { env }) };
}

describe('through a bridge', { concurrency: 3 }, () => {
  test('that finds the companion, context and diffs work', async (t) => {
    const window = await openWindowBehindBridge(t);
    const file = window.sandbox.file('a b/é文.txt', 'old');
    assert.equal(await window.client.isDiffingEnabled(), true);
    await assertWorks(window, { here: file, there: file });
    assert.equal(window.client.log, '', 'nothing is written over what the CLI shows');
  });

  test('paths are mapped, so that each side sees its own', async (t) => {
    const { sandbox, ...window } = await openWindow(t);
    const work = sandbox.folder('work', 'app');
    const other = sandbox.folder('project', 'lib');
    const lib = sandbox.folder('work-lib');
    const maps = ['--map', `${work}=${sandbox.project}`, '--map', `${lib}=${other}`];
    const env = bridgeEnv(sandbox, [...byDiscovery(sandbox), ...maps], { cwd: work });
    const client = await IdeClient.connect(sandbox, { cwd: work, env });
    for (const [here, there] of [
      [path.join(work, 'a b', 'é文.txt'), sandbox.file('a b/é文.txt', 'old')],
      [path.join(lib, 'x.txt'), sandbox.file('lib/x.txt', 'old')],
    ]) {
      await assertWorks({ ...window, client }, { here, there });
    }
    // Paths without a rule stay unchanged.
    const outside = path.join(sandbox.folder('outside'), 'a.txt');
    fs.writeFileSync(outside, '');
    await assertWorks({ ...window, client }, { here: outside, there: outside });
  });

  test('the client gets a path back byte for byte, however it writes it', async (t) => {
    const { sandbox, ...window } = await openWindow(t);
    const maps = ['--map', `/work=${sandbox.project}`, '--map', `C:\\P=${sandbox.project}`];
    const env = bridgeEnv(sandbox, [...byDiscovery(sandbox), ...maps]);
    const client = await IdeClient.connect(sandbox, { env });
    const there = sandbox.file('a.txt', 'old');
    for (const here of ['/work/a.txt', 'C:\\P\\a.txt', 'c:/p/a.txt', '/work/a.txt']) {
      const decision = client.openDiff(here, here);
      assert.equal((await window.editor.view(there)).newContent, here);
      window.editor.accept(there, `${here}\n`);
      assert.deepEqual(await decision, accepted(`${here}\n`));
    }
  });

  test('the companion gets the acknowledgement of a decision, and deletes it', async (t) => {
    const window = await Window.open(t);
    const { sandbox, editor } = window;
    const client = await window.connect(bridgeEnv(sandbox, byDiscovery(sandbox)));
    const file = sandbox.file('a.txt', 'old');
    const { decision } = await client.propose(editor, file, 'new');
    editor.accept(file, 'the user’s own words');
    assert.deepEqual(await decision, accepted('the user’s own words'));
    await until('its text is gone', () => !window.state().includes('own words'));
  });

  test('large proposals go both ways', async (t) => {
    const window = await openWindowBehindBridge(t);
    const file = window.sandbox.file('a.txt');
    const long = process.env.COMPANION_TEST_LONG === '1';
    const text = '0123456789abcde\n'.repeat((long ? 16 : 3) << 16);
    const decision = window.client.openDiff(file, text);
    assert.equal((await window.editor.view(file)).newContent.length, text.length);
    window.editor.accept(file, `${text}!`);
    assert.equal((await decision).content.length, text.length + 1);
  });
});

describe('when the companion is not there', { concurrency: 4 }, () => {
  test('yet, the bridge waits for it', async (t) => {
    const sandbox = Sandbox.of(t);
    const env = bridgeEnv(sandbox, [...byDiscovery(sandbox), '--wait', '60']);
    const client = await IdeClient.start(sandbox, { env });
    const status = client.connect();
    assert.equal((await client.events.status.next()).status, 'connecting');
    const companion = await Companion.start(sandbox);
    assert.equal((await status).status, 'connected');
    const file = sandbox.file('a.txt');
    const window = { companion, editor: new Editor(companion), client };
    await assertWorks(window, { here: file, there: file });
  });

  test('at all, the CLI reports a failure, and the bridge reports the reason', async (t) => {
    const sandbox = Sandbox.of(t);
    const args = [...byDiscovery(sandbox), '--wait', '0'];
    const client = await IdeClient.start(sandbox, { env: bridgeEnv(sandbox, args) });
    const { status, details } = await client.connect();
    assert.equal(status, 'disconnected');
    assert.match(details, /^Failed to connect to IDE companion extension in /);
    await until('the reason', () => /no usable discovery file in/.test(client.log));
  });

  test('any more, diffs are for the terminal alone, until there is another', async (t) => {
    const args = (sandbox) => [...byDiscovery(sandbox), ...WAIT_1_S];
    const window = await openWindowBehindBridge(t, args);
    const { sandbox, companion, client } = window;
    const file = sandbox.file('a.txt');
    companion.notify('editor/focused', { path: file });
    await client.openFiles((files) => files.length === 1);
    const { decision } = await client.propose(window.editor, file, 'proposed');
    await companion.caughtUp(); // with the editor's answer
    await client.closeDiff(`${file}.2`); // by then the first call has been answered

    await companion.kill();
    assert.deepEqual(await client.openFiles((files) => files.length === 0), []);
    await client.resolveDiffFromCli(file, 'accepted');
    assert.deepEqual(await decision, { status: 'accepted', content: undefined });
    // As from here on the terminal alone asks the user.
    for (const outcome of ['accepted', 'rejected']) {
      const inTerminal = client.openDiff(file, 'again');
      assert.equal(await client.status(), 'connected');
      await client.resolveDiffFromCli(file, outcome);
      assert.deepEqual(await inTerminal, { status: outcome, content: undefined });
    }

    const next = await Companion.start(sandbox);
    const again = { companion: next, editor: new Editor(next), client };
    await client.openFiles((files) => files.length === 0);
    await next.next('companion/clients');
    await assertWorks(again, { here: file, there: file });
    assert.equal(await client.status(), 'connected');
  });

  test('for longer after a crash, an open proposal waits for its editor, not for another one', async (t) => {
    const sandbox = Sandbox.of(t);
    const args = ['--resume', '--keep-proposals'];
    const companion = await Companion.start(sandbox, { args });
    const bridge = [...byDiscovery(sandbox), '--log-level', 'debug'];
    const client = await IdeClient.connect(sandbox, { env: bridgeEnv(sandbox, bridge) });
    const other = await Companion.start(sandbox, { workspace: [sandbox.root] });
    const file = sandbox.file('a.txt', 'old');
    const editor = new Editor(companion);
    const { decision } = await client.propose(editor, file, 'new');
    await companion.caughtUp(); // with the editor's answer
    await client.closeDiff(`${file}.2`); // by then the first call has been answered

    let end;
    decision.then((decided) => (end = decided));
    await companion.kill();
    // The fifth attempt comes after more than a second.
    await until('six attempts', () => end || client.log.match(/not connected/g)?.length >= 6);
    assert.equal(end, undefined);
    const next = await Companion.start(sandbox, { args });
    const proposals = [{ diff: editor.diffs.get(file), newContent: 'new' }];
    assert.equal((await next.request('diff/resume', { proposals })).proposals.length, 1);
    next.notify('diff/accepted', { filePath: file, content: 'typed' });
    assert.deepEqual(await decision, accepted('typed'));

    // One that quits has rejected what was open, so nothing waits for it.
    const { decision: last } = await client.propose(new Editor(next), file, 'last');
    await next.close();
    assert.deepEqual(await last, REJECTED);
    const moved = await client.propose(new Editor(other), file, 'moved');
    assert.equal(await client.status(), 'connected');
    await client.resolveDiffFromCli(file, 'rejected');
    await moved.decision;
  });

  test('while it restarts, the client stays connected and requests wait', async (t) => {
    const window = await openWindowBehindBridge(t, (sandbox) => [
      ...byDiscovery(sandbox),
      '--wait',
      '60',
    ]);
    const { sandbox, companion, client } = window;
    const file = sandbox.file('a.txt');
    const { decision: lost } = await client.propose(window.editor, file, 'proposed');
    client.events.status.takeAll();
    companion.closeStdin();
    assert.deepEqual(await lost, REJECTED);
    await companion.exited();

    const decision = client.openDiff(file, 'again');
    const next = await Companion.start(sandbox);
    const again = { companion: next, editor: new Editor(next), client };
    await again.editor.view(file);
    again.editor.accept(file);
    assert.deepEqual(await decision, UNCHANGED);
    await assertWorks(again, { here: file, there: file });
    assert.deepEqual(client.events.status.takeAll(), []);
  });
});

/** A window, and a client whose bridge connects through a proxy. */
async function openWindowBehindProxy(t, more = []) {
  const window = await openWindow(t);
  const { sandbox, companion } = window;
  const proxy = await Proxy.start(sandbox, companion);
  const { GEMINI_CLI_IDE_SERVER_PORT: port } = proxy.env;
  const args = [...byPort(sandbox, port, companion.ready.authToken), ...more];
  const client = await IdeClient.connect(sandbox, { env: bridgeEnv(sandbox, args) });
  assert.equal(await proxy.opened.next(), undefined);
  return { ...window, proxy, client };
}

describe('when a connection breaks', { concurrency: true }, () => {
  for (const how of ['end', 'cut']) {
    test(`(${how}), a decision that was taken meanwhile arrives`, async (t) => {
      const { sandbox, editor, proxy, client } = await openWindowBehindProxy(t);
      const file = sandbox.file('a.txt');
      const { decision } = await client.propose(editor, file, 'proposed');
      proxy[how]();
      editor.accept(file, 'decided meanwhile');
      assert.match(await proxy.opened.next(), /./, 'it says what it had received');
      assert.deepEqual(await decision, accepted('decided meanwhile'));
      assert.equal(await client.status(), 'connected');
    });
  }

  test('for longer than it waits, the user’s edits before an answer in the terminal still arrive', async (t) => {
    const { sandbox, companion, editor, proxy, client } = await openWindowBehindProxy(t, WAIT_1_S);
    const file = sandbox.file('a.txt');
    companion.notify('editor/focused', { path: file });
    await client.openFiles((files) => files.length === 1);
    const answer = proxy.holdAnswer('closeDiff');
    const { decision } = await client.propose(editor, file, 'proposed');
    editor.edit(file, 'typed');
    // The companion has answered with the text; then the network is down for two seconds.
    answer.then(() => proxy.close());
    const resolved = client.resolveDiffFromCli(file, 'accepted');
    await client.openFiles((files) => files.length === 0);
    await proxy.listen();
    await resolved;
    assert.deepEqual(await decision, accepted('typed'));
  });

  for (const tool of ['openDiff', 'closeDiff']) {
    test(`the user’s edits arrive although the answer to ${tool} was lost`, async (t) => {
      const { sandbox, editor, proxy, client } = await openWindowBehindProxy(t);
      const file = sandbox.file('a.txt');
      for (const text of ['first', 'second']) {
        const answer = proxy.holdAnswer(tool);
        const { decision } = await client.propose(editor, file, 'proposed');
        editor.edit(file, text);
        const lost = answer.then((lose) => lose());
        await client.resolveDiffFromCli(file, 'accepted');
        await lost;
        assert.deepEqual(await decision, accepted(text));
      }
    });
  }
});
