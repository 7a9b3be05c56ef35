// Tests hostile conditions for Qwen Code's discovery file: a folder that appears late, is
// elsewhere, is foreign or full, clients that remove the file, and foreign files beside it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { noNamespace, startMounted, works } from '../lib/mounted.mjs';
import { QWEN_CLIENT, lock, locks, qwenHome } from '../lib/qwen-code.mjs';
import { skipWithout } from '../lib/requirement.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const connect = (sandbox, options) =>
  IdeClient.connect(sandbox, { module: QWEN_CLIENT, ...options });

/** Where processes have numbers of their own, as in a container. */
const OWN_PROCESSES = 'unshare --user --map-root-user --pid --fork --kill-child'.split(' ');

/** Checks that Gemini CLI finds the companion, regardless of Qwen Code's file. */
async function assertGeminiConnects(sandbox) {
  const client = await IdeClient.connect(sandbox);
  await client.close();
}

test('no folder of Qwen Code is created, and the file appears within 3 s of the folder', async (t) => {
  const sandbox = Sandbox.of(t);
  const companion = await Companion.start(sandbox);
  assert.equal(companion.ready.discoveryFiles.qwen, undefined);
  assert.deepEqual(fs.readdirSync(sandbox.home), []);
  const before = Date.now();
  const home = qwenHome(sandbox);
  await until('the file is there', () => locks(home).length === 1);
  assert.ok(Date.now() - before < 3000, `after ${Date.now() - before} ms`);
  const client = await connect(sandbox);
  await client.close();
  assert.equal(companion.log, '', 'nothing of that is worth a warning');
});

test('its folder may be elsewhere', async (t) => {
  const sandbox = Sandbox.of(t);
  for (const name of ['a b é', '~/of mine']) {
    const QWEN_HOME = name.startsWith('~') ? name : sandbox.folder(name);
    const home = QWEN_HOME.replace('~', sandbox.home);
    fs.mkdirSync(home, { recursive: true });
    const machine = { prefix: () => ['env', `QWEN_HOME=${QWEN_HOME}`] };
    const companion = await Companion.start(sandbox, { machine });
    assert.deepEqual(locks(home), [companion.ready.discoveryFiles.qwen]);
    const client = await connect(sandbox, { env: { QWEN_HOME } });
    assert.equal((await companion.next('companion/sessions')).params.count, 1);
    await client.close();
    await companion.close();
  }
});

test('a client that does not see the editor’s process removes the file, and it comes back', async (t) => {
  const noProcesses = skipWithout(!works(OWN_PROCESSES) && 'namespaces are not permitted here');
  if (noProcesses) return t.skip(noProcesses);
  const sandbox = Sandbox.of(t);
  const home = qwenHome(sandbox);
  const companion = await Companion.start(sandbox);
  const [file] = locks(home);
  const machine = { prefix: (folder) => [...OWN_PROCESSES, 'env', `--chdir=${folder}`] };
  for (let i = 0; i < 2; i++) {
    const client = await IdeClient.start(sandbox, { machine, module: QWEN_CLIENT });
    assert.equal((await client.connect()).status, 'disconnected');
    await client.close();
    await companion.logged(/\.lock was removed or changed, and put back/);
    await until('the file is back', () => locks(home).length === 1);
    companion.log = '';
  }
  assert.equal(lock(file).authToken, companion.ready.authToken);
  // With the terminal's port it takes the file as it is.
  const { env } = companion.ready;
  const client = await connect(sandbox, { machine, env });
  await client.close();
});

test('a folder of another user is refused, and Gemini CLI connects', async (t) => {
  const reasons = {
    'a file': [(home) => fs.writeFileSync(home, ''), /is a symbolic link or no directory/],
    'a link': [(home) => fs.symlinkSync('/tmp', home), /is a symbolic link or no directory/],
    'somebody else’s': [
      (home) => fs.mkdirSync(home) ?? fs.chownSync(home, 65534, 65534),
      /belongs to another user/,
    ],
  };
  for (const [what, [make, reason]] of Object.entries(reasons)) {
    await t.test(what, async (t) => {
      if (what.startsWith('somebody') && process.getuid() !== 0) {
        return t.skip('only root can give a folder away');
      }
      const sandbox = Sandbox.of(t);
      make(path.join(sandbox.home, '.qwen'));
      const companion = await Companion.start(sandbox);
      assert.deepEqual(Object.keys(companion.ready.discoveryFiles), ['gemini']);
      await companion.logged(/could not write the discovery file .*\.lock/);
      assert.match(companion.log, reason);
      assert.match(companion.log, /until it can be, Qwen Code does not find this editor/);
      await assertGeminiConnects(sandbox);
    });
  }
});

test('on a full disk the file waits for space, and Gemini CLI connects', async (t) => {
  if (noNamespace) return t.skip(noNamespace);
  const sandbox = Sandbox.of(t);
  const home = qwenHome(sandbox);
  const full = `mount -t tmpfs -o size=8k tmpfs ${home} && mkdir ${home}/ide &&
    { cat /dev/zero > ${home}/full 2>/dev/null || :; }`;
  const { companion } = await startMounted(sandbox, full);
  assert.equal(companion.ready.discoveryFiles.qwen, undefined);
  await companion.logged(/could not write the discovery file .*\.lock: No space left on device/);
  await assertGeminiConnects(sandbox);
  const there = path.join(`/proc/${companion.pid}/root`, home);
  assert.deepEqual(fs.readdirSync(path.join(there, 'ide')), [], 'not even half of it');
  fs.rmSync(path.join(there, 'full'));
  await until('the file is there', () => locks(there).length === 1);
  assert.equal(lock(locks(there)[0]).authToken, companion.ready.authToken);
});

test('files of killed companions are removed, and all others stay', async (t) => {
  const sandbox = Sandbox.of(t);
  const home = qwenHome(sandbox);
  const killed = await Companion.start(sandbox);
  const left = killed.ready.discoveryFiles.qwen;
  await killed.kill();
  const dead = spawnSync(process.execPath, ['--version']).pid;
  const content = JSON.stringify({ ...lock(left), port: 2, ppid: dead });
  const write = (name, text) => {
    const file = path.join(home, 'ide', name);
    fs.writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const ours = write('2.lock', content);
  // A younger one may be of another container.
  const old = Date.now() / 1000 - 600;
  fs.utimesSync(ours, old, old);
  const others = [
    write('1.lock', '{'),
    write('3.lock', content),
    write('4.lock', JSON.stringify({ port: 4, workspacePath: '/', authToken: 'x', ppid: dead })),
    write('notes.lock', content),
  ];
  const next = await Companion.start(sandbox);
  await until('it is swept', () => !fs.existsSync(ours) && !fs.existsSync(left));
  assert.deepEqual(locks(home).sort(), [...others, next.ready.discoveryFiles.qwen].sort());
  const client = await connect(sandbox);
  await client.close();
});
