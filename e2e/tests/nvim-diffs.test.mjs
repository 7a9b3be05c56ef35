// Owns proposals in Neovim: how they show, how the user decides, and that no byte is lost.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { IdeClient } from '../lib/ide-client.mjs';
import { noNeovim as skip, openNeovimWithClient } from '../lib/neovim.mjs';

const REJECTED = { status: 'rejected', content: undefined };
const accepted = (content) => ({ status: 'accepted', content });

test('a proposal shows beside the file, in a tab page of its own', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.lua', 'local a = 1\n');
  const decision = client.openDiff(file, 'local a = 2\n');
  const { left, right } = await neovim.proposal(file);
  assert.deepEqual([left, right], [['local a = 1'], ['local a = 2']]);
  const shown = await neovim.lua(`
    local windows = {}
    for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      local buffer = vim.api.nvim_win_get_buf(window)
      table.insert(windows, { vim.wo[window].diff, vim.bo[buffer].filetype, vim.bo[buffer].modifiable })
    end
    return { windows, #vim.api.nvim_list_tabpages(), vim.api.nvim_buf_get_name(0) }`);
  assert.deepEqual(shown, [
    [[true, 'lua', false], [true, 'lua', true]],
    2,
    `gemini-companion://proposal${file}`,
  ]);
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, accepted('local a = 2\n'));
  await neovim.until('#vim.api.nvim_list_tabpages() == 1');
});
