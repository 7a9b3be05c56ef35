// Tests decisions in Neovim with floating windows over the proposal.

import assert from 'node:assert/strict';
import test from 'node:test';

import { REJECTED, UNCHANGED } from '../lib/decision.mjs';
import { noNeovim as skip, openProposal } from '../lib/neovim.mjs';

/** Shows every message in a floating window of the current tab page, as Snacks and nvim-notify do. */
const NOTIFIER = `vim.notify = function(message)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, { message })
  vim.api.nvim_open_win(buffer, false, {
    relative = 'editor', width = 40, height = 1, row = 1, col = 60,
    style = 'minimal', focusable = false,
  })
end`;

test('Neovim lives when, below a floating window, a proposal ends', { skip }, async (t) => {
  const { neovim, client, file, ...first } = await openProposal(t, { init: NOTIFIER });
  await client.resolveDiffFromCli(file, 'accepted');
  assert.deepEqual(await first.decision, UNCHANGED);
  for (const [keys, expected] of Object.entries({
    ':w<CR>': UNCHANGED,
    ZZ: UNCHANGED,
    ':q<CR>': REJECTED,
    ':tabclose<CR>': REJECTED,
    ':tabfirst | GeminiCompanion accept<CR>': UNCHANGED,
    ':tabfirst | GeminiCompanion reject<CR>': REJECTED,
  })) {
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    const { decision } = await client.propose(neovim, file, 'new\nnew2\n');
    await neovim.type(keys);
    assert.deepEqual(await decision, expected, keys);
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    assert.deepEqual(await neovim.lua('return vim.fn.getline(1, "$")'), ['1', '2', '3'], keys);
  }
});
