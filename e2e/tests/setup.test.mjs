// Tests `gemini-companion setup` with real programs: Neovim loads the plugin, disks are full or
// read-only, and a user answers questions.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Companion } from '../lib/companion.mjs';
import { UNCHANGED } from '../lib/decision.mjs';
import { run } from '../lib/doctor.mjs';
import { installIde } from '../lib/installation.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { NAMESPACE, noNamespace } from '../lib/mounted.mjs';
import { Neovim, NEOVIM, noNeovim, noOldNeovim } from '../lib/neovim.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const PROGRAM = process.env.GEMINI_COMPANION;
const SETTINGS = '{ "ui": { "theme": "x" } } // mine\n';

/**
 * A user with Gemini CLI, where terminals find `programs` and those of the system. They look in no
 * folder of the user.
 */
function user(t, programs = []) {
  const sandbox = Sandbox.of(t);
  const bin = sandbox.folder('bin');
  for (const name of ['sh', 'env', ...programs]) {
    const file = execFileSync('which', [name], { encoding: 'utf8' }).trim();
    fs.symlinkSync(file, path.join(bin, path.basename(name)));
  }
  const settings = path.join(sandbox.folder('home', '.gemini'), 'settings.json');
  fs.writeFileSync(settings, SETTINGS);
  const env = { PATH: bin };
  const setup = (...args) => run(sandbox, ['setup', ...args], { env });
  return { sandbox, settings, env, setup };
}

/** The outcome for each subject. */
function outcomes(json) {
  const { steps } = JSON.parse(json);
  return Object.fromEntries(steps.map(({ subject, outcome }) => [subject, outcome]));
}

test('Neovim loads the installed plugin, and the client connects', { skip: noNeovim }, async (t) => {
  const { sandbox, settings, env, setup } = user(t, [NEOVIM]);
  const done = await setup('--yes');
  assert.equal(done.code, 0, done.stderr);
  assert.ok(done.stdout.includes('Neovim: installed the plugin'), done.stdout);
  const program = path.join(sandbox.home, '.local/bin/gemini-companion');
  assert.deepEqual(fs.readFileSync(program), fs.readFileSync(PROGRAM));

  const neovim = await Neovim.start(sandbox, { setup: false, installed: true, env });
  await neovim.ready();
  const companion = await neovim.companionPid();
  assert.equal(fs.realpathSync(`/proc/${companion}/exe`), program);
  const client = await IdeClient.connect(sandbox);
  const file = sandbox.file('a.txt', 'old\n');
  const { decision } = await client.propose(neovim, file, 'new\n');
  await neovim.command('GeminiCompanion accept');
  assert.deepEqual(await decision, UNCHANGED);
  await neovim.command('help gemini_companion-usage');
  await client.close();
  await neovim.close();

  const again = await setup('--json', '--yes');
  const subjects = ['gemini-companion', 'Neovim', 'Gemini CLI', 'Extension for Gemini CLI'];
  const unchanged = subjects.map((name) => [name, 'unchanged']);
  assert.deepEqual(outcomes(again.stdout), Object.fromEntries(unchanged));
  const removed = await setup('--remove', '--yes');
  assert.equal(removed.code, 0, removed.stderr);
  for (const name of ['bin', 'share/nvim/site']) {
    assert.ok(!fs.existsSync(path.join(sandbox.home, '.local', name)), name);
  }
  assert.equal(fs.readFileSync(settings, 'utf8'), SETTINGS);
});

test('the user is asked, and may do without Neovim', { skip: noNeovim }, async (t) => {
  const { sandbox, settings, env } = user(t, [NEOVIM]);
  const program = path.join(sandbox.home, '.local/bin/gemini-companion');
  /** Runs setup in a terminal, and types each answer at its question. */
  const asked = (...answers) => {
    const script = `
import os, pty, sys
answers = [answer.encode() for answer in sys.argv[2:]]
def read(terminal):
    said = os.read(terminal, 65536)
    if b"[Y/n] " in said: os.write(terminal, answers.pop(0) + b"\\n")
    return said
sys.exit(os.waitstatus_to_exitcode(pty.spawn([sys.argv[1], "setup"], read, lambda _: b"")))`;
    const options = { cwd: sandbox.project, env: sandbox.env(env) };
    return new Promise((resolve) => {
      execFile('/usr/bin/python3', ['-c', script, PROGRAM, ...answers], options, (error, stdout) =>
        resolve({ code: error?.code ?? 0, stdout }),
      );
    });
  };
  for (const answers of [['n'], ['\x04']]) {
    const no = await asked(...answers);
    assert.equal(no.code, 1, no.stdout);
    assert.match(no.stdout, /would {2}Neovim: install the plugin[^]*Continue\? \[Y\/n\]/);
    assert.match(no.stdout, /Cancelled\. Nothing was changed\.\s*$/);
    assert.doesNotMatch(no.stdout, /too\?|Next steps|setup\.json/);
    assert.ok(!fs.existsSync(program));
    assert.equal(fs.readFileSync(settings, 'utf8'), SETTINGS);
  }
  const without = await asked('y', 'n');
  assert.match(without.stdout, /Continue\?[^]*Install the Neovim plugin, too\?/);
  assert.equal(without.code, 0, without.stdout);
  assert.ok(fs.existsSync(program));
  assert.ok(!fs.existsSync(path.join(sandbox.home, '.local/share')));
  const only = await asked('yes');
  assert.equal(only.code, 0, only.stdout);
  assert.ok(fs.existsSync(path.join(sandbox.home, '.local/share/nvim/site/pack/companion/start')));
});

test('Neovim alone needs no zip', { skip: noNeovim }, async (t) => {
  const { setup } = user(t, [NEOVIM]);
  const { code, stdout } = await setup('neovim', '--json', '--yes');
  assert.equal(code, 0);
  assert.equal(outcomes(stdout).Neovim, 'done');
});

test('a Neovim that is too old does not get the plugin', async (t) => {
  const { sandbox, env, setup } = user(t);
  const nvim = path.join(env.PATH, 'nvim');
  fs.writeFileSync(nvim, '#!/bin/sh\necho "NVIM v0.9.5"\n', { mode: 0o755 });
  for (const asked of ['--dry-run', '--yes']) {
    // It is a failure for a user who names it.
    for (const [names, expected] of [[['neovim'], 1], [[], 0]]) {
      const { code, stdout } = await setup(...names, asked);
      assert.equal(code, expected);
      const mark = expected === 1 ? 'FAIL' : 'skip';
      const why = `version 0.9.5 of ${nvim} is too old; the plugin needs 0.10 or newer`;
      assert.ok(stdout.includes(`${mark}  Neovim: ${why}`), stdout);
    }
  }
  assert.ok(!fs.existsSync(path.join(sandbox.home, '.local/share/nvim')));
});

test('in a Neovim that is too old the plugin shows a message', { skip: noOldNeovim }, async (t) => {
  const plugin = fileURLToPath(
    new URL('../../editors/nvim/plugin/gemini_companion.lua', import.meta.url),
  );
  const args = ['--headless', '--clean', '-S', plugin, '+qa'];
  const env = Sandbox.of(t).env();
  const { stderr } = await promisify(execFile)('nvim', args, { env });
  assert.equal(stderr.trim(), 'Companion for Gemini CLI needs Neovim 0.10 or newer');
});

test('without an editor setup does the rest for all clients, and reports that', async (t) => {
  const { sandbox, setup, settings } = user(t);
  const ofQwen = path.join(sandbox.folder('home', '.qwen'), 'settings.json');
  const { code, stderr } = await setup('--yes');
  assert.equal(code, 3);
  assert.match(stderr, /Neither a JetBrains IDE nor Neovim was found/);
  for (const file of [settings, ofQwen]) {
    assert.match(fs.readFileSync(file, 'utf8'), /"enabled": true/);
  }
  await setup('--remove', '--yes');
  assert.equal(fs.readFileSync(settings, 'utf8'), SETTINGS);
  assert.deepEqual(fs.readdirSync(path.dirname(ofQwen)), []);
});

test('a plugin without an IDE to install it into is reported', { skip: noNeovim }, async (t) => {
  const { sandbox, setup } = user(t, [NEOVIM]);
  const [, ...zip] = installIde(sandbox);
  const { code, stdout, stderr } = await setup(...zip, '--yes');
  assert.match(stdout, /Neovim: installed the plugin/);
  assert.match(stderr, /No JetBrains IDE was found, so its plugin was not installed/);
  assert.equal(code, 3);
  const named = await setup('neovim', ...zip, '--yes');
  assert.deepEqual([named.code, named.stderr], [0, ''], 'the user wants no other editor');
});

test('the program that is installed has no zip, and needs none for a plugin that is there', async (t) => {
  const { sandbox, env, setup } = user(t);
  const [ide, ...zip] = installIde(sandbox);
  await setup(ide, ...zip, '--yes');
  const program = path.join(sandbox.home, '.local/bin/gemini-companion');
  const { code, stdout } = await run(sandbox, ['setup', ide, '--yes'], { env, program });
  assert.match(stdout, /same {2}IntelliJ IDEA 2025\.1: 1\.0 is installed\n/);
  assert.equal(code, 0, stdout);
});

test('setup ends with the next steps', async (t) => {
  const { sandbox, env } = user(t);
  const [ide, ...zip] = installIde(sandbox);
  const setup = (more) =>
    run(sandbox, ['setup', ide, ...zip, '--yes'], { env: { ...env, ...more } });
  const first = await setup({ TERM_PROGRAM: 'vscode' });
  assert.doesNotMatch(first.stdout, /does not connect|VS Code/);
  assert.match(first.stdout, /\n\nNext steps\n {2}1\. Open your project[^]*run gemini/);
  assert.match(first.stdout, /gemini-companion doctor/);
  await Companion.start(sandbox);
  // Opening an editor does not cure this one.
  const broken = await setup({ HTTP_PROXY: 'proxy:3128' });
  assert.match(broken.stdout, /\n\nGemini CLI does not connect: HTTP_PROXY is not a valid URL/);
  const connected = await setup();
  assert.match(connected.stdout, /\n\nGemini CLI connects to /);
});

test('setup says that the CLI does not run the hooks that it installs', async (t) => {
  const { settings, setup } = user(t);
  fs.writeFileSync(settings, '{"hooksConfig": {"disabled": ["companion-before-edit", "another"]}}');
  const { stdout } = await setup('--dry-run');
  const reason =
    /Extension for Gemini CLI: .*, but Gemini CLI does not run all hooks: these are off by .*: companion-before-edit\n/;
  assert.match(stdout, reason);
});

test('a CLI that would not start with a copied extension does not get it', async (t) => {
  const { sandbox, settings, setup } = user(t);
  fs.writeFileSync(settings, '{"security": {"allowedExtensions": ["^https://github.com/"]}}');
  const { stdout } = await setup('--yes');
  const reason = /skip {2}Extension for Gemini CLI: Gemini CLI would not start with it: security\.allowedExtensions in /;
  assert.match(stdout, reason);
  assert.ok(!fs.existsSync(path.join(sandbox.home, '.gemini/extensions')));
});

/**
 * Installs into a home folder that `mount` mounts, and removes everything. Returns the files after
 * each step, both reports, and the plan in between.
 */
async function setUpOn(one, args, mount) {
  const { sandbox, env } = one;
  const list = 'find . -type f -exec sha256sum {} + | sort';
  const script = `
    out=$1 program=$2; shift 2; cd "$HOME"
    ${mount}
    ${list} > "$out/before"
    "$program" setup "$@" --json --yes > "$out/done"; echo $? > "$out/code"
    "$program" setup "$@" --json --dry-run > "$out/again"
    "$program" setup --remove --json --yes > "$out/removed"
    ${list} > "$out/after"`;
  const out = sandbox.folder('out');
  const [program, ...namespace] = NAMESPACE;
  const command = ['/bin/sh', '-c', script, 'sh', out, PROGRAM, ...args];
  const options = { env: sandbox.env({ ...env, PATH: `${env.PATH}:/usr/bin:/bin` }) };
  await new Promise((resolve, reject) => {
    execFile(program, [...namespace, ...command], options, (error, _, stderr) =>
      error ? reject(new Error(stderr)) : resolve(),
    );
  });
  const said = (name) => fs.readFileSync(path.join(out, name), 'utf8');
  return { said, done: outcomes(said('done')), again: outcomes(said('again')) };
}

test('on a disk that is full in the middle a step is done or leaves nothing', async (t) => {
  if (noNamespace) return t.skip(noNamespace);
  const one = user(t, noNeovim ? [] : [NEOVIM]);
  const args = installIde(one.sandbox);
  if (!noNeovim) args.push('neovim');
  const program = Math.ceil(fs.statSync(PROGRAM).size / 1024);
  const seen = new Set();
  // In KB: pages for the record, then for one step more after the other.
  for (const free of [12, 16, 24, 36, 64, 128, 240, 320, program + 80, program + 800]) {
    const mount = `mount -t tmpfs -o size=${free}k tmpfs "$HOME"; cd "$HOME"
      mkdir .gemini; echo '${SETTINGS.trim()}' > .gemini/settings.json`;
    const { said, done, again } = await setUpOn(one, args, mount);
    const failed = Object.values(done).filter((outcome) => outcome === 'failed').length;
    const all = `with ${free} KB: ${said('done')}`;
    assert.equal(said('code').trim(), failed > 0 ? '1' : '0', all);
    for (const [subject, outcome] of Object.entries(done)) {
      seen.add(`${subject} ${outcome}`);
      assert.equal(again[subject], outcome === 'done' ? 'unchanged' : 'planned', all);
    }
    if (failed > 0) assert.match(said('done'), /No space left on device/);
    assert.equal(said('after'), said('before'), all);
  }
  for (const subject of Object.keys(outcomes(fs.readFileSync(`${one.sandbox.root}/out/done`)))) {
    for (const outcome of ['done', 'failed']) assert.ok(seen.has(`${subject} ${outcome}`), subject);
  }
});

test('settings that a container mounts stay, and the way by hand is named', async (t) => {
  if (noNamespace) return t.skip(noNamespace);
  const mount = 'mount --bind .gemini/settings.json .gemini/settings.json';
  const { said, done } = await setUpOn(user(t), [], mount);
  assert.equal(done['Gemini CLI'], 'failed');
  assert.match(said('done'), /settings\.json is a mount of its own[^"]*; add to settings\.json/);
  assert.equal(said('after'), said('before'));
});
