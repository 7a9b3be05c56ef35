// Tests that the other worktrees of a Git repository belong to the project that an editor has open.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { accepted } from '../lib/decision.mjs';
import { examine, settings } from '../lib/doctor.mjs';
import { Editor } from '../lib/editor.mjs';
import { noGit as skip, repository } from '../lib/git.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { Neovim, noNeovim } from '../lib/neovim.mjs';
import { QWEN_CLIENT, locks, qwenHome } from '../lib/qwen-code.mjs';

const folders = (file) => JSON.parse(fs.readFileSync(file, 'utf8')).workspacePath.split(':');

/** Waits until the discovery file names these folders. */
const untilNamed = (companion, expected) =>
  until(`the file names ${expected}`, () => {
    const named = folders(companion.ready.discoveryFiles.gemini);
    return JSON.stringify(named) === JSON.stringify(expected);
  });

const startNamed = (sandbox, name, workspace, args = []) =>
  Companion.start(sandbox, { args: ['--ide-display-name', name, ...args], workspace: [workspace] });

test('a CLI in another worktree connects, and its edits are reviewed', { skip }, async (t) => {
  const { sandbox, add } = repository(t);
  const side = add('side');
  const home = qwenHome(sandbox);
  const companion = await Companion.start(sandbox);
  await untilNamed(companion, [sandbox.project, side]);
  assert.deepEqual(folders(locks(home)[0]), [sandbox.project, side]);
  const editor = new Editor(companion);
  const cwd = sandbox.folder('side', 'sub');
  for (const module of [undefined, QWEN_CLIENT]) {
    const client = await IdeClient.connect(sandbox, { cwd, module });
    const file = path.join(side, 'a.txt');
    const { decision } = await client.propose(editor, file, 'new');
    editor.accept(file, 'by the user');
    assert.deepEqual(await decision, accepted('by the user'));
    await client.close();
  }
});

test('a project in a folder of a worktree has that folder in the others', { skip }, async (t) => {
  const { sandbox, git, add } = repository(t);
  sandbox.file('app/b.txt', 'old');
  git('add', 'app');
  git('commit', '--quiet', '--message', 'b');
  const app = path.join(sandbox.project, 'app');
  const companion = await startNamed(sandbox, 'the app', app);
  await untilNamed(companion, [app]);
  const side = path.join(add('side'), 'app');
  await untilNamed(companion, [app, side]);
  const editor = new Editor(companion);
  const client = await IdeClient.connect(sandbox, { cwd: side });
  const file = path.join(side, 'b.txt');
  const { decision } = await client.propose(editor, file, 'new');
  editor.accept(file, 'by the user');
  assert.deepEqual(await decision, accepted('by the user'));
  // The folder comes later.
  git('worktree', 'add', '--quiet', '--no-checkout', path.join(sandbox.root, 'late'));
  await untilNamed(companion, [app, side]);
  await untilNamed(companion, [app, sandbox.folder('late', 'app'), side]);
});

test('worktrees come and go while the editor runs', { skip }, async (t) => {
  const { sandbox, git, add } = repository(t);
  const companion = await Companion.start(sandbox);
  await untilNamed(companion, [sandbox.project]);
  const side = add('side');
  await untilNamed(companion, [sandbox.project, side]);
  const other = add('other');
  await untilNamed(companion, [sandbox.project, other, side]);
  git('worktree', 'remove', side);
  await untilNamed(companion, [sandbox.project, other]);
  const moved = path.join(sandbox.root, 'moved');
  git('worktree', 'move', other, moved);
  await untilNamed(companion, [sandbox.project, moved]);
  // The editor opens the worktree alone.
  companion.notify('workspace/folders', { paths: [moved] });
  await untilNamed(companion, [moved, sandbox.project]);
});

test('of two editors with a worktree each, both keep their own', { skip }, async (t) => {
  const { sandbox, add } = repository(t);
  const [side, third] = [add('side'), add('third')];
  const main = await startNamed(sandbox, 'main', sandbox.project);
  await untilNamed(main, [sandbox.project, side, third]);
  const second = await startNamed(sandbox, 'side', side, ['--ide-pid', `${process.ppid}`]);
  await untilNamed(main, [sandbox.project, third]);
  await untilNamed(second, [side, third]);
  for (const [cwd, name] of [
    [sandbox.project, 'main'],
    [side, 'side'],
  ]) {
    const client = await IdeClient.connect(sandbox, { cwd });
    assert.equal(await client.displayName(), name);
    await client.close();
  }
  await second.close();
  await untilNamed(main, [sandbox.project, side, third]);
});

test('the variables and the mounts for a CLI name no worktree but its own', { skip }, async (t) => {
  const { sandbox, add } = repository(t);
  const side = add('side');
  const companion = await Companion.start(sandbox);
  await untilNamed(companion, [sandbox.project, side]);
  for (const [cwd, expected] of [
    [sandbox.project, sandbox.project],
    [side, `${sandbox.project}:${side}`],
  ]) {
    const program = path.resolve(process.env.GEMINI_COMPANION);
    const run = (...args) => execFileSync(program, args, { cwd, env: sandbox.env(), encoding: 'utf8' });
    const variables = JSON.parse(run('env', '--format', 'json'));
    assert.equal(variables.GEMINI_CLI_IDE_WORKSPACE_PATH, expected);
    const command = run('container', '--print', '--', 'docker', 'run', 'image');
    assert.equal(command.includes(`--volume=${side}:${side}`), cwd === side, command);
  }
});

test('an editor without a folder takes no worktree', { skip }, async (t) => {
  const { sandbox, add } = repository(t);
  const empty = await startNamed(sandbox, 'empty', sandbox.folder('other'));
  empty.notify('workspace/folders', { paths: [] });
  await untilNamed(empty, ['']);
  const side = add('side');
  const main = await startNamed(sandbox, 'main', sandbox.project);
  await untilNamed(main, [sandbox.project, side]);
});

test('doctor names the worktree if worktrees are off', { skip }, async (t) => {
  const { sandbox, add } = repository(t);
  settings(sandbox);
  const side = add('side');
  const companion = await Companion.start(sandbox, { args: ['--no-worktrees'] });
  await companion.caughtUp();
  const client = await IdeClient.start(sandbox, { cwd: side, env: companion.ready.env });
  assert.match((await client.connect()).details, /^Directory mismatch\./);
  const { problem, verdict, advice } = await examine(sandbox, { cwd: side });
  assert.equal(problem, 'other-folder');
  assert.match(verdict, /is a worktree of the repository in .*project/);
  assert.match(advice[0], /--no-worktrees/);
});

test('doctor does not blame the option for a worktree that another editor has a part of', { skip }, async (t) => {
  const { sandbox, git, add } = repository(t);
  settings(sandbox);
  sandbox.file('app/b.txt', 'old');
  git('add', 'app');
  git('commit', '--quiet', '--message', 'b');
  const side = add('side');
  const link = path.join(sandbox.root, 'link');
  fs.symlinkSync(side, link);
  const main = await startNamed(sandbox, 'main', sandbox.project);
  await untilNamed(main, [sandbox.project, side]);
  const verdictOf = async (companion) => {
    const { problem, verdict } = await examine(sandbox, { cwd: side, env: companion.ready.env });
    assert.equal(problem, 'other-folder');
    return verdict;
  };
  for (const app of [side, link].map((folder) => path.join(folder, 'app'))) {
    const other = await startNamed(sandbox, 'other', app);
    await untilNamed(other, [app]);
    await untilNamed(main, [sandbox.project]);
    assert.match(await verdictOf(main), /is not in a folder that the editor has open/);
    await other.close();
    await untilNamed(main, [sandbox.project, side]);
  }
  await main.close();
  // The editor of one was killed.
  const off = await startNamed(sandbox, 'off', sandbox.project, ['--no-worktrees']);
  const ide = spawn('sleep', ['600']);
  const ended = once(ide, 'exit');
  t.after(() => ide.kill());
  const args = ['--ide-pid', `${ide.pid}`];
  const killed = await startNamed(sandbox, 'killed', path.join(side, 'app'), args);
  assert.match(await verdictOf(off), /is not in a folder that the editor has open/);
  await killed.kill();
  ide.kill();
  await ended;
  assert.match(await verdictOf(off), /is a worktree of the repository in .*project/);
});

test('with the option of the plugin for Neovim a CLI in another worktree does not connect', { skip: skip || noNeovim }, async (t) => {
  const { sandbox, add } = repository(t);
  const side = add('side');
  const neovim = await Neovim.start(sandbox, { options: 'worktrees = false' });
  await neovim.ready();
  const client = await IdeClient.start(sandbox, { cwd: side });
  assert.match((await client.connect()).details, /^Directory mismatch\./);
});
