// Tests the npm packages from a registry on this machine: installation, start, and error messages.
// COMPANION_NPM is a folder with the packed packages.

import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { Registry } from '../lib/registry.mjs';
import { skipWithout } from '../lib/requirement.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const FOLDER = process.env.COMPANION_NPM;
const SYSTEM = `${os.platform()}-${os.arch()}`;
const noNeovim = skipWithout(spawnSync('nvim', ['--version']).error && 'there is no nvim on the PATH');

/** The manifest of each packed package; only the launcher has a command. */
const MANIFESTS = fs
  .readdirSync(FOLDER)
  .filter((file) => file.endsWith('.tgz'))
  .map((file) => {
    const packed = path.join(FOLDER, file);
    return { file, ...JSON.parse(execFileSync('tar', ['-xOf', packed, 'package/package.json'])) };
  });
const LAUNCHER = MANIFESTS.find(({ bin }) => bin);
const VERSION = LAUNCHER.version;
const PROGRAM = MANIFESTS.find((manifest) => manifest !== LAUNCHER);

let shared;
/** A user who has installed the package. Tests only run it. */
let installed;
const home = new Sandbox();
before(async () => {
  shared = await Registry.withPackages(home);
  installed = userOf(home, shared);
  await install(installed);
});
after(() => home.close());

/** Runs a program to its end. */
function runWith(env, cwd, program, args) {
  return new Promise((resolve) => {
    execFile(program, args, { env, cwd, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ status: error ? error.code : 0, stdout, stderr }),
    );
  });
}

/** Creates a user who has installed nothing. */
const user = (t, registry = shared) => userOf(Sandbox.of(t), registry);

/** Returns a user whose folders have blanks in their names. */
function userOf(sandbox, registry) {
  const env = sandbox.env(registry.env(sandbox));
  const cwd = sandbox.folder('a folder');
  const run = (program, ...args) => runWith(env, cwd, program, args);
  const program = path.join(env.npm_config_prefix, 'bin/gemini-companion');
  return { sandbox, env, cwd, run, program };
}

/** Installs globally, as the README says. */
async function install(user, ...options) {
  const { status, stderr } = await user.run('npm', 'install', '--global', 'gemini-companion', ...options);
  assert.equal(status, 0, stderr);
}

test('installed for all folders, the program is the one of this version', async () => {
  const one = installed;
  const { status, stdout } = await one.run(one.program, '--version');
  assert.deepEqual([status, stdout], [0, `gemini-companion ${VERSION}\n`]);
});

test('npx starts it without an installation', async (t) => {
  const one = user(t);
  const { status, stdout, stderr } = await one.run('npx', '--yes', 'gemini-companion', '--version');
  assert.deepEqual([status, stdout], [0, `gemini-companion ${VERSION}\n`], stderr);
});

test('setup takes the plugin from the package', async (t) => {
  const one = user(t);
  await install(one);
  const ide = one.sandbox.folder('opt', 'idea');
  const product =
    '{"name": "IDE", "version": "2025.1", "buildNumber": "251.1", "productCode": "IU", "dataDirectoryName": "IDE"}';
  fs.writeFileSync(path.join(ide, 'product-info.json'), product);
  const dry = ['setup', ide, '--dry-run'];
  const without = await one.run(one.program, ...dry);
  assert.equal(without.status, 1);
  assert.match(without.stdout, /FAIL {2}IDE 2025\.1: this program came without the plugin's zip/);
  assert.match(without.stdout, /would {2}gemini-companion/, 'the rest is done');
  const folder = path.dirname(fs.realpathSync(one.program));
  const made = [
    'import io, sys, zipfile',
    'jar = io.BytesIO()',
    'with zipfile.ZipFile(jar, "w") as file: file.writestr("META-INF/plugin.xml", "<idea-plugin><id>dev.companion.gemini</id></idea-plugin>")',
    'with zipfile.ZipFile(sys.argv[1], "w") as file: file.writestr("x/lib/x.jar", jar.getvalue())',
  ];
  const zip = path.join(folder, 'companion-for-gemini-cli-1.0.zip');
  const { status, stderr } = await one.run('python3', '-c', made.join('\n'), zip);
  assert.equal(status, 0, stderr);
  const found = await one.run(one.program, ...dry);
  assert.equal(found.status, 0, found.stderr);
  assert.match(found.stdout, /would {2}IDE 2025\.1: install a version without a number/);
});

test('setup by npx leaves the program where terminals find it', { skip: noNeovim }, async (t) => {
  const one = user(t);
  const PATH = `${path.join(one.sandbox.home, '.local/bin')}:${one.env.PATH}`;
  const env = { ...one.env, PATH };
  const args = ['--yes', 'gemini-companion', 'setup', 'neovim', '--json', '--yes'];
  const setUp = () => runWith(env, one.cwd, 'npx', args);
  const program = async () => JSON.parse((await setUp()).stdout).steps[0];
  const done = await program();
  assert.deepEqual([done.subject, done.outcome], ['gemini-companion', 'done']);
  const { stdout } = await runWith(env, one.cwd, 'gemini-companion', ['--version']);
  assert.equal(stdout, `gemini-companion ${VERSION}\n`);
  assert.equal((await program()).outcome, 'unchanged');
});

test('the package has the man page, where npm links it, and completions', () => {
  const one = installed;
  const prefix = path.dirname(path.dirname(one.program));
  const man = fs.readFileSync(path.join(prefix, 'share/man/man1/gemini-companion.1'), 'utf8');
  assert.match(man, /^\.SH SETUP$/m);
  const completions = path.join(prefix, 'lib/node_modules/gemini-companion/completions');
  for (const name of fs.readdirSync(completions)) {
    assert.match(fs.readFileSync(path.join(completions, name), 'utf8'), /gemini-companion/, name);
  }
  assert.equal(fs.readdirSync(completions).length, 4);
});

test('an installed program is found', { skip: noNeovim }, async (t) => {
  const one = user(t);
  await install(one);
  const PATH = `${path.dirname(one.program)}:${one.env.PATH}`;
  const { stdout } = await runWith({ ...one.env, PATH }, one.cwd, one.program, [
    'setup',
    'neovim',
    '--json',
    '--yes',
  ]);
  const [{ outcome, path: found }] = JSON.parse(stdout).steps;
  assert.deepEqual([outcome, found], ['unchanged', one.program]);
  // Hooks start the program itself, without Node.
  const extension = path.join(one.sandbox.home, '.gemini/extensions/gemini-companion');
  const manifest = JSON.parse(fs.readFileSync(path.join(extension, 'gemini-extension.json'), 'utf8'));
  const { command } = manifest.mcpServers['gemini-companion'];
  assert.notEqual(fs.readFileSync(command, 'latin1').slice(0, 2), '#!');
});

test('the real client finds the companion that an editor has started so', async () => {
  const one = installed;
  const companion = await Companion.start(one.sandbox, { program: one.program });
  assert.match(companion.ready.discoveryFiles.gemini, new RegExp(`-${process.pid}-\\d+\\.json$`));
  const client = await IdeClient.connect(one.sandbox);
  assert.equal(await client.status(), 'connected');
});

test('exit codes are those of the program', async () => {
  const one = installed;
  const { status, stderr } = await one.run(one.program, 'no-such-command');
  assert.equal(status, 2);
  assert.match(stderr, /unrecognized subcommand 'no-such-command'/);
});

test('a signal reaches the program, which ends in order', async () => {
  const one = installed;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    const companion = await Companion.start(one.sandbox, { program: one.program });
    companion.signal(signal);
    assert.equal(await companion.exited(), 0, signal);
    assert.ok(!fs.existsSync(companion.ready.discoveryFiles.gemini), signal);
  }
});

test('a program that a signal has ended is reported with the signal', async () => {
  const one = installed;
  const killed = path.join(one.cwd, 'killed by itself');
  fs.writeFileSync(killed, '#!/bin/sh\nkill -KILL $$\n', { mode: 0o755 });
  const env = { ...one.env, GEMINI_COMPANION_BINARY: killed };
  const process = spawn(one.program, [], { env, stdio: 'ignore' });
  assert.deepEqual(await once(process, 'exit'), [null, 'SIGKILL']);
});

test('an unsupported system gets the list of supported ones', async () => {
  const one = installed;
  // A Node that reports another system.
  const elsewhere = path.join(one.cwd, 'elsewhere.cjs');
  fs.writeFileSync(elsewhere, "Object.defineProperty(process, 'platform', { value: 'sunos' });\n");
  const env = { ...one.env, NODE_OPTIONS: `--require "${elsewhere}"` };
  const { status, stderr } = await runWith(env, one.cwd, one.program, ['--version']);
  assert.equal(status, 1);
  assert.match(stderr, /^gemini-companion: There is no program for sunos-\w+, only for /);
  assert.match(stderr, /GEMINI_COMPANION_BINARY/);
});

test('without optional packages the error names the fix', async (t) => {
  const one = user(t);
  // npm has no such option for global packages.
  const installed = await one.run('npm', 'install', '--omit=optional', 'gemini-companion');
  assert.equal(installed.status, 0, installed.stderr);
  const { status, stderr } = await one.run('node_modules/.bin/gemini-companion', '--version');
  assert.equal(status, 1);
  const again = `npm install --global gemini-companion@${VERSION}\n`;
  assert.ok(stderr.includes(`${SYSTEM} is not there.`) && stderr.endsWith(again), stderr);
});

test('a changed package is never run', async (t) => {
  const registry = await Registry.withPackages(Sandbox.of(t));
  const tarball = path.join(registry.tarballs, PROGRAM.file);
  const bytes = fs.readFileSync(tarball);
  bytes[bytes.length >> 1] ^= 1;
  fs.writeFileSync(tarball, bytes);
  const one = user(t, registry);
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

test('a second publication after an error publishes only the rest', async (t) => {
  const sandbox = Sandbox.of(t);
  const registry = await Registry.start(sandbox);
  const folder = (...files) => {
    const part = fs.mkdtempSync(path.join(sandbox.root, 'packages-'));
    for (const { file } of files) fs.copyFileSync(path.join(FOLDER, file), path.join(part, file));
    return part;
  };
  const publish = async (packages) => {
    const { code, stdout, stderr } = await registry.publish(sandbox, packages);
    assert.equal(code, 0, stderr);
    const already = /^gemini-companion@(\S+) is published already$/gm;
    return [...stdout.matchAll(already)].map(([, version]) => version);
  };
  assert.deepEqual(await publish(folder(PROGRAM)), []);
  assert.deepEqual(await publish(FOLDER), [PROGRAM.version]);
  assert.deepEqual(await publish(FOLDER), [PROGRAM.version, VERSION]);
  const env = sandbox.env(registry.env(sandbox));
  const args = ['view', 'gemini-companion', 'dist-tags', '--json'];
  const { stdout } = await runWith(env, sandbox.root, 'npm', args);
  const tag = PROGRAM.version.slice(PROGRAM.version.indexOf('-') + 1);
  assert.deepEqual(JSON.parse(stdout), { latest: VERSION, [tag]: PROGRAM.version });

  const other = folder(LAUNCHER);
  const unpacked = sandbox.folder('unpacked');
  execFileSync('tar', ['-xf', path.join(FOLDER, LAUNCHER.file), '-C', unpacked]);
  fs.appendFileSync(path.join(unpacked, 'package/README.md'), 'more');
  execFileSync('tar', ['-czf', path.join(other, LAUNCHER.file), '-C', unpacked, 'package']);
  const { code, stderr } = await registry.publish(sandbox, other);
  assert.equal(code, 1);
  assert.ok(stderr.includes(`another gemini-companion@${VERSION} is published`), stderr);
});

test('installing runs nothing', () => {
  for (const { scripts } of MANIFESTS) assert.equal(scripts, undefined);
});
