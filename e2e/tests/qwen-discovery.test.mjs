// Tests unusual conditions for Qwen Code's discovery file: a folder that appears late or is elsewhere,
// and clients that remove the file.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { works } from '../lib/mounted.mjs';
import { QWEN_CLIENT, lock, locks, qwenHome } from '../lib/qwen-code.mjs';
import { skipWithout } from '../lib/requirement.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const connect = (sandbox, options) =>
  IdeClient.connect(sandbox, { module: QWEN_CLIENT, ...options });

/** Where processes have numbers of their own, as in a container. */
const OWN_PROCESSES = 'unshare --user --map-root-user --pid --fork --kill-child'.split(' ');

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
    assert.equal((await companion.next('companion/clients')).params.count, 1);
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
