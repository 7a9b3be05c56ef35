// Tests Qwen Code with Neovim: the real client connects, and its edit is reviewed.

import assert from 'node:assert/strict';
import test from 'node:test';

import { accepted } from '../lib/decision.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { Neovim, noNeovim as skip, openNeovim } from '../lib/neovim.mjs';
import { QWEN_CLIENT, locks, qwenHome } from '../lib/qwen-code.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

test('Qwen Code gets the open files of Neovim, and its edit is reviewed', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const home = qwenHome(sandbox);
  await until('the file is there', () => locks(home).length === 1);
  const client = await IdeClient.connect(sandbox, { module: QWEN_CLIENT });
  assert.equal(await client.displayName(), 'Neovim (project)');
  const file = sandbox.file('a.lua', 'local a = 1\n');
  await neovim.edit(file);
  await client.openFiles((files) => files[0]?.path === file && files[0].isActive);
  const decision = client.openDiff(file, 'local a = 2\n');
  const { left, right } = await neovim.view(file);
  assert.deepEqual([left, right], [['local a = 1'], ['local a = 2']]);
  await neovim.type(':%s/2/3/<CR>:w<CR>');
  assert.deepEqual(await decision, accepted('local a = 3\n'));
  const port = await neovim.lua('return vim.env.QWEN_CODE_IDE_SERVER_PORT');
  assert.equal(locks(home)[0].endsWith(`/${port}.lock`), true);
  await neovim.command('GeminiCompanion stop');
  await until('the file is gone', () => locks(home).length === 0);
});

test('two Neovims in one folder have two names for Qwen Code', { skip }, async (t) => {
  const sandbox = Sandbox.of(t);
  qwenHome(sandbox);
  const names = [];
  for (let count = 1; count <= 2; count += 1) {
    const setup = `{ cmd = [[${process.env.GEMINI_COMPANION}]], clients = { 'qwen' } }`;
    const neovim = await Neovim.start(sandbox, { setup });
    await neovim.ready();
    names.push(await neovim.lua(`return require('gemini_companion.server').status().name`));
  }
  assert.deepEqual(names, ['Neovim (project)', 'Neovim (project) 2']);
});

test('an option selects only one of the clients', { skip }, async (t) => {
  const sandbox = Sandbox.of(t);
  const home = qwenHome(sandbox);
  const setup = `{ cmd = [[${process.env.GEMINI_COMPANION}]], clients = { 'gemini' } }`;
  const neovim = await Neovim.start(sandbox, { setup });
  await neovim.ready();
  await IdeClient.connect(sandbox);
  assert.deepEqual(locks(home), []);
  assert.equal(await neovim.lua('return vim.env.QWEN_CODE_IDE_SERVER_PORT'), null);
});
