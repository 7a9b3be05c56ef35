// Owns the packages for npm, from a registry on this machine: how users install and start them, and
// what they read when that can't work. COMPANION_NPM is a folder with the packed packages.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { before, test } from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { Registry } from '../lib/registry.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const FOLDER = process.env.COMPANION_NPM;
const SYSTEM = `${os.platform()}-${os.arch()}`;

let packages;
before(() => {
  packages = Registry.read(FOLDER);
});

/** Runs a program to its end; this process meanwhile is the registry. */
function runWith(env, cwd, program, args) {
  return new Promise((resolve) => {
    execFile(program, args, { env, cwd, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ status: error ? error.code : 0, stdout, stderr }),
    );
  });
}

/** A user with a registry, whose folders have blanks in their names. */
async function user(t, change = (all) => all) {
  const sandbox = Sandbox.of(t);
  const registry = await Registry.serve(sandbox, change(structuredClone(packages)));
  const env = sandbox.env(registry.env(sandbox));
  const cwd = sandbox.folder('a folder');
  const run = (program, ...args) => runWith(env, cwd, program, args);
  const program = path.join(env.npm_config_prefix, 'bin/gemini-companion');
  return { sandbox, env, cwd, run, program, registry };
}

/** Installs for all of the user's folders, as the README says. */
async function install(user, ...options) {
  const { status, stderr } = await user.run('npm', 'install', '--global', 'gemini-companion', ...options);
  assert.equal(status, 0, stderr);
}

function version() {
  return Object.keys(packages.versions).find((name) => !name.includes('-'));
}

test('installed for all folders, the program is the one of this version', async (t) => {
  const one = await user(t);
  await install(one);
  const { status, stdout } = await one.run(one.program, '--version');
  assert.deepEqual([status, stdout], [0, `gemini-companion ${version()}\n`]);
});

test('npx starts it without an installation', async (t) => {
  const one = await user(t);
  const { status, stdout, stderr } = await one.run('npx', '--yes', 'gemini-companion', '--version');
  assert.deepEqual([status, stdout], [0, `gemini-companion ${version()}\n`], stderr);
});

test('setup takes the plugin from the package', async (t) => {
  const one = await user(t);
  await install(one);
  const ide = one.sandbox.folder('opt', 'idea');
  const product =
    '{"name": "IDE", "version": "2025.1", "buildNumber": "251.1", "productCode": "IU", "dataDirectoryName": "IDE"}';
  fs.writeFileSync(path.join(ide, 'product-info.json'), product);
  const dry = ['setup', ide, '--dry-run'];
  const without = await one.run(one.program, ...dry);
  assert.deepEqual([without.status, without.stdout], [1, '']);
  assert.match(without.stderr, /zip did not come with this program/);
  const folder = path.dirname(fs.realpathSync(one.program));
  const made = [
    'import io, sys, zipfile',
    'jar = io.BytesIO()',
    'with zipfile.ZipFile(jar, "w") as file: file.writestr("META-INF/plugin.xml", "<idea-plugin><id>x</id></idea-plugin>")',
    'with zipfile.ZipFile(sys.argv[1], "w") as file: file.writestr("x/lib/x.jar", jar.getvalue())',
  ];
  const zip = path.join(folder, 'companion-for-gemini-cli-1.0.zip');
  const { status, stderr } = await one.run('python3', '-c', made.join('\n'), zip);
  assert.equal(status, 0, stderr);
  const found = await one.run(one.program, ...dry);
  assert.equal(found.status, 0, found.stderr);
  assert.match(found.stdout, /would {2}IDE 2025\.1: install a version without a number/);
});

test('setup by npx leaves the program where terminals find it', async (t) => {
  const one = await user(t);
  const PATH = `${path.join(one.sandbox.home, '.local/bin')}:${one.env.PATH}`;
  const env = { ...one.env, PATH };
  const setUp = () =>
    runWith(env, one.cwd, 'npx', ['--yes', 'gemini-companion', 'setup', 'neovim', '--json']);
  const program = async () => JSON.parse((await setUp()).stdout).steps[0];
  const done = await program();
  assert.deepEqual([done.subject, done.outcome], ['gemini-companion', 'done']);
  const { stdout } = await runWith(env, one.cwd, 'gemini-companion', ['--version']);
  assert.equal(stdout, `gemini-companion ${version()}\n`);
  assert.equal((await program()).outcome, 'unchanged');
});

test('who has installed the program has it found there', async (t) => {
  const one = await user(t);
  await install(one);
  const PATH = `${path.dirname(one.program)}:${one.env.PATH}`;
  const { stdout } = await runWith({ ...one.env, PATH }, one.cwd, one.program, [
    'setup',
    'neovim',
    '--json',
  ]);
  const [{ outcome, path: found }] = JSON.parse(stdout).steps;
  assert.deepEqual([outcome, found], ['unchanged', one.program]);
});

test('the real client finds the companion that an editor has started so', async (t) => {
  const one = await user(t);
  await install(one);
  const companion = await Companion.start(one.sandbox, { program: one.program });
  assert.match(companion.ready.discoveryFiles.gemini, new RegExp(`-${process.pid}-\\d+\\.json$`));
  const client = await IdeClient.connect(one.sandbox);
  assert.equal(await client.status(), 'connected');
});

test('exit codes are those of the program', async (t) => {
  const one = await user(t);
  await install(one);
  const { status, stderr } = await one.run(one.program, 'no-such-command');
  assert.equal(status, 2);
  assert.match(stderr, /unrecognized subcommand 'no-such-command'/);
});

test('a signal reaches the program, which ends in order', async (t) => {
  const one = await user(t);
  await install(one);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    const companion = await Companion.start(one.sandbox, { program: one.program });
    companion.signal(signal);
    assert.equal(await companion.exited(), 0, signal);
    assert.ok(!fs.existsSync(companion.ready.discoveryFiles.gemini), signal);
  }
});

test('a program that a signal has ended is told so', async (t) => {
  const one = await user(t);
  await install(one);
  const killed = path.join(one.cwd, 'killed by itself');
  fs.writeFileSync(killed, '#!/bin/sh\nkill -KILL $$\n', { mode: 0o755 });
  const env = { ...one.env, GEMINI_COMPANION_BINARY: killed };
  const process = spawn(one.program, [], { env, stdio: 'ignore' });
  assert.deepEqual(await once(process, 'exit'), [null, 'SIGKILL']);
});

test('a system without a program is told which ones have it', async (t) => {
  const one = await user(t);
  await install(one);
  // A Node that says that it is elsewhere.
  const elsewhere = path.join(one.cwd, 'elsewhere.cjs');
  fs.writeFileSync(elsewhere, "Object.defineProperty(process, 'platform', { value: 'sunos' });\n");
  const env = { ...one.env, NODE_OPTIONS: `--require "${elsewhere}"` };
  const { status, stderr } = await runWith(env, one.cwd, one.program, ['--version']);
  assert.equal(status, 1);
  assert.match(stderr, /^gemini-companion: There is no program for sunos-\w+, only for /);
  assert.match(stderr, /GEMINI_COMPANION_BINARY/);
});

test('without optional packages one reads how to have the program', async (t) => {
  const one = await user(t);
  // npm knows no such thing for what is installed for all folders.
  const installed = await one.run('npm', 'install', '--omit=optional', 'gemini-companion');
  assert.equal(installed.status, 0, installed.stderr);
  const { status, stderr } = await one.run('node_modules/.bin/gemini-companion', '--version');
  assert.equal(status, 1);
  const again = `npm install --global gemini-companion@${version()}\n`;
  assert.ok(stderr.includes(`${SYSTEM} is not there.`) && stderr.endsWith(again), stderr);
});

test('a package whose bytes are others is never run', async (t) => {
  const one = await user(t, (all) => {
    const name = all.versions[`${version()}-${SYSTEM}`].dist.file;
    const bytes = Buffer.from(all.tarballs[name]);
    bytes[bytes.length >> 1] ^= 1;
    return { ...all, tarballs: { ...all.tarballs, [name]: bytes } };
  });
  const { status, stderr } = await one.run('npm', 'install', '--global', 'gemini-companion');
  if (status !== 0) {
    assert.match(stderr, /EINTEGRITY/);
    assert.ok(!fs.existsSync(one.program));
    return;
  }
  const started = await one.run(one.program, '--version');
  assert.equal(started.status, 1);
  assert.ok(started.stderr.includes(`${SYSTEM} is not there.`), started.stderr);
});

test('installing runs nothing', () => {
  for (const manifest of Object.values(packages.versions)) assert.equal(manifest.scripts, undefined);
});
