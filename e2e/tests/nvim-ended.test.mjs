// Tests that a proposal in Neovim that a CLI ends takes no user out of another window of its tab page.

import assert from 'node:assert/strict';
import test from 'node:test';

import { replace } from '../lib/conversation.mjs';
import { openNeovimWithCli } from '../lib/neovim-cli.mjs';
import { noNeovim as skip, openProposal } from '../lib/neovim.mjs';

/** Lua for a float over the current window, with the user in it. */
const FLOAT = `vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true,
  { relative = 'editor', row = 2, col = 2, width = 40, height = 3 })`.replaceAll('\n', ' ');

/** A `vim.ui.input` in a float, as plugins have it. */
const FLOATING_INPUT = `vim.ui.input = function(options, answer)
  ${FLOAT}
  if options.default then vim.api.nvim_set_current_line(options.default) end
  vim.keymap.set('i', '<CR>', function()
    local reply = vim.api.nvim_get_current_line()
    vim.cmd('stopinsert')
    vim.api.nvim_win_close(0, true)
    answer(reply)
  end, { buffer = true })
  vim.cmd('startinsert!')
end`;

const mine = (neovim) => neovim.lua(`return vim.fn.getbufline('mine.txt', 1, '$')`);
const ended = (neovim) => neovim.until(`require('gemini_companion').status().proposals == 0
  and vim.fn.bufnr('gemini-companion://') == -1`);

for (const [keys, window] of [
  [':help<CR>', /help\.txt$/],
  [':GeminiCompanion list<CR>', /^$/],
  [':split other.txt<CR>', /other\.txt$/],
  [':split other.txt<CR>i', /other\.txt$/],
  [':split | terminal cat<CR>i', /^term:/],
]) {
  test(`a user in ${keys} beside a proposal that its CLI closes stays there`, { skip }, async (t) => {
    const { neovim, client, file } = await openProposal(t);
    await neovim.type(keys);
    const at = () => neovim.lua(`return { vim.api.nvim_get_current_win(), vim.fn.bufname(), vim.api.nvim_get_mode().mode }`);
    const before = await at();
    assert.match(before[1], window);
    await client.closeDiff(file);
    await ended(neovim);
    await neovim.type('dd');
    assert.deepEqual(await at(), before);
    assert.deepEqual(await mine(neovim), ['1', '2', '3']);
    assert.equal(await neovim.lua(`return vim.fn.win_findbuf(vim.fn.bufnr('mine.txt'))[1] ~= nil`), true);
  });
}

test('a proposal that its CLI closes says so also to a user who comes into it afterwards', { skip }, async (t) => {
  const { neovim, client, file } = await openProposal(t);
  await neovim.type(':split other.txt<CR>');
  await neovim.type(':');
  await client.closeDiff(file);
  await neovim.type('wincmd j<CR>i');
  await neovim.until(`vim.wo.winbar:find('ended') or vim.wo.winbar:find('closed')`);
  await neovim.type('<Esc>');
  await ended(neovim);
});

for (const keys of ['\\m', `:lua ${FLOAT}<CR>i`]) {
  test(`a user in a float by ${keys} over a proposal that its CLI closes types on there`, { skip }, async (t) => {
    const { neovim, client, file } = await openProposal(t, { init: FLOATING_INPUT });
    await client.callTool('getDiagnostics', { filePath: file });
    await neovim.type(keys);
    await neovim.until(`vim.fn.win_gettype() == 'popup'`);
    await neovim.type('not this');
    await client.closeDiff(file);
    await neovim.until(`require('gemini_companion').status().proposals == 0`);
    // A newer proposal for the file comes although the user stays in the float.
    const next = client.openDiff(file, 'next\n');
    await neovim.proposalBehind(file);
    await neovim.type(' but the other');
    assert.equal(await neovim.lua('return vim.api.nvim_get_current_line()'), 'not this but the other');
    assert.deepEqual(await mine(neovim), ['1', '2', '3']);
    await neovim.type('<Esc>:close<CR>');
    await neovim.until(`#vim.api.nvim_list_tabpages() == 2`);
    await neovim.type(':GeminiCompanion reject<CR>');
    await next;
  });
}

test('a user who answers Gemini CLI below a proposal types on in its prompt', { skip }, async (t) => {
  const scene = await openNeovimWithCli(t, { a: 'one\ntwo\n', 'mine.txt': '1\n2\n3\n' }, ({ a }) => [[replace(a)], 'That was all.']);
  const { neovim, cli, file } = scene;
  await neovim.edit(file['mine.txt']);
  await cli.enter('do it');
  await neovim.type('<C-\\><C-n>:tabfirst<CR>');
  await neovim.proposalBehind(file.a);
  await neovim.type(':GeminiCompanion show<CR>:exe "botright sbuffer" g:terminal<CR>i');
  await cli.shows('Allow once');
  await neovim.type('<CR>');
  await ended(neovim);
  await cli.shows('That was all.');
  await neovim.type('dd and more');
  await cli.shows('dd and more');
  assert.deepEqual(await mine(neovim), ['1', '2', '3']);
});
