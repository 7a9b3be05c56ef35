// Tests that a reason and the review of every edit belong to the CLI that the user means, with
// several CLIs whose sessions change: the view's promise of a reason holds.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { bridgeEnv, byDiscovery } from '../lib/bridge.mjs';
import { Companion } from '../lib/companion.mjs';
import { REJECTED } from '../lib/decision.mjs';
import { Editor } from '../lib/editor.mjs';
import { startCli } from '../lib/notes.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { openWindow } from '../lib/scene.mjs';
import { Window } from '../lib/window.mjs';

const REASON = 'not so';

/** Makes a CLI open a diff of a file. Returns its decision, and when a reason would arrive. */
async function openDiff({ editor }, { client }, file) {
  const { decision } = await client.propose(editor, file, 'new\n');
  return { file, decision, arrival: editor.reasons.get(file) };
}

/**
 * Rejects a diff with a reason, and asserts that the CLI and its model get the reason when the view has said,
 * and the other CLIs nothing.
 */
async function assertHolds({ editor }, cli, { file, decision, arrival }, others) {
  const before = fs.readFileSync(file, 'utf8');
  editor.reject(file, REASON);
  const { status, content } = await decision;
  assert.equal(await notesOf(others), '', 'another CLI gets the reason');
  if (arrival === 'now') {
    // The client writes the file's own text, and its hook gets the reason.
    assert.deepEqual([status, content], ['accepted', before]);
    const display = { filePath: file, originalContent: before, newContent: before };
    const note = await cli.hooks.after(file, { tool_response: { returnDisplay: display } });
    assert.match(note, /rejected this edit of .*not so/);
    assert.equal(await cli.hooks.prompt('and now'), '', 'it gets it once');
  } else {
    assert.deepEqual({ status, content }, REJECTED);
    const note = await cli.hooks.prompt('and now');
    if (arrival === 'nextPrompt') assert.match(note, /rejected your last edit of .*not so/);
    else assert.equal(note, '', 'the view has said that the reason is lost');
  }
  assert.equal(await notesOf(others), '');
}

/** What the models of CLIs get with further events. */
async function notesOf(clis) {
  let note = '';
  for (const { hooks } of clis) {
    note += await hooks.after('other');
    note += await hooks.prompt('go on');
  }
  return note;
}

/** A CLI whose connection leads through a port of another process. */
async function startForwarded(window, session) {
  const proxy = await Proxy.start(window.sandbox, window.companion);
  return startCli(window, session, { env: proxy.env });
}

async function open(t, options) {
  const window = await openWindow(t, options);
  return { ...window, file: window.sandbox.file('a', 'one\n') };
}

test('a reason for one of two CLIs that go on with the same session reaches its own process', async (t) => {
  const window = await open(t);
  const [first, second] = [await startCli(window, 'a'), await startCli(window, 'a')];
  for (const [own, other] of [
    [first, second],
    [second, first],
  ]) {
    await own.hooks.before(window.file);
    const diff = await openDiff(window, own, window.file);
    await assertHolds(window, own, diff, [other]);
  }
});

test('the hooks of a CLI reach its own companion although a later one comes first', async (t) => {
  const window = await open(t);
  const cli = await startCli(window, 'a');
  // A CLI without the variable for the port prefers the editor with the highest process id.
  const args = ['--ide-pid', `${window.companion.pid}`];
  const later = await Companion.start(window.sandbox, { args });
  new Editor(later);
  await cli.hooks.before(window.file);
  const diff = await openDiff(window, cli, window.file);
  assert.equal(diff.arrival, 'now');
  await assertHolds(window, cli, diff, []);
  assert.deepEqual(later.inbox.takeAll(), []);
});

test('a CLI that is not connected is asked for no review', async (t) => {
  const window = await open(t, { args: ['--review-all'] });
  const connected = await startCli(window, 'a');
  assert.equal(await connected.hooks.before(window.file), 'ask');
  const other = await startCli(window, 'b', { connected: false });
  assert.equal(await other.hooks.before(window.file), undefined);
});

test('an editor learns which CLIs run hooks, and which reason no model gets', async (t) => {
  const window = await open(t);
  const { companion, editor, file } = window;
  const cli = await startCli(window, 'a');
  const unhooked = async () => {
    const { clis } = await companion.request('companion/status', {});
    return clis.filter(({ awaitsHook }) => awaitsHook).length;
  };
  assert.equal(await unhooked(), 1);
  const diff = await openDiff(window, cli, file);
  assert.equal(diff.arrival, 'never');
  editor.reject(file, REASON);
  assert.deepEqual(await diff.decision, REJECTED);
  const { filePath, reason, why } = (await companion.next('diff/reasonLost')).params;
  assert.deepEqual([filePath, reason], [file, REASON]);
  assert.match(why, /runs no hooks/);
  await cli.hooks.prompt('go');
  assert.equal(await unhooked(), 0);
});

describe('a reason arrives at once', { concurrency: 3 }, () => {
  const throughBridge = (window, session, options) =>
    startCli(window, session, { env: bridgeEnv(window.sandbox, byDiscovery(window.sandbox), options) });
  /** As npm's: the program is not a child of the CLI. */
  function throughLauncher(window, session) {
    const text = `#!/bin/sh\n"${process.env.GEMINI_COMPANION}" "$@"\nexit $?\n`;
    const program = window.sandbox.file('bin/gemini-companion', text);
    fs.chmodSync(program, 0o755);
    return throughBridge(window, session, { program });
  }
  async function startWithPrompt(window, session) {
    const cli = await startCli(window, session);
    await cli.hooks.prompt('go');
    return cli;
  }
  for (const [way, start, startOther] of [
    ['one of two bridges', throughBridge, throughBridge],
    ['a bridge that a launcher starts', throughLauncher],
    ['a forwarded port, where the companion sees another process', startForwarded, startWithPrompt],
  ]) {
    test(`through ${way}`, async (t) => {
      const window = await open(t);
      const own = await start(window, 'a');
      const others = startOther ? [await startOther(window, 'b')] : [];
      await own.hooks.before(window.file);
      const diff = await openDiff(window, own, window.file);
      assert.equal(diff.arrival, 'now');
      await assertHolds(window, own, diff, others);
    });
  }

  test('right after a restart, before the clients open their streams again', async (t) => {
    const window = await Window.open(t);
    const file = window.sandbox.file('a', 'one\n');
    const clis = [await startCli(window, 'a'), await startCli(window, 'b')];
    for (const { hooks } of clis) await hooks.prompt('go');
    await window.stop();
    await window.start();
    for (const own of clis) {
      await own.hooks.before(file);
      const diff = await openDiff(window, own, file);
      assert.equal(diff.arrival, 'now');
      const others = clis.filter((cli) => cli !== own);
      await assertHolds(window, own, diff, others);
    }
    assert.doesNotMatch(window.companion.log, /is back on its stream/);
  });
});
