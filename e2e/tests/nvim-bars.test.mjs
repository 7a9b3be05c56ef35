// Tests what the bars, the status line and the tab line of Neovim say about a proposal, also in narrow windows.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { compared, openEdited, run, TEXT } from '../lib/neovim-changes.mjs';
import { noNeovim as skip, openProposal } from '../lib/neovim.mjs';

/** Returns the status line of each window of the tab page, and the tab line, as the user sees them. */
const lines = (neovim) =>
  neovim.lua(
    `local windows = vim.tbl_map(function(window)
       local line = vim.wo[window].statusline
       return vim.api.nvim_eval_statusline(line, { winid = window }).str
     end, vim.api.nvim_tabpage_list_wins(0))
     return { table.concat(windows, '\\n'), vim.api.nvim_eval_statusline(vim.o.tabline, { use_tabline = true }).str }`,
  );

/** Sets the width of the screen, with windows of the same width. */
const resize = (neovim, columns) => neovim.lua(`vim.o.columns = ... vim.cmd('wincmd =')`, columns);

describe('a proposal', { skip, concurrency: 2 }, () => {
  test('says in each width what it is and how to accept it, and then the rest', async (t) => {
    const { sandbox, neovim, file } = await openProposal(t);
    const other = await IdeClient.connect(sandbox);
    other.openDiff(sandbox.file('b.txt', 'old\n'), 'new\n');
    await neovim.until(`require('gemini_companion').status().proposals == 2`);
    await neovim.type('ccmine<Esc>');
    for (const [columns, ...expected] of [
      [200, 'The file as it is', '1/2 Proposal by CLI 1, edited (:w accepts, :q! rejects)'],
      [120, 'The file as it is', '1/2 Proposal by CLI 1, edited (:w accepts, :q! rejects)'],
      [80, 'The file as it is', '1/2 Proposal (:w accepts, :q! rejects)'],
      [60, 'The file as it is', 'Proposal (:w accepts)'],
    ]) {
      await resize(neovim, columns);
      let bars;
      await until(
        () => `the bars are ${JSON.stringify(bars)}`,
        async () => isDeepStrictEqual((bars = await neovim.bars()), expected),
      );
    }
    await resize(neovim, 80);
    const [statuses, tabs] = await lines(neovim);
    assert.match(statuses, /a\.txt \(on disk\)[^]*a\.txt \(proposal\)/);
    assert.match(tabs, /a\.txt \(proposal\)/);
    assert.doesNotMatch(statuses + tabs, /gemini-companion/, file);
  });

  test('that can’t be shown leaves no tab page', async (t) => {
    const { sandbox, neovim, client, decision } = await openProposal(t);
    await neovim.type(':w<CR>');
    await decision;
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    await neovim.lua(`vim.keymap.set = function() error('mine') end`);
    await assert.rejects(client.openDiff(sandbox.file('b.txt', 'old\n'), 'new\n'), /Neovim could not show the diff/);
    assert.equal(await neovim.lua('return #vim.api.nvim_list_tabpages()'), 1);
    assert.equal(await neovim.lua(`return vim.fn.bufnr('gemini-companion://')`), -1);
  });
});

test('a comparison has names in place of paths, and readable bars', { skip }, async (t) => {
  const { neovim, cli, file } = await openEdited(t);
  await cli.prompt('Rename 50% of them');
  await cli.write(file.a, TEXT);
  await neovim.until(`#require('gemini_companion').changes() == 2`);
  await run(neovim, 'diff');
  await compared(neovim);
  await resize(neovim, 80);
  const [before, now] = await neovim.bars();
  assert.match(before, /^Before: \d\d:\d\d Rename 50% of them$/);
  assert.match(now, /^Now \(do reverts a change/);
  const [statuses, tabs] = await lines(neovim);
  assert.match(statuses, /a \(before\)/);
  assert.doesNotMatch(statuses + tabs, /gemini-companion/);
});
