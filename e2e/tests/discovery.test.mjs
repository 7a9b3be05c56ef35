// Tests how a client finds its window: by process, workspace and port.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { closedPort } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const startNamed = (sandbox, name, { args = [], ...options } = {}) =>
  Companion.start(sandbox, { args: ['--ide-display-name', name, ...args], ...options });

/** Starts and connects a client, and checks that the window `name` has it. */
async function connectTo(sandbox, companion, name, options) {
  const client = await IdeClient.connect(sandbox, options);
  assert.equal(await client.displayName(), name);
  const { params } = await companion.next('companion/clients');
  assert.equal(params.count, 1);
  await client.close();
  assert.equal((await companion.next('companion/clients')).params.count, 0);
}

test('the client finds the window whose process the terminal names', async (t) => {
  const sandbox = Sandbox.of(t);
  const pids = [process.pid, process.ppid].map(String);
  const windows = [];
  for (const pid of pids)
    windows.push(await startNamed(sandbox, pid, { args: ['--ide-pid', pid] }));
  for (const [index, pid] of pids.entries()) {
    await connectTo(sandbox, windows[index], pid, { env: { GEMINI_CLI_IDE_PID: pid } });
  }
});

test('without variables in the terminal the client finds the editor that it runs in', async (t) => {
  const sandbox = Sandbox.of(t);
  const own = await startNamed(sandbox, 'own');
  await startNamed(sandbox, 'newer', { args: ['--ide-pid', String(own.pid)] });
  await connectTo(sandbox, own, 'own', { inTerminal: true });
});

test('a client outside the editor finds the window with its workspace', async (t) => {
  const sandbox = Sandbox.of(t);
  const companion = await startNamed(sandbox, 'here');
  await startNamed(sandbox, 'elsewhere', { workspace: [sandbox.folder('elsewhere')] });
  await connectTo(sandbox, companion, 'here');
  await connectTo(sandbox, companion, 'here', { cwd: sandbox.folder('project', 'sub', 'folder') });
});

test('a file of a killed editor whose process id is in use again keeps no client off', async (t) => {
  const sandbox = Sandbox.of(t);
  const port = await closedPort();
  const folder = sandbox.folder('tmp', 'gemini', 'ide');
  const file = path.join(folder, `gemini-ide-server-${process.pid}-${port}.json`);
  const ideInfo = { name: 'killed', displayName: 'killed' };
  const content = { port, workspacePath: sandbox.project, authToken: 'of a test', ideInfo };
  fs.writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
  const yesterday = new Date(Date.now() - 24 * 60 * 60 * 1000);
  fs.utimesSync(file, yesterday, yesterday);
  const companion = await startNamed(sandbox, 'here', { args: ['--ide-pid', String(process.ppid)] });
  await until('the file is gone', () => !fs.existsSync(file));
  await connectTo(sandbox, companion, 'here');
});

test('an editor and its workspace may have any name, and the workspace be reached by a link', async (t) => {
  const sandbox = Sandbox.of(t);
  const folder = sandbox.folder(`a b, é e\u0301 文 😀 100% "q" 'q' $HOME`);
  const link = path.join(sandbox.root, 'link');
  fs.symlinkSync(folder, link);
  const companion = await startNamed(sandbox, 'linked “ünïcode”', { workspace: [link] });
  await connectTo(sandbox, companion, 'linked “ünïcode”', { cwd: folder });
  await connectTo(sandbox, companion, 'linked “ünïcode”', { cwd: link });
});

test('the workspace selects one of two windows of a process', async (t) => {
  const sandbox = Sandbox.of(t);
  const [left, right] = [sandbox.folder('left'), sandbox.folder('right')];
  const args = ['--ide-pid', String(process.pid)];
  const windows = [
    [left, await startNamed(sandbox, 'left', { args, workspace: [left] })],
    [right, await startNamed(sandbox, 'right', { args, workspace: [right] })],
  ];
  for (const [cwd, companion] of windows) {
    const env = { GEMINI_CLI_IDE_PID: String(process.pid) };
    await connectTo(sandbox, companion, path.basename(cwd), { cwd, env });
  }
});

test('the terminal’s port selects one of two windows with the same workspace', async (t) => {
  const sandbox = Sandbox.of(t);
  const first = await startNamed(sandbox, 'first');
  const second = await startNamed(sandbox, 'second');
  await connectTo(sandbox, first, 'first', { env: first.ready.env });
  await connectTo(sandbox, second, 'second', { env: second.ready.env });
});
