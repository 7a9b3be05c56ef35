// Tests `serve --git-ignored-private`: clients get nothing about files that Git ignores.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { noGit as skip } from '../lib/git.mjs';
import { are } from '../lib/ide-client.mjs';
import { openWindowWithClient } from '../lib/scene.mjs';

const args = ['--git-ignored-private'];

/** Writes the ignore file that the user has for all repositories. */
function ignoreForUser(sandbox, text) {
  const folder = sandbox.folder('home', '.config', 'git');
  fs.writeFileSync(path.join(folder, 'ignore'), text);
}

/** Opens files in an editor, the last one in front. */
function open({ sandbox, companion }, ...names) {
  const files = names.map((name) => sandbox.file(name, 'a text\n'));
  for (const file of files) companion.notify('editor/focused', { path: file });
  return files;
}

test('a file is ignored exactly if Git says so, apart from its index', { skip }, async (t) => {
  const { sandbox, client } = await openWindowWithClient(t, { args });
  const git = (folder, ...args) =>
    execFileSync('git', ['-C', folder, ...args], { env: sandbox.env(), stdio: ['pipe', 'pipe', 'pipe'] });
  git(sandbox.project, 'init', '--quiet');
  const inner = sandbox.folder('project', 'inner');
  git(inner, 'init', '--quiet');
  sandbox.folder('project', 'empty', '.git');
  const files = {
    '.gitignore': '# logs\n*.log\n!keep.log\n/top\nout/\n!out/x\ndocs/*.md\n\\#odd\ndeep/**/z\n',
    'a/.gitignore': '!a.log\n*.tmp\n!/b/\n',
    'a/b/.gitignore': 'x?\n[st]*\n!sure\n[0-9_].num\n',
    'inner/.gitignore': '!a.log\n*.inner\n',
    '.git/info/exclude': '*.exc\n!a.usr\n',
  };
  for (const [name, text] of Object.entries(files)) sandbox.file(name, text);
  ignoreForUser(sandbox, '*.usr\na/only\n');
  const names = [
    ...['a.log', 'keep.log', 'top', 'out/x', 'out/y', 'docs/a.md', 'docs/d/a.md', '#odd', 'deep/z'],
    ...['deep/a/b/z', 'a/a.log', 'a/c.log', 'a/top', 'a/a.tmp', 'a/b/a.tmp', 'a/b/x1', 'a/b/x', 'a/b/s'],
    ...['a/b/sure', 'a/b/tree', 'a/b/keep.log', 'inner/a.log', 'inner/x.log', 'inner/x.inner', 'inner/top', 'empty/a.log'],
    ...['a.exc', 'a/a.exc', 'a.usr', 'b.usr', 'a/only', 'only', 'a/out/x', 'a b', 'inner/a.exc'],
    ...['a/b/5.num', 'a/b/_.num', 'a/b/d.num', 'a/5.num'],
  ];
  const isIgnored = (name) => {
    const [folder, within] = name.startsWith('inner/') ? [inner, name.slice(6)] : [sandbox.project, name];
    const env = sandbox.env();
    const { status } = spawnSync('git', ['-C', folder, 'check-ignore', '--quiet', '--no-index', within], { env });
    assert.ok(status === 0 || status === 1, `${name}: ${status}`);
    return status === 0;
  };
  const expected = names.filter(isIgnored);
  assert.ok(expected.length > 10 && expected.length < names.length - 10, expected.join());
  const found = [];
  for (const name of names) {
    const result = await client.callTool('getDiagnostics', { filePath: sandbox.file(name) });
    if (/the file stays private/.test(result.content[0].text)) found.push(name);
  }
  assert.deepEqual(found, expected);
});

test('a change of the configuration of Git takes effect at once', { skip }, async (t) => {
  const window = await openWindowWithClient(t, { args });
  const { sandbox, client } = window;
  const env = sandbox.env();
  execFileSync('git', ['-C', sandbox.project, 'init', '--quiet'], { env });
  const [text, log] = open(window, 'a.txt', 'x.log');
  await client.openFiles(are(log, text));
  const rules = path.join(sandbox.folder('home'), 'rules');
  fs.writeFileSync(rules, '*.log\n');
  for (const where of ['--global', '--local']) {
    execFileSync('git', ['-C', sandbox.project, 'config', where, 'core.excludesFile', rules], { env });
    await client.openFiles(are(text));
    execFileSync('git', ['-C', sandbox.project, 'config', where, '--unset', 'core.excludesFile'], { env });
    await client.openFiles(are(log, text));
  }
});
