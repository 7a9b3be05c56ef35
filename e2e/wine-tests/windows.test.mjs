// Tests the Windows program in Wine as the companion of a client on Linux, like an editor on
// Windows with a CLI in WSL. The client uses the bridge of the Linux program.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';

import { bridgeEnv } from '../lib/bridge.mjs';
import { Companion } from '../lib/companion.mjs';
import { Editor } from '../lib/editor.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { installIde } from '../lib/installation.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { assertWorks } from '../lib/smoke-checks.mjs';

const { COMPANION_ON_WINDOWS: program, COMPANION_DRIVE_C: driveC } = process.env;

/** A path here as Windows names it: Wine has `/` as drive Z. */
const onWindows = (file) => `Z:${file.replaceAll('/', '\\')}`;

/** A path on drive C as it is named here. */
const here = (file) => path.join(driveC, file.replace(/^C:/i, '').replaceAll('\\', '/'));

async function openWindow(t) {
  const sandbox = Sandbox.of(t);
  const companion = await Companion.start(sandbox, {
    program,
    workspace: [onWindows(sandbox.project)],
    // Wine's processes are not Windows' own, and the process that starts this one is no editor
    // there.
    args: ['--ide-pid', '1'],
  });
  return { sandbox, companion, editor: new Editor(companion) };
}

test('a client on Linux and a companion on Windows work like on one system', async (t) => {
  const { sandbox, companion, editor } = await openWindow(t);
  const discovery = here(companion.ready.discoveryFiles.gemini);
  const tempDir = path.join(path.dirname(discovery), '../..');
  const env = bridgeEnv(sandbox, ['--map', '/=Z:\\', '--temp-dir', tempDir]);
  const client = await IdeClient.connect(sandbox, { env });
  assert.equal(await client.isDiffingEnabled(), true);
  const file = sandbox.file('a b/é文.txt', 'old');
  await assertWorks({ companion, editor, client }, { here: file, there: onWindows(file) });
});

test('a companion on Windows ends with its editor and leaves nothing behind', async (t) => {
  const { companion } = await openWindow(t);
  const discovery = here(companion.ready.discoveryFiles.gemini);
  assert.ok(fs.existsSync(discovery));
  companion.closeStdin();
  assert.equal(await companion.exited(), 0);
  assert.ok(!fs.existsSync(discovery));
});

test('setup on Windows installs and removes the same as elsewhere', async (t) => {
  const sandbox = Sandbox.of(t);
  const [ide, option, zip] = installIde(sandbox);
  const setup = (env, ...args) =>
    new Promise((resolve, reject) => {
      const options = { env: sandbox.env(env) };
      execFile(program, ['setup', ...args, '--json', '--yes'], options, (error, stdout, stderr) =>
        error ? reject(new Error(stderr, { cause: error })) : resolve(JSON.parse(stdout).steps),
      );
    });
  const outcomes = (steps) => steps.map(({ subject, outcome }) => `${subject}: ${outcome}`);
  const args = [onWindows(ide), option, onWindows(zip)];
  const done = await setup({}, ...args);
  const [plugin, copy] = done.map((step) => here(step.path));
  sandbox.defer(() => setup({}, '--remove'));
  const both = ['IntelliJ IDEA 2025.1: done', 'gemini-companion: done'];
  assert.deepEqual(outcomes(done).slice(0, 2), both);
  assert.match(plugin, /AppData\/Roaming\/JetBrains\/IntelliJIdea2025\.1\/plugins\/companion-for/);
  assert.match(copy, /\/\.local\/bin\/gemini-companion\.exe$/);
  assert.equal(fs.readFileSync(copy).toString('latin1', 0, 2), 'MZ');
  assert.ok(fs.existsSync(path.join(plugin, 'lib/x.jar')));

  const onPath = { WINEPATH: path.win32.dirname(done[1].path) };
  const again = await setup(onPath, ...args);
  assert.deepEqual([again[1].outcome, again[1].message], ['unchanged', 'it is installed']);
  assert.equal(again[0].outcome, 'unchanged');
  const removed = await setup({}, '--remove');
  assert.deepEqual(
    outcomes(removed).sort(),
    outcomes(done)
      .filter((step) => step.endsWith('done'))
      .sort(),
  );
  assert.ok(!fs.existsSync(copy) && !fs.existsSync(plugin));
});

/** The script that runs another program by Wine. */
function scriptFor(sandbox, exe) {
  const script = path.join(sandbox.root, path.basename(exe, '.exe'));
  const text = fs.readFileSync(program, 'utf8').replace(/'[^']*\.exe'/, () => `'${exe}'`);
  fs.writeFileSync(script, text, { mode: 0o755 });
  return script;
}

test('setup on Windows replaces and removes a program that runs', async (t) => {
  const sandbox = Sandbox.of(t);
  const [, exe] = /'([^']*\.exe)'/.exec(fs.readFileSync(program, 'utf8'));
  const newer = path.join(sandbox.root, 'newer.exe');
  fs.writeFileSync(newer, Buffer.concat([fs.readFileSync(exe), Buffer.from('newer')]));
  /** Runs setup by that program; the step about the installed program. */
  const setup = async (by, ...args) => {
    const command = ['setup', ...args, '--json', '--yes'];
    const { stdout } = await promisify(execFile)(by, command, { env: sandbox.env() }).catch(
      (error) => error,
    );
    return JSON.parse(stdout).steps.find(({ subject }) => subject === 'gemini-companion');
  };
  const start = (copy) =>
    Companion.start(sandbox, {
      program: scriptFor(sandbox, copy),
      workspace: [onWindows(sandbox.project)],
      args: ['--ide-pid', '1'],
    });
  const copy = here((await setup(program)).path);
  sandbox.defer(() => setup(program, '--remove'));
  await start(copy);
  const replaced = await setup(scriptFor(sandbox, newer));
  assert.equal(replaced.outcome, 'done', replaced.message);
  assert.deepEqual(fs.readFileSync(copy), fs.readFileSync(newer));
  await start(copy);
  const removed = await setup(program, '--remove');
  assert.equal(removed.outcome, 'done', removed.message);
  assert.ok(!fs.existsSync(copy));
});
