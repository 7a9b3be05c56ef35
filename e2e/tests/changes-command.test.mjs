// Tests `gemini-companion changes`: what it prints of the changes that hooks have reported.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { bridgeEnv, byDiscovery } from '../lib/bridge.mjs';
import { Companion } from '../lib/companion.mjs';
import { run } from '../lib/doctor.mjs';
import { Editor } from '../lib/editor.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import { openWindow } from '../lib/scene.mjs';

const SECRET = 'PASSWORD=hunter2';

const list = (sandbox, ...args) => run(sandbox, ['changes', ...args]);

async function json(sandbox, ...args) {
  const { code, stdout, stderr } = await list(sandbox, '--json', ...args);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** A window, and a CLI that asks nothing. */
async function open(t) {
  const window = await openWindow(t);
  return { ...window, cli: new HookCli(window.sandbox) };
}

/** A window where two prompts have changed files. */
async function changed(t) {
  const window = await open(t);
  const { sandbox, cli } = window;
  const file = sandbox.file('src/a b.txt', 'one\ntwo\n');
  const made = path.join(sandbox.project, 'made');
  await cli.prompt('Rename it\nand more');
  await cli.write(file, 'ONE\ntwo\n');
  await cli.write(made, 'new');
  await cli.prompt('Once more');
  await cli.write(file, 'ONE\nTWO\n');
  return { ...window, file, made };
}

const DIFF = '--- a/src/a b.txt\t\n+++ b/src/a b.txt\t\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n';

test('changes are listed by prompt, for people and for scripts', async (t) => {
  const { sandbox, file, made } = await changed(t);
  const { version, prompts } = await json(sandbox);
  assert.equal(version, 1);
  assert.deepEqual(
    prompts.map(({ session, prompt, title }) => [session, prompt, title]),
    [
      ['a', 1, 'Rename it'],
      ['a', 2, 'Once more'],
    ],
  );
  assert.ok(Math.abs(Date.now() - prompts[0].time) < 600_000, 'milliseconds since 1970');
  const flags = { revertible: true, reverted: false, private: false, mixed: false };
  assert.deepEqual(prompts[0].files, [
    {
      ...{ path: file, kind: 'changed', added: 1, removed: 1, ...flags },
      ...{ relativePath: 'src/a b.txt', diff: DIFF },
    },
    {
      ...{ path: made, kind: 'created', added: 1, removed: 0, ...flags, relativePath: 'made' },
      diff: '--- /dev/null\n+++ b/made\n@@ -0,0 +1,1 @@\n+new\n\\ No newline at end of file\n',
    },
  ]);

  const { stdout } = await list(sandbox, '--prompt', '1');
  const made1 = '  created made +1 -0\n' + prompts[0].files[1].diff;
  const expected = `Prompt 1, just now: Rename it\n  changed src/a b.txt +1 -1\n${DIFF}${made1}`;
  assert.equal(stdout.replace(/\d+ min ago/, 'just now'), expected);
  const short = await list(sandbox, '--stat');
  assert.match(short.stdout, /^Prompt 1, .*\n {2}changed .*\n {2}created made \+1 -0\n\nPrompt 2, /);
  assert.ok(!short.stdout.includes('@@'));

  const last = await json(sandbox, '--prompt', 'last');
  assert.deepEqual(last.prompts, prompts.slice(1));
});

for (const [program, ...args] of [
  ['git', 'apply', '-R', '-p1'],
  ['patch', '-R', '-p1', '-s'],
]) {
  test(`${program} reverts all but empty files, also below the root of a repository`, async (t) => {
    const { sandbox, cli } = await open(t);
    execFileSync('git', ['init', '-q', path.dirname(sandbox.project)]);
    const file = sandbox.file('d d/a b', 'one\n');
    const folder = path.dirname(file);
    const empty = ['e e', 'f'].map((name) => path.join(folder, name));
    await cli.prompt('Make files');
    for (const made of empty) await cli.write(made, '');
    await cli.write(file, 'two\n');
    const { stdout } = await list(sandbox, '--prompt', 'last');
    execFileSync(program, args, { cwd: sandbox.project, input: stdout });
    assert.equal(fs.readFileSync(file, 'utf8'), 'one\n');
    assert.deepEqual(fs.readdirSync(folder).sort(), ['a b', 'e e', 'f']);
  });
}

test('what the user has reverted is not in the patch, and what is kept not in the list', async (t) => {
  const { sandbox, companion, file, made } = await changed(t);
  const key = { session: 'a', prompt: 1 };
  fs.rmSync(made);
  companion.notify('cli/reverted', { ...key, paths: [made] });
  await companion.caughtUp();
  const { stdout } = await list(sandbox, '--prompt', '1');
  assert.match(stdout, / {2}created made \+1 -0 \(reverted\)\n$/);
  for (const prompt of [1, 2]) companion.notify('cli/kept', { session: 'a', prompt, paths: [file] });
  await companion.caughtUp();
  const { prompts } = await json(sandbox);
  assert.deepEqual(prompts.map(({ files }) => files.map((of) => of.relativePath)), [['made']]);
});

test('no text of a private file is printed, also of one that became private', async (t) => {
  const { sandbox, companion, cli } = await open(t);
  const env = sandbox.file('.env', `${SECRET}\n`);
  const later = sandbox.file('later.txt', `${SECRET}\n`);
  await cli.prompt('Change them');
  await cli.write(env, `${SECRET}3\n`);
  await cli.write(later, `${SECRET}4\n`);
  const all = await json(sandbox);
  assert.deepEqual(all.prompts[0].files.map((file) => [file.private, 'diff' in file]), [
    [true, false],
    [false, true],
  ]);
  sandbox.file('.geminiignore', 'later.txt\n');
  for (const args of [[], ['--json']]) {
    const { code, stdout } = await list(sandbox, ...args);
    assert.equal(code, 0);
    assert.ok(stdout.includes('.env') && stdout.includes('later.txt'), stdout);
    assert.ok(!stdout.includes('hunter2'), stdout);
  }
  companion.notify('workspace/shareContext', { share: false });
  const silent = 'error: Forbidden: the user shares nothing of this project; turn sharing on in the editor\n';
  await companion.caughtUp();
  assert.deepEqual(await list(sandbox), { code: 1, stdout: '', stderr: silent });
});

test('the list has the changes that any editor of the folder knows', async (t) => {
  const { sandbox, companion } = await openWindow(t);
  const other = await Companion.start(sandbox);
  new Editor(other); // it answers before each prompt
  for (const [name, { ready }] of Object.entries({ first: companion, second: other })) {
    const cli = new HookCli(sandbox, name);
    const file = sandbox.file(name, 'one\n');
    await cli.prompt(name, ready.env);
    await cli.before(file, {}, ready.env);
    fs.writeFileSync(file, 'two\n');
    await cli.after(file, {}, ready.env);
  }
  const titles = async (options) => {
    const { stdout } = await run(sandbox, ['changes', '--json'], options);
    return JSON.parse(stdout).prompts.map(({ title }) => title);
  };
  assert.deepEqual(await titles(), ['first', 'second']);
  const behind = bridgeEnv(sandbox, byDiscovery(sandbox));
  assert.deepEqual(await titles({ env: behind }), ['first', 'second'], 'behind a bridge');
  const last = await list(sandbox, '--prompt', 'last');
  assert.match(last.stdout, /^Prompt 1, [^:]*: second\n[^]*\+two\n$/);
  const both = await list(sandbox, '--prompt', '1');
  assert.deepEqual([both.code, both.stdout], [1, ''], 'a patch of both would revert both');
  assert.match(both.stderr, /^error: 2 editors have this folder open, and each has a prompt 1; close/);

  companion.notify('workspace/shareContext', { share: false });
  await companion.caughtUp();
  const rest = await list(sandbox, '--prompt', '1');
  assert.match(rest.stdout, /^Prompt 1, [^:]*: second\n/);
  assert.match(rest.stderr, /the list is not complete: Forbidden: the user shares nothing/);
});

test('an empty list is no error, but a wrong prompt, option or folder is one', async (t) => {
  const { sandbox } = await openWindow(t);
  assert.deepEqual(await list(sandbox), { code: 0, stdout: 'No changes.\n', stderr: '' });
  assert.deepEqual(await json(sandbox), { version: 1, prompts: [] });
  assert.deepEqual(await json(sandbox, '--prompt', 'last'), { version: 1, prompts: [] });
  for (const [args, code, text] of [
    [['--prompt', '7'], 1, /^error: prompt 7 has changed no file, or has left the list; see/],
    [['--prompt', 'first'], 2, /'--prompt <PROMPT>': it is neither a number nor last/],
    [['--stat', '--json'], 2, /cannot be used with/],
    [['--workspace', sandbox.home], 1, /^error: no editor has .* open, only /],
    [['--workspace', path.join(sandbox.home, 'none')], 1, /there is no such folder/],
  ]) {
    const { stdout, stderr, ...found } = await list(sandbox, ...args);
    assert.deepEqual([found.code, stdout], [code, ''], args.join(' '));
    assert.match(stderr, text);
  }
});
