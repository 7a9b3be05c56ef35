// Tests doctor, env, container and bridge for Qwen Code, beside the real client in the same
// environment.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

import { Companion } from '../lib/companion.mjs';
import { assertFailure, examine, run, settings, writePlace } from '../lib/doctor.mjs';
import { Editor } from '../lib/editor.mjs';
import { closedPort } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { QWEN, QWEN_CLIENT, locks, qwenHome } from '../lib/qwen-code.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const qwen = { id: 'qwen', module: QWEN_CLIENT };
const NO_IDE = 'Unknown command: /ide status'; // tests/qwen-cli has it from the CLI
const UNSUPPORTED = /^IDE integration is not supported .* run Qwen Code in one of these/;

/** A project of a Qwen Code user with IDE mode turned on. */
function sandboxOf(t) {
  const sandbox = Sandbox.of(t);
  settings(sandbox, true, '.qwen');
  return { sandbox, home: qwenHome(sandbox) };
}

/** Writes a lock file, as of a process that runs. */
const writeLock = (sandbox, home, port, more) =>
  writePlace(sandbox, path.join(home, 'ide', `${port}.lock`), port, { ppid: process.pid, ...more });

/** The lock files, as they are. */
const contents = (home) =>
  locks(home).map((file) => [file, fs.statSync(file).isFile() && fs.readFileSync(file, 'utf8')]);

const evidenceOf = ({ evidence }, subject) =>
  evidence
    .filter((one) => one.subject === subject)
    .map(({ text }) => text)
    .join('\n');

describe('doctor for Qwen Code', { concurrency: 3 }, () => {
  test('the client reads the user’s files .env beside that of the project', async (t) => {
    const { sandbox } = sandboxOf(t);
    await Companion.start(sandbox);
    sandbox.file('.env', 'A=1\n');
    const file = path.join(sandbox.home, '.env');
    fs.writeFileSync(file, 'QWEN_CODE_IDE_SERVER_PORT=1\n');
    const text = evidenceOf(await examine(sandbox, qwen), 'environment');
    assert.ok(text.includes(`the CLI also reads QWEN_CODE_IDE_SERVER_PORT from ${file}`), text);
  });

  test('where the client connects, doctor names the editor, and shows no secret', async (t) => {
    const { sandbox } = sandboxOf(t);
    const { ready } = await Companion.start(sandbox, { args: ['--ide-display-name', 'Editor'] });
    const client = await IdeClient.connect(sandbox, qwen);
    const diagnosis = await examine(sandbox, { ...qwen, secrets: [ready.authToken] });
    assert.equal(diagnosis.verdict, `Qwen Code connects to Editor, at 127.0.0.1:${ready.port}.`);
    assert.match(evidenceOf(diagnosis, 'files'), /chosen: the only one for this folder/);
    assert.deepEqual(diagnosis.evidence.filter(({ level }) => level === 'bad'), []);
    await client.close();
  });

  test('invalid settings of a project are replaced when the client starts', async (t) => {
    const { sandbox } = sandboxOf(t);
    await Companion.start(sandbox);
    const file = sandbox.file('.qwen/settings.json', '{bad');
    const diagnosis = await examine(sandbox, qwen);
    assert.equal(diagnosis.connects, true, diagnosis.text);
    const note = `${file} is not valid JSON: when it starts, it writes empty settings in its place`;
    assert.ok(evidenceOf(diagnosis, 'client').includes(note), diagnosis.text);
    const list = [QWEN, 'extensions', 'list'];
    await promisify(execFile)(process.execPath, list, { cwd: sandbox.project, env: sandbox.env() });
    assert.doesNotMatch(fs.readFileSync(file, 'utf8'), /bad/);
    assert.equal(fs.readFileSync(`${file}.corrupted`, 'utf8'), '{bad');
  });

  test('without a file nothing is found, even with the terminal’s variables', async (t) => {
    const { sandbox } = sandboxOf(t);
    await assertFailure(sandbox, 'unknown-terminal', UNSUPPORTED, qwen);
    const env = { TERM_PROGRAM: 'vscode' };
    await assertFailure(sandbox, 'no-companion', /^Failed to connect to IDE companion extension\. /, {
      ...qwen,
      env,
    });
  });

  test('the companion’s file is in the folder of another QWEN_HOME', async (t) => {
    const { sandbox, home } = sandboxOf(t);
    await Companion.start(sandbox);
    const env = { QWEN_HOME: path.dirname(settings(sandbox, true, 'other')) };
    const { advice, text } = await assertFailure(sandbox, 'unknown-terminal', UNSUPPORTED, {
      ...qwen,
      env,
    });
    assert.equal(advice[0], `Start qwen with the editor's folder of settings: QWEN_HOME=${home} qwen`);
    assert.match(text, /the CLI does not look here: .*\.lock/);
  });

  test('files for other folders are ignored', async (t) => {
    const { sandbox, home } = sandboxOf(t);
    const other = sandbox.folder('other');
    writeLock(sandbox, home, await closedPort(), { workspacePath: other });
    const { advice } = await assertFailure(sandbox, 'other-folder', UNSUPPORTED, qwen);
    assert.equal(advice[0], `cd ${other}, and start qwen there.`);
    const env = { TERM_PROGRAM: 'vscode', QWEN_CODE_IDE_WORKSPACE_PATH: sandbox.project };
    const found = /^Found IDE companion extension, but its workspace does not match/;
    await assertFailure(sandbox, 'other-folder', found, { ...qwen, env });
    const elsewhere = { TERM_PROGRAM: 'vscode', QWEN_CODE_IDE_WORKSPACE_PATH: other };
    const mismatch = /^Directory mismatch\. Qwen Code is running .* directories: .*other$/;
    await assertFailure(sandbox, 'other-folder', mismatch, { ...qwen, env: elsewhere });
  });

  test('an editor without a folder', async (t) => {
    const { sandbox, home } = sandboxOf(t);
    writeLock(sandbox, home, await closedPort(), { workspacePath: '' });
    await assertFailure(sandbox, 'no-folder', UNSUPPORTED, qwen);
  });

  test('nothing listens, or the token is wrong', async (t) => {
    const { sandbox, home } = sandboxOf(t);
    writeLock(sandbox, home, await closedPort());
    const lost = /^IDE connection error\. The connection was lost unexpectedly\./;
    await assertFailure(sandbox, 'not-running', lost, qwen);
    const second = sandboxOf(t);
    const { ready } = await Companion.start(second.sandbox, { args: ['--clients', 'gemini'] });
    writeLock(second.sandbox, second.home, ready.port);
    await assertFailure(second.sandbox, 'wrong-token', lost, qwen);
  });

  test('broken, stale and foreign files are named, and not changed', async (t) => {
    const { sandbox, home } = sandboxOf(t);
    const dead = 2 ** 22 + 1; // above all that Linux gives to processes
    writeLock(sandbox, home, 1, { ppid: dead });
    fs.writeFileSync(path.join(home, 'ide', '2.lock'), '{');
    fs.writeFileSync(path.join(home, 'ide', '3.lock'), '[]');
    fs.mkdirSync(path.join(home, 'ide', '4.lock'));
    const port = await closedPort();
    const ideInfo = { name: 'vscode', displayName: 'VS Code' };
    writeLock(sandbox, home, port, { workspacePath: '/elsewhere', ideInfo, ideName: 'VS Code' });
    const before = contents(home);
    const diagnosis = await examine(sandbox, qwen);
    assert.deepEqual(contents(home), before);
    const files = evidenceOf(diagnosis, 'files');
    const foreign = `${port}.lock: VS Code, /elsewhere\npassed over: the CLI runs in none of its folders`;
    assert.ok(files.includes(foreign), files);
    assert.ok(files.includes('4.lock\npassed over: it can\'t be read, it is not a file'), files);
    assert.match(files, /1\.lock: .*\n.*removed by the CLI when it starts; process \d+ does not run here/);
    for (const name of ['2.lock', '3.lock']) {
      assert.match(files, new RegExp(`${name}\npassed over: it is not a JSON object`));
    }
  });

  test('the switch is in separate settings', async (t) => {
    const { sandbox } = sandboxOf(t);
    await Companion.start(sandbox);
    settings(sandbox, true);
    settings(sandbox, false, '.qwen');
    const diagnosis = await examine(sandbox, qwen);
    assert.equal(diagnosis.problem, 'switched-off');
    assert.match(diagnosis.verdict, /switched off in Qwen Code/);
  });

  test('with tools in a sandbox there is no IDE mode', async (t) => {
    const { sandbox } = sandboxOf(t);
    await Companion.start(sandbox);
    const tools = { executionSandbox: { filesystem: 'workspace-write', network: 'closed' } };
    const file = settings(sandbox, true, 'elsewhere', { tools });
    const noted = `IDE mode is off: by tools.executionSandbox in ${file} tools run in a sandbox`;
    for (const name of ['QWEN_CODE_SYSTEM_SETTINGS_PATH', 'QWEN_CODE_SYSTEM_DEFAULTS_PATH']) {
      const diagnosis = await examine(sandbox, { ...qwen, env: { [name]: file } });
      assert.deepEqual([diagnosis.problem, diagnosis.clientSays], ['tool-sandbox', NO_IDE]);
      assert.ok(evidenceOf(diagnosis, 'client').includes(noted), diagnosis.text);
    }
    settings(sandbox, true, '.qwen', { tools });
    const { problem, verdict, advice } = await examine(sandbox, qwen);
    assert.equal(problem, 'tool-sandbox');
    assert.match(verdict, /Qwen Code has no IDE mode while its tools run in a sandbox/);
    assert.match(advice[0], /^Take tools\.executionSandbox out of .*\.qwen.settings\.json/);
  });

  test('a sandbox in a project’s settings is ignored', async (t) => {
    const { sandbox } = sandboxOf(t);
    await Companion.start(sandbox);
    fs.mkdirSync(path.join(sandbox.project, '.qwen'));
    const tools = { executionSandbox: { filesystem: 'read-only', network: 'open' } };
    sandbox.file(path.join('.qwen', 'settings.json'), JSON.stringify({ tools }));
    assert.equal((await examine(sandbox, qwen)).connects, true);
  });

  test('the system’s defaults have the lowest priority', async (t) => {
    const { sandbox } = sandboxOf(t);
    await Companion.start(sandbox);
    const env = { QWEN_CODE_SYSTEM_DEFAULTS_PATH: settings(sandbox, true, 'elsewhere') };
    settings(sandbox, false, '.qwen');
    assert.equal((await examine(sandbox, { ...qwen, env })).problem, 'switched-off');
    fs.writeFileSync(path.join(sandbox.home, '.qwen', 'settings.json'), '{}');
    assert.equal((await examine(sandbox, { ...qwen, env })).connects, true);
  });

  test('without an option doctor checks all installed clients', async (t) => {
    const { sandbox } = sandboxOf(t);
    await Companion.start(sandbox);
    const env = { PATH: '/usr/bin:/bin' };
    const { stdout } = await run(sandbox, ['doctor', '--json'], { env });
    assert.deepEqual(
      JSON.parse(stdout).map(({ client }) => client),
      ['qwen'],
    );
  });
});

test('env has the variables of a window, and only the port leads Qwen Code to it', async (t) => {
  const { sandbox } = sandboxOf(t);
  const { ready } = await Companion.start(sandbox);
  const env = async (...args) =>
    JSON.parse((await run(sandbox, ['env', '--format', 'json', ...args])).stdout);
  assert.deepEqual(await env('--client', 'qwen'), {
    QWEN_CODE_IDE_SERVER_PORT: String(ready.port),
    QWEN_CODE_IDE_WORKSPACE_PATH: sandbox.project,
  });
  const both = await env();
  for (const [name, value] of Object.entries(ready.env)) assert.equal(both[name], value, name);
});
