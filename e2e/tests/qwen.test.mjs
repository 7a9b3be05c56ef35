// Tests Qwen Code beside Gemini CLI: the real client from its bundle finds the companion and
// behaves like Gemini CLI.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { REJECTED, UNCHANGED, accepted } from '../lib/decision.mjs';
import { Editor } from '../lib/editor.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { QWEN_CLIENT, locks, qwenHome } from '../lib/qwen-code.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { Window } from '../lib/window.mjs';

const connect = (sandbox, options) =>
  IdeClient.connect(sandbox, { module: QWEN_CLIENT, ...options });

/** A window of a Qwen Code user. */
async function openWindow(t, options) {
  const sandbox = Sandbox.of(t);
  const home = qwenHome(sandbox);
  const companion = await Companion.start(sandbox, options);
  return { sandbox, home, companion, editor: new Editor(companion) };
}

const startNamed = (sandbox, name) =>
  Companion.start(sandbox, { args: ['--ide-display-name', name] });

test('in any terminal it connects, and gets the open files and the selection', async (t) => {
  const { sandbox, companion } = await openWindow(t, { args: ['--ide-display-name', 'Editor'] });
  const client = await connect(sandbox, { cwd: sandbox.folder('project', 'sub', 'folder') });
  assert.equal(await client.displayName(), 'Editor');
  assert.equal(await client.isDiffingEnabled(), true);
  const file = sandbox.file('a.txt', 'one two');
  companion.notify('editor/focused', { path: file });
  companion.notify('editor/cursor', { path: file, line: 1, character: 5 });
  companion.notify('editor/selection', { path: file, text: 'two' });
  const [open] = await client.openFiles((files) => files[0]?.selectedText === 'two');
  assert.deepEqual([open.path, open.cursor], [file, { line: 1, character: 5 }]);
});

test('one of several roots suffices, with any name', async (t) => {
  const sandbox = Sandbox.of(t);
  qwenHome(sandbox);
  const roots = ['first', 'with blanks and é', '文件夹 100% [x]'].map((name) => sandbox.folder(name));
  await Companion.start(sandbox, { workspace: roots });
  for (const cwd of roots) await (await connect(sandbox, { cwd })).close();
  const outside = await IdeClient.start(sandbox, { module: QWEN_CLIENT });
  assert.equal((await outside.connect()).status, 'disconnected');
});

test('of several editors of one folder it takes the newest, or the terminal’s own', async (t) => {
  const sandbox = Sandbox.of(t);
  const home = qwenHome(sandbox);
  const windows = [];
  for (const name of ['older', 'newer']) windows.push(await startNamed(sandbox, name));
  // The times of files are as fine as the file system has them.
  const [older, newer] = windows.map(({ ready }) => ready.discoveryFiles.qwen);
  assert.deepEqual(locks(home).sort(), [older, newer].sort());
  fs.utimesSync(older, new Date(), new Date(Date.now() - 10_000));
  for (const [index, name, env] of [
    [1, 'newer', {}],
    [0, 'older', windows[0].ready.env],
    [1, 'newer', windows[1].ready.env],
  ]) {
    const client = await connect(sandbox, { env });
    assert.equal(await client.displayName(), name);
    assert.equal((await windows[index].next('companion/clients')).params.count, 1);
    await client.close();
    assert.equal((await windows[index].next('companion/clients')).params.count, 0);
  }
});

test('it and Gemini CLI review at the same time, each its own edits', async (t) => {
  const { sandbox, companion, editor } = await openWindow(t);
  const clients = [await IdeClient.connect(sandbox), await connect(sandbox)];
  await companion.inbox.next(({ params }) => params?.count === 2);
  const files = ['gemini.txt', 'qwen.txt'].map((name) => sandbox.file(name, 'old'));
  const decisions = clients.map((client, index) => client.openDiff(files[index], `for ${index}`));
  for (const file of files) await editor.view(file);
  editor.accept(files[1], 'by the user');
  assert.deepEqual(await decisions[1], accepted('by the user'));
  editor.reject(files[0]);
  assert.deepEqual(await decisions[0], REJECTED);

  // For the same file the newer proposal replaces the older one, from any client.
  for (const [first, second] of [clients, clients.toReversed()]) {
    const { decision: earlier } = await first.propose(editor, files[0], 'first');
    const later = second.openDiff(files[0], 'second');
    assert.deepEqual(await earlier, REJECTED);
    assert.equal((await editor.view(files[0])).newContent, 'second');
    editor.accept(files[0]);
    // Gemini CLI has an unchanged edit left to itself.
    assert.deepEqual(await later, second === clients[0] ? UNCHANGED : accepted('second'));
  }
});

test('it does not notice that the editor’s companion was killed and comes back', async (t) => {
  const window = await Window.open(t, qwenHome);
  const client = await window.connect(undefined, QWEN_CLIENT);
  await window.kill();
  await window.start();
  await window.assertGoesOn(client);
});

test('terminals have the variables for both clients, and no others', async (t) => {
  const elsewhere = ['GEMINI_CLI', 'QWEN_CODE'].flatMap((client) =>
    ['COMMAND', 'ARGS'].map((what) => `${client}_IDE_SERVER_STDIO_${what}`),
  );
  // The editor was started in a terminal with another companion's variables.
  const machine = { prefix: () => ['env', ...elsewhere.map((name) => `${name}=another`)] };
  const { sandbox, companion } = await openWindow(t, { machine });
  const { env, port } = companion.ready;
  for (const client of ['GEMINI_CLI', 'QWEN_CODE']) {
    assert.equal(env[`${client}_IDE_SERVER_PORT`], String(port));
    assert.equal(env[`${client}_IDE_WORKSPACE_PATH`], sandbox.project);
  }
  for (const name of elsewhere) assert.equal(env[name], '', name);
  const client = await connect(sandbox, { env });
  await client.close();
});

test('a companion for some clients has files and variables for those only', async (t) => {
  for (const [clients, other] of [
    ['gemini', 'qwen'],
    ['qwen', 'gemini'],
  ]) {
    const { companion } = await openWindow(t, { args: ['--clients', clients] });
    assert.deepEqual(Object.keys(companion.ready.discoveryFiles), [clients]);
    const named = (id) =>
      Object.keys(companion.ready.env).filter((name) => name.startsWith(`${id.toUpperCase()}_C`));
    assert.ok(named(clients).length > 0);
    assert.deepEqual(named(other), []);
  }
});
