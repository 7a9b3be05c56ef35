// Tests hostile conditions for the discovery file: a full disk, other users, forged tokens.
//
// Mounts and other users need namespaces. Without them, the tests are skipped with a message.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { examine, settings } from '../lib/doctor.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { noNamespace, startMounted, works } from '../lib/mounted.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];

const noOtherUser = !works(NOBODY) && 'only root can be somebody else';

/** Has it asked for something, and answer, although it has no file. */
async function assertServes({ ready }) {
  const authorization = `Bearer ${ready.authToken}`;
  const reply = await fetch(ready.url, {
    method: 'POST',
    headers: { authorization },
    body: '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}',
  });
  assert.equal(reply.status, 200);
}

/** Without a file the client must know its editor by the terminal. */
const inTerminalOf = ({ ready }) => ({
  env: { ...ready.env, TERMINAL_EMULATOR: 'JetBrains-JediTerm' },
});

/** The files for a client there, without incomplete ones. */
const discoveryFiles = (folder) =>
  fs.readdirSync(folder).filter((name) => name.endsWith('.json'));

const shown = (file) => fs.readFileSync(file, 'utf8');

test('on a full disk the companion serves, and writes the file once there is space', async (t) => {
  if (noNamespace) return t.skip(noNamespace);
  const sandbox = Sandbox.of(t);
  const full = `mount -t tmpfs -o size=4k tmpfs ${sandbox.tmp} && echo full > ${sandbox.tmp}/full`;
  const { companion, tmp, folder } = await startMounted(sandbox, full);
  assert.equal(companion.ready.discoveryFiles.gemini, undefined);
  await companion.logged(/could not write the discovery file \/.*No space left on device/);
  assert.deepEqual(discoveryFiles(folder), [], 'not even half of it');
  await assertServes(companion);
  fs.rmSync(path.join(tmp, 'full'));
  await until('the file is there', () => discoveryFiles(folder).length === 1);
  const [name] = discoveryFiles(folder);
  assert.equal(JSON.parse(shown(path.join(folder, name))).authToken, companion.ready.authToken);
  await companion.logged(/the discovery file .* is in place now/);
});

test("somebody else's folder is left alone, and his file not believed", async (t) => {
  if (noOtherUser) return t.skip(noOtherUser);
  const sandbox = Sandbox.of(t);
  fs.chmodSync(sandbox.root, 0o755);
  fs.chmodSync(sandbox.tmp, 0o1777);
  const folder = path.join(sandbox.tmp, 'gemini', 'ide');
  const file = path.join(folder, `gemini-ide-server-${process.pid}-1.json`);
  const content = {
    port: 1,
    workspacePath: sandbox.project,
    authToken: 'his',
    ideInfo: { name: 'his', displayName: 'his' },
  };
  const script = 'mkdir -p "$0" && chmod -R 777 "$0"/.. && cat > "$1"';
  const input = JSON.stringify(content);
  const made = spawnSync(NOBODY[0], [...NOBODY.slice(1), 'sh', '-c', script, folder, file], {
    input,
  });
  assert.equal(made.status, 0, String(made.stderr));
  const companion = await Companion.start(sandbox);
  assert.equal(companion.ready.discoveryFiles.gemini, undefined);
  await companion.logged(/could not write .*gemini belongs to another user/);
  assert.equal(shown(file), input);
  const client = await IdeClient.start(sandbox, inTerminalOf(companion));
  assert.equal((await client.connect()).status, 'connected');
});

test('a token that somebody writes into the file opens nothing, and is not in the log', async (t) => {
  const companion = await Companion.start(Sandbox.of(t), { args: ['--log-level', 'trace'] });
  const { url, authToken, discoveryFiles } = companion.ready;
  const right = shown(discoveryFiles.gemini);
  const wrong = 'f'.repeat(authToken.length);
  fs.writeFileSync(discoveryFiles.gemini, right.replace(authToken, wrong));
  const headers = { authorization: `Bearer ${wrong}` };
  assert.equal((await fetch(url, { method: 'POST', headers, body: '{}' })).status, 401);
  await until('the file is as it was', () => shown(discoveryFiles.gemini) === right);
  await companion.close();
  for (const token of [authToken, wrong]) assert.ok(!companion.log.includes(token));
});

test('two users of one machine: the second learns whose folder is in the way', async (t) => {
  if (noOtherUser) return t.skip(noOtherUser);
  const sandbox = Sandbox.of(t);
  settings(sandbox);
  fs.chmodSync(sandbox.root, 0o755);
  fs.chmodSync(sandbox.tmp, 0o1777);
  const theirs = path.join(sandbox.tmp, 'gemini');
  const made = spawnSync(NOBODY[0], [...NOBODY.slice(1), 'mkdir', '-m', '700', theirs]);
  assert.equal(made.status, 0, String(made.stderr));
  const companion = await Companion.start(sandbox);
  await companion.logged(/gemini belongs to another user, nobody; set TMPDIR to a folder of your own/);
  await companion.close();
  const { problem, verdict, advice } = await examine(sandbox);
  assert.equal(problem, 'unknown-terminal');
  assert.ok(verdict.includes(`${theirs} belongs to another user, nobody`), verdict);
  assert.match(advice[0], /export TMPDIR=/);
  sandbox.tmp = sandbox.folder('own');
  await Companion.start(sandbox);
  assert.equal((await examine(sandbox)).connects, true);
});

test('two users of one machine: an administrator lets them share the folder', async (t) => {
  if (noOtherUser) return t.skip(noOtherUser);
  const sandbox = Sandbox.of(t);
  settings(sandbox);
  fs.chmodSync(sandbox.root, 0o755);
  const folder = sandbox.folder('tmp', 'gemini', 'ide');
  const shared = [path.dirname(folder), folder];
  for (const dir of shared) fs.chmodSync(dir, 0o1777);
  const companion = await Companion.start(sandbox);
  const program = path.join(sandbox.folder('bin'), 'gemini-companion');
  fs.copyFileSync(process.env.GEMINI_COMPANION, program);
  const home = sandbox.folder('nobody');
  fs.cpSync(path.join(sandbox.home, '.gemini'), path.join(home, '.gemini'), { recursive: true });
  const place = { cwd: sandbox.project, env: sandbox.env({ HOME: home, REMOTE_CONTAINERS: '1' }) };
  const serve = [...NOBODY.slice(1), program, 'serve', '--workspace', sandbox.project];
  const other = spawn(NOBODY[0], serve, { ...place, stdio: ['pipe', 'pipe', 'ignore'] });
  t.after(() => other.kill());
  const [ready] = await once(other.stdout, 'data');
  assert.match(String(ready), /companion\/ready/);
  assert.equal(discoveryFiles(folder).length, 2);
  for (const dir of shared) assert.equal(fs.statSync(dir).mode & 0o7777, 0o1777);
  const doctor = [...NOBODY.slice(1), program, 'doctor', '--client', 'gemini', '--json'];
  const { stdout } = spawnSync(NOBODY[0], doctor, place);
  const [theirs] = JSON.parse(stdout);
  assert.ok(theirs.connects, theirs.verdict);
  const ours = await examine(sandbox);
  assert.ok(ours.verdict.endsWith(`at 127.0.0.1:${companion.ready.port}.`), ours.verdict);
});
