// Tests proposals for large files in Neovim: they open without a freeze, and typing in them stays fast.

import assert from 'node:assert/strict';
import test from 'node:test';

import { UNCHANGED } from '../lib/decision.mjs';
import { noNeovim as skip, openNeovim, openNeovimWithClient } from '../lib/neovim.mjs';

/** A text with `count` lines of `width` characters. */
const lines = (count, width = 20) => Array.from({ length: count }, (_, at) => `${at} ${'x'.repeat(width)}`);
const text = (list) => `${list.join('\n')}\n`;

/** The milliseconds that Neovim has computed, whatever else the machine does. */
const computed = (neovim) =>
  neovim.lua(`local usage, milliseconds = vim.uv.getrusage(), 0
    for _, time in ipairs({ usage.utime, usage.stime }) do
      milliseconds = milliseconds + time.sec * 1000 + time.usec / 1000
    end
    return milliseconds`);

for (const layout of ['vertical', 'unified']) {
  test(`a rewrite with 60,000 changes opens without marks, in the ${layout} layout`, { skip }, async (t) => {
    const { sandbox, neovim, client } = await openNeovimWithClient(t, { options: `layout = '${layout}'` });
    const old = lines(180_000);
    const file = sandbox.file('big.txt', text(old));
    const before = await computed(neovim);
    const decision = client.openDiff(file, text(old.map((line, at) => (at % 3 ? line : `new ${at}`))));
    await neovim.until(`vim.fn.bufname():find('^gemini')`);
    const milliseconds = (await computed(neovim)) - before;
    assert.ok(milliseconds < 1000, `${milliseconds} ms`);
    assert.ok((await neovim.bars()).some((bar) => bar.endsWith('too many changes to mark')));
    assert.deepEqual(
      await neovim.lua(`return vim.tbl_map(function(window)
        return vim.wo[window].diff
      end, vim.api.nvim_tabpage_list_wins(0))`),
      layout === 'vertical' ? [false, false] : [false],
    );
    await neovim.type(':w<CR>');
    assert.deepEqual(await decision, UNCHANGED);
  });
}

test('a removed line with 20,000 tabs shows at once in the unified layout', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t, { options: `layout = 'unified'` });
  const file = sandbox.file('big.tsv', `${'12\t'.repeat(20_000)}\n`);
  const before = await computed(neovim);
  const decision = client.openDiff(file, 'new\n');
  await neovim.until(`vim.fn.bufname():find('^gemini')`);
  const milliseconds = (await computed(neovim)) - before;
  assert.ok(milliseconds < 5000, `${milliseconds} ms`);
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, UNCHANGED);
});

test('a file that is opened costs the same however many others are open, also with a comment', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const files = lines(100).map((name, at) => sandbox.file(`${at}.txt`, `${name}\n`));
  await neovim.edit(files[0]);
  await neovim.type(':GeminiCompanion comment why<CR>:bwipeout<CR>');
  await neovim.lua(`
    local realpath = vim.uv.fs_realpath
    _G.looks = 0
    vim.uv.fs_realpath = function(...)
      _G.looks = _G.looks + 1
      return realpath(...)
    end`);
  await neovim.lua(`for _, file in ipairs(...) do vim.cmd.edit(file) end`, files.slice(1));
  const looks = await neovim.lua('return _G.looks');
  assert.ok(looks < 500, `${looks} looks at the disk`);
});

test('an edit in a proposal of 8 MB costs as little as elsewhere', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const old = lines(80_000, 100);
  const file = sandbox.file('big.txt', text(old));
  client.openDiff(file, text(['new', ...old]));
  await neovim.until(`vim.fn.bufname():find('^gemini')`);
  // The plugin's own work for an edit, without that of diff mode. The shortest of ten, since the machine may be busy.
  const milliseconds = await neovim.lua(`
    local shortest = math.huge
    for _ = 1, 10 do
      local before = vim.uv.hrtime()
      vim.cmd('doautocmd <nomodeline> TextChanged')
      shortest = math.min(shortest, (vim.uv.hrtime() - before) / 1e6)
    end
    return shortest`);
  assert.ok(milliseconds < 5, `${milliseconds} ms`);
});

test('the common lines at both ends of two texts cost nothing, and change no result', { skip }, async (t) => {
  const { neovim } = await openNeovim(t);
  const [bytes, others] = await neovim.lua(`
    local changes, diff = require('gemini_companion.text').changes, vim.diff
    local function edited(lines, at)
      local result = vim.list_slice(lines)
      result[at], result[at + 10] = 'new', 'newer'
      return result
    end
    local function text_of(lines)
      return table.concat(lines, '\\n') .. '\\n'
    end
    local bytes = 0
    vim.diff = function(old, new, ...)
      bytes = #old + #new
      return diff(old, new, ...)
    end
    changes(..., edited(..., 50000))
    vim.diff = diff
    local others = {}
    math.randomseed(1)
    for _ = 1, 500 do
      local old = {}
      for line = 1, math.random(600) do
        old[line] = tostring(math.random(3))
      end
      local new = vim.list_slice(old)
      for _ = 1, math.random(4) do
        local at = math.random(#new)
        new[at] = math.random(2) == 1 and 'new' or new[at]
        table.insert(new, at, tostring(math.random(3)))
        table.remove(new, math.random(#new))
      end
      local whole = diff(text_of(old), text_of(new), { result_type = 'indices' })
      if not vim.deep_equal(changes(old, new), whole) then
        table.insert(others, { old, new })
      end
    end
    return { bytes, others }`, lines(100_000));
  assert.ok(bytes < 50_000, `${bytes} bytes`);
  assert.deepEqual(others, []);
});

test('of a block selection to the line ends only the lines that are sent are read', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  await neovim.edit(sandbox.file('a.txt', `${'x'.repeat(32)}\n`.repeat(100_000)));
  await neovim.type('gg<C-v>G$');
  const [lines, length] = await neovim.lua(
    `local lines, getline = 0, vim.fn.getline
     vim.fn.getline = function(...)
       lines = lines + 1
       return getline(...)
     end
     local text = require('gemini_companion.selection').text()
     vim.fn.getline = getline
     return { lines, #text }`,
  );
  assert.equal(length, 3 * 16384);
  assert.equal(lines, Math.ceil(length / 33));
});
