// Tests the context from a Neovim: open files, focus, cursor, selection.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { IdeClient, are } from '../lib/ide-client.mjs';
import { noNeovim as skip, openNeovim, openNeovimWithClient } from '../lib/neovim.mjs';

test('files are in the order of their focus, also files that were open before', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => sandbox.file(name));
  for (const file of [a, b, c, a]) await neovim.edit(file);
  const files = await client.openFiles(are(a, c, b));
  assert.deepEqual(files.map((file) => Boolean(file.isActive)), [true, false, false]);

  await neovim.command('split', `buffer ${b}`);
  await client.openFiles(are(b, a, c));
  await neovim.type('<C-w>w');
  await client.openFiles(are(a, b, c));

  await neovim.command('GeminiCompanion restart');
  await neovim.until(`require('gemini_companion').status().clients == 0`);
  await neovim.ready();
  const later = await IdeClient.connect(sandbox);
  const again = await later.openFiles((files) => are(a, b, c)(files) && files[0].cursor);
  assert.deepEqual([again[0].isActive, again[0].cursor], [true, { line: 1, character: 1 }]);
});

test('folders within others are left out on Windows as well', { skip }, async (t) => {
  const { neovim } = await openNeovim(t);
  const folders = await neovim.lua(String.raw`
    vim.fn.has = function(feature) return feature == 'win32' and 1 or 0 end
    vim.fn.isdirectory = function() return 1 end
    vim.fn.fnamemodify = function(path) return path:sub(-1) == '\\' and path or path .. '\\' end
    package.loaded['gemini_companion.workspace'] = nil
    local config = require('gemini_companion.config')
    return vim.tbl_map(function(workspace)
      config.options.workspace = workspace
      return require('gemini_companion.workspace').folders()
    end, { { 'C:\\a', 'C:\\a\\b', 'C:\\ab' }, { 'D:\\a', 'D:\\' } })`);
  assert.deepEqual(folders, [['C:\\a', 'C:\\ab'], ['D:\\']]);
});

test('a file on a drive or a share of Windows has a path, and a URL has none', { skip }, async (t) => {
  const { neovim } = await openNeovim(t);
  for (const [name, isPath] of [['C:\\a.txt', true], ['\\\\server\\share\\a.txt', true], ['https://a/a.txt', false]]) {
    const found = await neovim.lua(
      `local name = ...
       local name_of = vim.api.nvim_buf_get_name
       vim.api.nvim_buf_get_name = function() return name end
       local path = require('gemini_companion.file').path_of(0)
       vim.api.nvim_buf_get_name = name_of
       return path == name`,
      name,
    );
    assert.equal(found, isPath, name);
  }
});

test('a write of a buffer to its own file is none of a copy, also on Windows', { skip }, async (t) => {
  const { neovim } = await openNeovim(t);
  for (const [name, isOwn] of [['C:/folder/a.txt', true], ['C:/folder/copy.txt', false]]) {
    const found = await neovim.lua(
      `local name_of = vim.api.nvim_buf_get_name
       vim.api.nvim_buf_get_name = function() return 'C:\\\\folder\\\\a.txt' end
       local is_own = require('gemini_companion.file').is_own(0, ...)
       vim.api.nvim_buf_get_name = name_of
       return is_own`,
      name,
    );
    assert.equal(found, isOwn, name);
  }
});

test('a file that Neovim was started with is in the context', { skip }, async (t) => {
  const { sandbox, client } = await openNeovimWithClient(t, {
    args: ['a.txt'],
    init: `vim.fn.writefile({ 'x' }, 'a.txt')`,
  });
  await client.openFiles(are(path.join(sandbox.project, 'a.txt')));
});

test('the cursor is sent in UTF-16 units, from 1', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'ascii\nété\n文字\n😀😀x\n\ttab\ne\u0301x\n\n' + 'x'.repeat(5000) + '\n');
  await neovim.edit(file);
  for (const [keys, line, character] of [
    ['gg', 1, 1],
    ['gg$', 1, 5],
    ['2G$', 2, 3],
    ['3G$', 3, 2],
    ['4G$', 4, 5],
    ['4G0l', 4, 3],
    ['5G0l', 5, 2],
    ['6G$', 6, 3],
    ['7G', 7, 1],
    ['8G$', 8, 5000],
    ['4GA', 4, 6],
    ['<C-o>0', 4, 1],
    ['éé<Esc>', 4, 2],
    ['l', 4, 3],
  ]) {
    await neovim.type(keys);
    await client.openFiles(([file]) => file?.cursor?.line === line && file.cursor.character === character);
  }
});

test('a selection of any kind is sent as text', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'one two\n\tété 文字\n😀 three\n\nlast\n');
  await neovim.edit(file);
  for (const [keys, text] of [
    ['gg0ve', 'one'],
    ['gg0wv0', 'one t'],
    ['gg0v$', 'one two\n'],
    ['gg0vj', 'one two\n\t'],
    ['2G0wve', 'été'],
    ['3G0v', '😀'],
    ['gg0vG$', 'one two\n\tété 文字\n😀 three\n\nlast\n'],
    ['ggV', 'one two\n'],
    ['ggVj', 'one two\n\tété 文字\n'],
    ['GVk', '\nlast\n'],
    ['gg0<C-v>jl', 'one two\n\té'],
    ['gg0l<C-v>l', 'ne'],
    ['3G0<C-v>2jl', '😀\n\nla'],
    ['3G0<C-v>2j$', '😀 three\n\nlast'],
    ['gg0vl<C-g>', 'on'],
    [':set selection=exclusive<CR>gg0v2l', 'on'],
  ]) {
    await neovim.type(keys);
    await client.openFiles(([file]) => file?.selectedText === text);
    await neovim.type('<Esc>');
    await client.openFiles(([file]) => file.selectedText === undefined);
  }
});

test('a block selection is sent like a yank', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovimWithClient(t);
  const lines = ['abc\tdef文g', '文字文字文字', '\t\tx', 'é😀é😀é😀é😀', '', 'abcdefghijklmno'];
  await neovim.edit(sandbox.file('a.txt', `${lines.join('\n')}\n`));
  const mismatches = await neovim.lua(`
    local selection, found = require('gemini_companion.selection'), {}
    local function compare(typed)
      local selected
      vim.keymap.set('x', '<F5>', function() selected = selection.text() end)
      vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes('<Esc>' .. typed .. '<F5>y', true, true, true), 'tx', false)
      -- Of short lines Vim yanks some with spaces behind.
      local yanked = vim.fn.getreg('"'):gsub(' +\\n', '\\n')
      if tostring(selected):gsub(' +\\n', '\\n') ~= yanked then
        table.insert(found, { typed, tostring(selected), yanked })
      end
    end
    for _, mode in ipairs({ 'v', 'V', '<C-v>' }) do
      for from = 1, 6 do
        for to = 1, 6 do
          for _, columns in ipairs({ { 1, 1 }, { 1, 3 }, { 3, 5 }, { 4, 2 }, { 7, 9 }, { 2, 12 } }) do
            compare(('%dG%d|%s%dG%d|'):format(from, columns[1], mode, to, columns[2]))
            compare(('%dG%d|<C-v>%dG$'):format(from, columns[1], to))
          end
        end
      end
    end
    return found`);
  assert.deepEqual(mismatches, []);
});

test('a large selection is cut, and sent quickly', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  await neovim.edit(sandbox.file('a.txt', '😀é文x\n'.repeat(200_000)));
  await neovim.type('ggVG');
  const [{ selectedText }] = await client.openFiles(([file]) => file?.selectedText);
  assert.equal(
    selectedText.replace(/\n?… \[TRUNCATED\]$/, '').slice(0, 16_000),
    '😀é文x\n'.repeat(3_000).slice(0, 16_000),
  );
});

test('invalid bytes cause no error', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t, {
    init: `vim.o.fileencodings = 'utf-8'`,
  });
  await neovim.edit(sandbox.file('a.bin', Buffer.from('a\xff\xed\xa0\x80b\x00c\n', 'latin1')));
  await neovim.command('edit ++bad=keep');
  await neovim.type('V');
  const [{ selectedText }] = await client.openFiles(([file]) => file?.selectedText);
  assert.match(selectedText, /^a\ufffd+b\u0000c\n$/);
});

test('in a terminal one can still ask about the selection that one came from', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const [a, b] = [sandbox.file('a.txt', 'one\ntwo\n'), sandbox.file('b.txt', 'x\n')];
  await neovim.edit(a);
  await neovim.type(':split<CR>:terminal cat<CR><C-w>w');
  await neovim.type('V');
  await client.openFiles(([file]) => file?.selectedText === 'one\n');
  await neovim.type('<C-w>wihello');
  assert.equal(await neovim.lua('return vim.api.nvim_get_mode().mode'), 't');
  const context = await client.context();
  assert.deepEqual(
    [context.workspaceState.openFiles[0].path, context.workspaceState.openFiles[0].selectedText],
    [a, 'one\n'],
  );
  await neovim.type('<C-\\><C-n><C-w>w');
  await client.openFiles(([file]) => file.selectedText === undefined);
  await neovim.type('V');
  await client.openFiles(([file]) => file.selectedText === 'one\n');
  await neovim.type(`<Esc>:split ${b}<CR><C-w>j`);
  await client.openFiles((files) => are(a, b)(files) && !files[0].selectedText);
  await neovim.type('V');
  await client.openFiles(([file]) => file.selectedText === 'one\n');
  await neovim.type('<C-w>k');
  await client.openFiles(are(b, a));
  await neovim.type('<C-w>j');
  const [again] = await client.openFiles(are(a, b));
  assert.equal(again.selectedText, undefined);
});

test('a buffer without a file on the disk is not in the context', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'x\n');
  await neovim.edit(file);
  await client.openFiles(are(file));
  const unsaved = path.join(sandbox.project, 'unsaved.txt');
  for (const command of [
    'terminal cat',
    'help',
    'copen',
    'enew',
    'new',
    `edit ${sandbox.project}`,
    'edit scheme://some/name',
    `edit ${unsaved}`,
    'GeminiCompanion log',
    'tabonly | only',
  ]) {
    await neovim.command(command);
  }
  await neovim.edit(file);
  await neovim.type('Ayz<Esc>');
  assert.ok(are(file)(await client.openFiles(([{ cursor }]) => cursor?.character === 3)));
  await neovim.edit(unsaved);
  await neovim.type('ix<Esc>:write<CR>');
  await client.openFiles(are(unsaved, file));
});

test('renamed, deleted and unloaded files are followed', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((name) => sandbox.file(name, '1\n2\n'));
  const at = (name) => path.join(sandbox.project, name);
  for (const file of [a, b, c, d, e]) await neovim.edit(file);
  await neovim.type('G');
  await client.openFiles(([file]) => file?.cursor?.line === 2);

  await neovim.command(`saveas ${at('e2')}`);
  const [{ isActive, cursor }] = await client.openFiles(are(at('e2'), d, c, b, a));
  assert.deepEqual([isActive, cursor], [true, { line: 2, character: 1 }]);
  await neovim.command(`file ${at('e3')}`);
  await client.openFiles(are(d, c, b, a));
  await neovim.command('write');
  await client.openFiles(are(at('e3'), d, c, b, a));

  fs.renameSync(c, at('c2'));
  await neovim.lua(`vim.api.nvim_buf_set_name(vim.fn.bufnr((...)), (...) .. '2')`, c);
  await client.openFiles(are(at('e3'), d, at('c2'), b, a));

  await neovim.command(`bdelete ${d}`);
  await client.openFiles(are(at('e3'), at('c2'), b, a));
  await neovim.command(`bwipeout ${b}`);
  await client.openFiles(are(at('e3'), at('c2'), a));
  await neovim.command(`bunload ${a}`);
  await client.openFiles(are(at('e3'), at('c2')));
  await neovim.edit(d);
  await client.openFiles(are(d, at('e3'), at('c2')));
  fs.rmSync(d);
  await neovim.command('silent! checktime');
  const rest = await client.openFiles(are(at('e3'), at('c2')));
  assert.ok(!rest[0].isActive);
  await neovim.command('%bdelete!');
  await client.openFiles(are());
});

test('no message is sent without a change', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  await neovim.edit(sandbox.file('a.txt', 'x\n'));
  await client.openFiles(([file]) => file?.cursor);
  await neovim.lua(`
    local server = require('gemini_companion.server')
    sent, chansend = 0, vim.fn.chansend
    vim.fn.chansend = function(...) sent = sent + 1 return chansend(...) end`);
  await neovim.command('doautocmd CursorMoved', 'doautocmd BufEnter', 'doautocmd WinEnter', 'write');
  await neovim.type('hhkk:echo<CR>:terminal cat<CR>:bdelete!<CR>:help<CR>:quit<CR>');
  assert.equal(await neovim.lua('return sent'), 0);
  await neovim.type('ox<Esc>');
  await neovim.until('sent > 0');
});
