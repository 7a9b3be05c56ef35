// Tests that the keys in a proposal do nothing if they begin a mapping of the user.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { UNCHANGED } from '../lib/decision.mjs';
import { noNeovim as skip, openProposal } from '../lib/neovim.mjs';

/** The leaders of a widespread configuration, and mappings that begin like the keys in a proposal. */
const init = `
  vim.g.mapleader, vim.g.maplocalleader = ' ', ' '
  vim.o.timeoutlen = 20000
  vim.keymap.set('n', '<Space>', '<Nop>')
  for _, keys in ipairs({ 'rn', 'ab', 'ca', 'mm' }) do
    vim.keymap.set({ 'n', 'x' }, '<leader>' .. keys, function() vim.g.ran = keys end)
  end`;

test('a mapping of the user with the same beginning wins, at any speed', { skip }, async (t) => {
  const { neovim, decision } = await openProposal(t, { init });
  for (const keys of ['rn', 'ab', 'ca', 'mm']) {
    for (const pause of [0, 120]) {
      await neovim.lua(`vim.g.ran = ''`);
      for (const key of [' ', ...keys]) {
        await neovim.press(key);
        await sleep(pause);
      }
      await neovim.until(`vim.g.ran == ...`, keys);
    }
    // Slower than 'timeoutlen': the beginning alone does nothing, and says so.
    await neovim.command('set timeoutlen=50');
    await neovim.type(` ${keys[0]}`);
    await neovim.until(`vim.fn.execute('messages'):find('does nothing: it begins your mapping <Space>${keys}')`);
    await neovim.command('set timeoutlen=20000');
  }
  assert.equal((await neovim.ready()).proposals, 1);
  assert.ok(!(await neovim.bars())[1].includes('says why'));
  await neovim.type(':GeminiCompanion accept<CR>');
  assert.deepEqual(await decision, UNCHANGED);
});

test('a mapping that comes later wins, and so does the user’s own mapping of the same keys', { skip }, async (t) => {
  const { neovim, decision } = await openProposal(t, {
    init: `vim.o.timeoutlen = 20000 vim.keymap.set('n', '\\\\a', function() vim.g.ran = 'a' end)`,
  });
  await neovim.lua(`vim.keymap.set('n', '\\\\rn', function() vim.g.ran = 'rn' end, { buffer = 0 })`);
  await neovim.press('\\r');
  await sleep(120);
  await neovim.press('n');
  await neovim.until(`vim.g.ran == 'rn'`);
  await neovim.type('\\a');
  await neovim.until(`vim.g.ran == 'a'`);
  assert.equal((await neovim.ready()).proposals, 1);
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, UNCHANGED);
});

test('keys that the user has chosen hide a mapping of the same keys', { skip }, async (t) => {
  const { neovim, decision } = await openProposal(t, {
    setup: `{ cmd = vim.env.GEMINI_COMPANION, mappings = { accept = '<CR>' } }`,
    env: { GEMINI_COMPANION: process.env.GEMINI_COMPANION },
    init: `vim.keymap.set('n', '<CR>', function() vim.g.ran = true end)`,
  });
  await neovim.type('<CR>');
  assert.deepEqual(await decision, UNCHANGED);
});
