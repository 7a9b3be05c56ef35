// Tests the layouts of a proposal in Neovim.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { REJECTED, UNCHANGED, accepted } from '../lib/decision.mjs';
import { noNeovim as skip, openNeovimWithClient } from '../lib/neovim.mjs';

const OLD = 'one\ntwo\nthree\nfour\nfive\nsix\n';
const NEW = 'zero\ntwo\nTHREE\nthree and a half\nfour\nsix\nseven\n';

/** Opens a proposal in a layout. */
async function open(t, layout, { old = OLD, content = NEW } = {}) {
  const setup = `{ cmd = vim.env.GEMINI_COMPANION, layout = '${layout}' }`;
  const env = { GEMINI_COMPANION: process.env.GEMINI_COMPANION };
  const { sandbox, neovim, client } = await openNeovimWithClient(t, { setup, env });
  const file = sandbox.file('a.txt', old);
  const { decision } = await client.propose(neovim, file, content);
  return { neovim, client, file, decision };
}

/** The proposal as the user sees it, line by line: `-` for removed lines, `+` for added ones. */
const seen = (neovim) =>
  neovim.lua(`
    local namespace = vim.api.nvim_get_namespaces().gemini_companion_unified
    local lines = {}
    for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
      local above, below, sign = {}, {}, ' '
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, { row - 1, 0 }, { row - 1, -1 }, { details = true })) do
        sign = mark[4].line_hl_group and '+' or sign
        for _, virtual in ipairs(mark[4].virt_lines or {}) do
          table.insert(mark[4].virt_lines_above and above or below, '-' .. vim.trim(virtual[1][1]))
        end
      end
      vim.list_extend(lines, above)
      table.insert(lines, sign .. line)
      vim.list_extend(lines, below)
    end
    return lines`);

const MARKED = ['-one', '+zero', ' two', '-three', '+THREE', '+three and a half', ' four', '-five', ' six', '+seven'];
const line = (neovim) => neovim.lua(`return vim.fn.line('.')`);

describe('the unified layout', { skip, concurrency: 2 }, () => {
  test('shows a proposal in one window, and its keys go from change to change', async (t) => {
    const { neovim, decision } = await open(t, 'unified');
    assert.equal(await neovim.lua('return #vim.api.nvim_tabpage_list_wins(0)'), 1);
    assert.deepEqual(await seen(neovim), MARKED);
    // The removed line above the first one is on the screen.
    await neovim.command('redraw');
    const row = (number) => neovim.lua(`return vim.trim(vim.fn.join(vim.tbl_map(function(column)
      return vim.fn.screenstring(..., column)
    end, vim.fn.range(1, 20)), ''))`.replace('...', number));
    const first = (await row(2)).startsWith('Proposal') ? 3 : 2;
    assert.deepEqual([await row(first), await row(first + 1)], ['one', 'zero']);
    assert.equal(await line(neovim), 1);
    for (const [keys, expected] of [
      [']c', 3],
      [']c', 5],
      [']c', 7],
      [']c', 7],
      ['[c', 5],
      ['2[c', 1],
      ['3]c', 7],
    ]) {
      await neovim.type(keys);
      assert.equal(await line(neovim), expected, keys);
    }
    await neovim.type(':w<CR>');
    assert.deepEqual(await decision, UNCHANGED);
  });

  test('reverts one change, and undo restores it', async (t) => {
    const { neovim, decision } = await open(t, 'unified');
    await neovim.type('3Gdo');
    assert.deepEqual(await seen(neovim), ['-one', '+zero', ' two', ' three', ' four', '-five', ' six', '+seven']);
    await neovim.type('u');
    await neovim.until(`#vim.api.nvim_buf_get_lines(0, 0, -1, false) == 7`);
    for (const keys of ['1Gdo', '5Gdo', 'Gdo']) await neovim.type(keys);
    const left = ['one', 'two', 'THREE', 'three and a half', 'four', 'five', 'six'];
    assert.deepEqual(await neovim.lua('return vim.fn.getline(1, "$")'), left);
    await neovim.type('3Gdo');
    assert.deepEqual(await seen(neovim), OLD.trim().split('\n').map((text) => ` ${text}`));
    await neovim.type('uA!<Esc>:w<CR>');
    assert.equal((await decision).status, 'accepted');
  });

  test('also after its first window has closed', async (t) => {
    const { neovim, client, file, decision } = await open(t, 'unified');
    await neovim.type(':split<CR><C-w>o');
    await neovim.type('1Gdo');
    assert.deepEqual((await seen(neovim)).slice(0, 3), [' one', ' two', '-three']);
    await client.resolveDiffFromCli(file, 'rejected');
    await decision;
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    assert.doesNotMatch(await neovim.messages(), /Invalid|Error/);
  });

  test('follows the user’s edits, and has the same decisions', async (t) => {
    const { neovim, client, file, decision } = await open(t, 'unified');
    await neovim.type('2GS2<Esc>');
    await neovim.until(`#vim.tbl_filter(function(mark)
      return mark[2] == 1 and mark[4].line_hl_group ~= nil
    end, vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces().gemini_companion_unified, 0, -1, { details = true })) == 1`);
    assert.match((await neovim.bars())[0], /^Proposal by the CLI, edited \(:w accepts, :q! rejects/);
    await neovim.type(':w<CR>');
    assert.deepEqual(await decision, accepted(NEW.replace('two', '2')));
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    for (const keys of [':q<CR>', '\\r', ':tabclose<CR>']) {
      const { decision: next } = await client.propose(neovim, file, NEW);
      await neovim.type(keys);
      assert.deepEqual(await next, REJECTED, keys);
      await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    }
  });

  for (const [name, old, content, expected] of [
    ['an empty file', 'one\ntwo\n', '\n', ['-one', '-two', '+']],
    ['no change', 'one\n', 'one\n', [' one']],
    ['lines removed at both ends', '1\n2\n3\n', '2\n', ['-1', ' 2', '-3']],
    ['tabs', 'a\tb\n', 'a\tc\n', ['-a       b', '+a\tc']],
  ]) {
    test(`shows ${name}`, async (t) => {
      const { neovim } = await open(t, 'unified', { old, content });
      assert.deepEqual(await seen(neovim), expected);
    });
  }
});

test('the horizontal layout has the proposal below the file', { skip }, async (t) => {
  const { neovim, decision } = await open(t, 'horizontal');
  const layout = await neovim.lua(`return vim.fn.winlayout()[1]`);
  assert.equal(layout, 'col');
  assert.deepEqual((await neovim.bars()).map((bar) => bar.split(' (')[0]), ['The file as it is', 'Proposal by the CLI']);
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, UNCHANGED);
});
