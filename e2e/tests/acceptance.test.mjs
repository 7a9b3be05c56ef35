// Checks the file and the model's history after an acceptance, with the real core of Gemini CLI.
// `nvim-acceptance.test.mjs` has the forms of files.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { bridgeEnv, byDiscovery } from '../lib/bridge.mjs';
import { runCore } from '../lib/gemini-core.mjs';
import { EventStream, Session } from '../lib/http.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { openWindow } from '../lib/scene.mjs';
import { Window, endStreams, saved } from '../lib/window.mjs';

const OLD = 'one\ntwo\nthree\n';
const PROPOSED = 'one\nTWO\nthree\n';
/** Away from the edit, so that both can be had. */
const CHANGED = `zero\n${OLD}`;

const replace = (file_path, old_string = 'two', new_string = 'TWO') => ({
  name: 'replace',
  args: { file_path, old_string, new_string, instruction: 'say it louder' },
});
const write = (file_path, content = PROPOSED) => ({
  name: 'write_file',
  args: { file_path, content },
});

const read = (file) => fs.readFileSync(file, 'utf8');

/** Starts a core whose only edit shows in the editor; returns its result as well. */
async function propose(t, tool, { env = () => ({}) } = {}) {
  const { sandbox, companion, editor } = await openWindow(t);
  const file = sandbox.file('a.txt', OLD);
  const end = runCore(sandbox, [tool(file)], { env: env(sandbox) });
  const { newContent } = await Promise.race([editor.view(file), end]);
  return { sandbox, companion, editor, file, end, newContent };
}

describe('an edit that is accepted unchanged', () => {
  test('is made in the file as it is by then, over a bridge', async (t) => {
    const env = (sandbox) => bridgeEnv(sandbox, byDiscovery(sandbox));
    const { editor, file, end } = await propose(t, replace, { env });
    fs.writeFileSync(file, CHANGED);
    editor.accept(file);
    const { results } = await end;
    assert.match(results[0].output, /Successfully modified/);
    assert.doesNotMatch(results[0].output, /confirmation step modified/);
    assert.equal(read(file), 'zero\none\nTWO\nthree\n');
  });

  test('is refused if its place has changed', async (t) => {
    const { editor, file, end } = await propose(t, replace);
    fs.writeFileSync(file, 'one\n2\nthree\n');
    editor.accept(file);
    const { results } = await end;
    assert.match(results[0].error ?? results[0].output, /Could not find an exact match/);
    assert.equal(read(file), 'one\n2\nthree\n');
  });

  test('replaces the whole file if that is what the tool does', async (t) => {
    const { editor, file, end } = await propose(t, write);
    fs.writeFileSync(file, CHANGED);
    editor.accept(file);
    await end;
    assert.equal(read(file), PROPOSED);
  });

  test('is made after a restart of the companion', async (t) => {
    const window = await Window.open(t);
    const proxy = await Proxy.start(window.sandbox, window.companion);
    const file = window.sandbox.file('a.txt', OLD);
    const env = proxy.env(window.sandbox);
    const end = runCore(window.sandbox, [replace(file)], { env });
    await Promise.race([window.editor.view(file), end]);
    await endStreams(window, proxy);
    fs.writeFileSync(file, CHANGED);
    window.editor.accept(file);
    await saved(window, file, '');
    await window.stop();
    await window.start();
    const { results } = await end;
    assert.match(results[0].output, /Successfully modified/);
    assert.equal(read(file), 'zero\none\nTWO\nthree\n');
  });
});

test('an edited proposal is written as a whole', async (t) => {
  for (const tool of [replace, write]) {
    const { editor, file, end } = await propose(t, tool);
    fs.writeFileSync(file, CHANGED);
    editor.accept(file, `${PROPOSED}mine\n`);
    const { results } = await end;
    assert.match(results[0].output, /mine/, 'the model reads what the user has written');
    assert.equal(read(file), `${PROPOSED}mine\n`);
  }
});

test('an edited proposal of a file that is gone creates it', async (t) => {
  for (const tool of [replace, write]) {
    const { editor, file, end } = await propose(t, tool);
    fs.rmSync(file);
    editor.accept(file, `${PROPOSED}mine\n`);
    await end;
    assert.equal(read(file), `${PROPOSED}mine\n`);
  }
});

test('an emptied proposal is not written as it was proposed', async (t) => {
  const { editor, file, end } = await propose(t, write);
  editor.accept(file, '');
  await end;
  assert.equal(read(file), '\n');
});

test('two unchanged edits of a large file leave the model’s history small', async (t) => {
  const { sandbox, editor } = await openWindow(t);
  const line = (_, number) => `let value_${number} = compute(${number}, "some text here");\n`;
  const old = Array.from({ length: 1000 }, line).join('');
  const file = sandbox.file('a.txt', old);
  const calls = [7, 8].map((n) => replace(file, `value_${n} =`, `other_${n} =`));
  const end = runCore(sandbox, calls);
  for (const _ of calls) {
    await Promise.race([editor.view(file), end]);
    editor.accept(file);
  }
  const { history } = await end;
  assert.equal(read(file), old.replace('value_7 =', 'other_7 =').replace('value_8 =', 'other_8 ='));
  t.diagnostic(`${history} characters of history for a file of ${old.length}`);
  assert.ok(history < 5000, `${history} characters`);
});

test('other clients receive the whole text', async (t) => {
  const { sandbox, companion, editor } = await openWindow(t);
  const file = sandbox.file('a.txt', OLD);
  const program = await Session.open(sandbox, companion);
  const stream = await program.stream();
  const open = () => program.callTool('openDiff', { filePath: file, newContent: PROPOSED });
  await open();
  editor.accept(file);
  const { params } = await stream.messages.next(({ method }) => method === 'ide/diffAccepted');
  assert.equal(params.content, PROPOSED);

  await open();
  const closed = await program.callTool('closeDiff', { filePath: file, suppressNotification: true });
  assert.deepEqual(JSON.parse(closed.content[0].text), { content: PROPOSED });

  await open();
  await program.callTool('acceptDiff', { filePath: file });
  assert.equal(read(file), PROPOSED, 'nobody else writes it');
});

test('the watchers of a client receive the whole text', async (t) => {
  const { sandbox, companion, editor } = await openWindow(t);
  const watcher = await EventStream.open(sandbox, companion, '/events');
  const file = sandbox.file('a.txt', OLD);
  const end = runCore(sandbox, [replace(file)]);
  await Promise.race([editor.view(file), end]);
  editor.accept(file);
  const { params } = await watcher.messages.next(
    ({ method }) => method === 'notifications/ide/diffAccepted',
  );
  assert.equal(params.content, PROPOSED);
  await end;
});
