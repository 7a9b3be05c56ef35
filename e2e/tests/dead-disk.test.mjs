// Tests a disk that does not answer: the companion still meets its timeouts.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { Session } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { Disk, noNamespace, startMounted } from '../lib/mounted.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const skip = noNamespace || Disk.missing;

/** Longer than the companion's timeouts. */
const SECONDS = 5;

async function inTime(what, promise) {
  const begun = Date.now();
  const result = await promise;
  const took = (Date.now() - begun) / 1000;
  assert.ok(took < SECONDS, `${what} took ${took} s`);
  return result;
}

const files = (folder) => (fs.existsSync(folder) ? fs.readdirSync(folder) : []);

test('on a dead disk the companion starts, serves and stops in time', async (t) => {
  if (skip) return t.skip(skip);
  const sandbox = Sandbox.of(t);
  const disk = new Disk(sandbox, sandbox.tmp);
  const start = startMounted(sandbox, disk.mount({ dead: true }));
  const { companion } = await inTime('the start', start);
  assert.equal(companion.ready.discoveryFiles.gemini, undefined);
  await companion.logged(/the disk of .*gemini-ide-server-.* does not answer/);
  await (await Session.open(sandbox, companion)).stream();
  companion.closeStdin();
  assert.equal(await inTime('the end', companion.exited()), 0);
});

test('once a dead disk answers, the file appears, and it is removed at the end', async (t) => {
  if (skip) return t.skip(skip);
  const sandbox = Sandbox.of(t);
  const disk = new Disk(sandbox, sandbox.tmp);
  const { companion } = await startMounted(sandbox, disk.mount({ dead: true }));
  const folder = path.join(disk.backing, 'gemini', 'ide');
  disk.goOn();
  await until('the file is there', () => files(folder).some((name) => name.endsWith('.json')));
  await companion.logged(/the discovery file .* is in place now/);
  await companion.close();
  assert.deepEqual(files(folder), []);
});

for (const end of ['closeStdin', 'signal']) {
  test(`when its disk dies, the companion still serves, and stops in time (${end})`, async (t) => {
    if (skip) return t.skip(skip);
    const sandbox = Sandbox.of(t);
    const disk = new Disk(sandbox, sandbox.tmp);
    const { companion } = await startMounted(sandbox, disk.mount());
    const stream = await (await Session.open(sandbox, companion)).stream();
    await disk.stop();
    companion.notify('workspace/folders', { paths: [sandbox.folder('other')] });
    await (await Session.open(sandbox, companion)).stream();
    companion[end](...(end === 'signal' ? ['SIGTERM'] : []));
    assert.equal(await stream.ended(), 'end');
    assert.equal(await inTime('the end', companion.exited()), 0);
  });
}

test('when the disk of the project dies, the companion answers all that needs no disk', async (t) => {
  if (skip) return t.skip(skip);
  const sandbox = Sandbox.of(t);
  const disk = new Disk(sandbox, sandbox.project);
  const { companion } = await startMounted(sandbox, disk.mount());
  await disk.stop();
  const file = path.join(sandbox.project, 'a.txt');
  const hunks = [1, 2].map((prompt) => companion.request('cli/hunks', { session: 's', prompt, path: file }));
  let answered = 0;
  const all = Promise.all(hunks.map((hunk) => hunk.catch(() => (answered += 1))));
  await companion.request('companion/status', {});
  assert.equal(answered, 0);
  await all;
});

test('when the disk with its state is dead, a client notices only a restart', async (t) => {
  if (skip) return t.skip(skip);
  const sandbox = Sandbox.of(t);
  const disk = new Disk(sandbox, sandbox.folder('home', '.local', 'state'));
  for (const dead of [true, false]) {
    const args = ['--resume'];
    const start = startMounted(sandbox, disk.mount({ dead }), { args });
    const { companion } = await inTime('the start', start);
    if (dead) await companion.logged(/a restart will disconnect the CLIs: .*does not answer/);
    else await disk.stop();
    const client = await IdeClient.connect(sandbox);
    const file = sandbox.file('a.txt');
    const decision = client.openDiff(file, 'text');
    const asked = await companion.next('diff/open');
    companion.respond(asked.id, {});
    companion.notify('diff/accepted', { filePath: file, content: 'text' });
    assert.equal((await decision).status, 'accepted');
    await client.close();
    companion.closeStdin();
    assert.equal(await inTime('the end', companion.exited()), 0);
    disk.goOn();
  }
});
