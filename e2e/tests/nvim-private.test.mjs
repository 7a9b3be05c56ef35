// Tests private files in Neovim: the display, and the switch that stops all sharing.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';

import { UNCHANGED } from '../lib/decision.mjs';
import { IdeClient, are } from '../lib/ide-client.mjs';
import { noNeovim as skip, openNeovim, openNeovimWithClient } from '../lib/neovim.mjs';

const lastLine = async (neovim) =>
  (await neovim.status()).trim().split('\n').at(-1);

// The client runs no hooks.
const UNHOOKED = /^Connected CLIs that have passed on no prompt yet: 1\./;

const isPrivate = `require('gemini_companion').status().private`;

test('the status shows that the file in front is private', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const text = sandbox.file('a.txt', 'a text\n');
  const key = sandbox.file('src/x.hid', 'a secret\n');
  await neovim.edit(text);
  await neovim.edit(key);
  await client.openFiles(are(key, text));
  assert.match(await lastLine(neovim), UNHOOKED);
  sandbox.file('src/.aiexclude', '*.hid\n');
  await client.openFiles(are(text));
  await neovim.until(isPrivate);
  const hidden = 'Hidden from CLIs: src/x.hid. An ignore file lists it.';
  assert.equal(await lastLine(neovim), hidden);
  await neovim.command('terminal');
  assert.equal(await lastLine(neovim), hidden, 'a terminal is no other file');
  await neovim.edit(text);
  await neovim.until(`not ${isPrivate}`);
  assert.match(await lastLine(neovim), UNHOOKED);
});

test('the status says why a file with secrets is private, and how to share it', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const text = sandbox.file('a.txt', 'a text\n');
  const env = sandbox.file('conf/.env', 'TOKEN=secret\n');
  await neovim.edit(text);
  await neovim.edit(env);
  await client.openFiles(are(text));
  await neovim.until(isPrivate);
  const line = await lastLine(neovim);
  assert.match(line, /^Hidden from CLIs: conf\/\.env\. It may contain environment variables/);
  const [, shared] = line.split('To share it, add this line to .geminiignore: ');
  sandbox.file('.geminiignore', `${shared}\n`);
  await client.openFiles(are(env, text));
  await neovim.until(`not ${isPrivate}`);
});

test('with an option, a file that Git ignores is private', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t, { options: `git_ignored_private = true` });
  const text = sandbox.file('a.txt', 'a text\n');
  const log = sandbox.file('logs/x.log', 'a secret\n');
  await neovim.edit(text);
  await neovim.edit(log);
  await client.openFiles(are(log, text));
  sandbox.file('.gitignore', '*.log\n');
  await client.openFiles(are(text));
  await neovim.until(isPrivate);
  const line = await lastLine(neovim);
  const why = 'Hidden from CLIs: logs/x.log. Git ignores it by *.log in .gitignore. To share it, add this line to .geminiignore: ';
  assert.ok(line.startsWith(why), line);
  assert.match(await neovim.health(), /The companion shares nothing about files that Git ignores/);
  await neovim.edit(log);
  sandbox.file('.geminiignore', `${line.slice(why.length)}\n`);
  await client.openFiles(are(log, text));
  await neovim.until(`not ${isPrivate}`);
});

test('the bar of a proposal shows that its file is private', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  sandbox.file('.geminiignore', '*.hid\n');
  const left = async () => (await neovim.bars())[0];
  const file = path.join(sandbox.project, 'new.hid');
  const { decision } = await client.propose(neovim, file, 'proposed\n');
  assert.equal(await left(), 'No file yet — private (nothing else about it is shared)');
  assert.match(await neovim.messages(), /new\.hid; it is for a private file$/);
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, UNCHANGED);
  const other = sandbox.file('a.txt', 'old\n');
  client.openDiff(other, 'new\n');
  await neovim.view(other);
  assert.equal(await left(), 'The file as it is');
});

test('turning sharing off hides everything until it is turned on', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'a text\n');
  await neovim.edit(file);
  await client.openFiles(are(file));
  await neovim.command('GeminiCompanion share off');
  await client.openFiles(are());
  const off = 'Sharing with CLIs is off. Run :GeminiCompanion share on to turn it on';
  assert.equal(await lastLine(neovim), off);
  const { decision } = await client.propose(neovim, file, 'proposed\n');
  await neovim.type(':w<CR>');
  assert.equal((await decision).status, 'accepted');
  await neovim.command('GeminiCompanion restart');
  await neovim.ready();
  // The first one opens its stream again after 20 s.
  const next = await IdeClient.connect(sandbox);
  await next.openFiles(are());
  await neovim.command('GeminiCompanion share on');
  await next.openFiles(are(file));
});

test('a second setup does not turn sharing on', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'a text\n');
  const isShared = () => neovim.lua(`return require('gemini_companion').status().share_context`);
  const setUpAgain = (options) =>
    neovim.lua(
      `local config = require('gemini_companion.config')
       local now = { cmd = config.options.cmd, autostart = config.options.autostart }
       require('gemini_companion').setup(vim.tbl_extend('error', now, ...))`,
      options,
    );
  await neovim.edit(file);
  await client.openFiles(are(file));
  await setUpAgain({ share_context: false });
  await client.openFiles(are());
  await setUpAgain({ focus: true });
  assert.equal(await isShared(), false);
  await neovim.command('GeminiCompanion share on');
  await client.openFiles(are(file));
  assert.equal(await isShared(), true);
});

test('options that count only after a restart are named, and Neovim reports those of the start', { skip }, async (t) => {
  const { neovim } = await openNeovim(t);
  const setUp = (options) =>
    neovim.lua(`require('gemini_companion').setup(vim.tbl_extend('error', { cmd = { (...) } }, select(2, ...)))`,
      process.env.GEMINI_COMPANION, options);
  const ignored = /shares nothing about files that Git ignores/;
  await setUp({ focus: false });
  assert.doesNotMatch(await neovim.messages(), /restart/);
  await setUp({ git_ignored_private: true, review: false });
  await neovim.says(/:GeminiCompanion restart applies these options: git_ignored_private, review$/m);
  const before = await neovim.health();
  assert.doesNotMatch(before, ignored);
  assert.match(before, /Options that have changed since the start: git_ignored_private, review$/m);
  const review = () => neovim.lua(`return vim.fn.execute('GeminiCompanion review on')`);
  assert.doesNotMatch(await review(), /off in your setup/);
  await neovim.command('GeminiCompanion restart');
  await neovim.ready();
  const after = await neovim.health();
  assert.match(after, ignored);
  assert.doesNotMatch(after, /since the start/);
  assert.match(await review(), /off in your setup/);
});
