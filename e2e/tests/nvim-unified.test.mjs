// Tests the layouts of a proposal in Neovim, and its bars, status line and tab line, also in narrow windows.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { accepted, REJECTED, UNCHANGED } from '../lib/decision.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { compared, openEdited, run, TEXT } from '../lib/neovim-changes.mjs';
import { noNeovim as skip, openNeovimWithClient, openProposal } from '../lib/neovim.mjs';

const OLD = 'one\ntwo\nthree\nfour\nfive\nsix\n';
const NEW = 'zero\ntwo\nTHREE\nthree and a half\nfour\nsix\nseven\n';

/** Opens a proposal in a layout. */
async function open(t, layout, { old = OLD, content = NEW } = {}) {
  const { sandbox, neovim, client } = await openNeovimWithClient(t, { options: `layout = '${layout}'` });
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

  test('reverts nothing if the user forbids changes, and says so in one line', async (t) => {
    const { neovim } = await openProposal(t, { options: `layout = 'unified'` });
    await neovim.type(':setlocal nomodifiable<CR>do');
    assert.match(await neovim.messages(), /^GeminiCompanion: .*not 'modifiable'$/m);
    assert.doesNotMatch(await neovim.messages(), /E5108|traceback/);
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
    for (const [keys, edited] of [['x', true], ['u', false], ['ccmine<Esc>', true]]) {
      await neovim.type(keys);
      const [, bar] = await neovim.bars();
      assert.match(bar, edited ? /, edited \(:w accepts, :q! rejects\)$/ : /CLI 1 \(:w accepts, :q rejects\)$/, keys);
    }
    for (const [columns, ...expected] of [
      [200, 'The file as it is', '1/2 Proposal by CLI 1, edited (:w accepts, :q! rejects, do reverts a change)'],
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
