// Tests proposals in Neovim: their display, the user's decision, and that each ends once.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { REJECTED, UNCHANGED, accepted } from '../lib/decision.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { noNeovim as skip, openNeovim, openNeovimWithClient, openProposal, texts } from '../lib/neovim.mjs';

const oneTab = (neovim) => neovim.until('#vim.api.nvim_list_tabpages() == 1');

test('a proposal shows beside the file, in a separate tab page', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.lua', 'local same\nlocal a = 1\n');
  await neovim.edit(sandbox.file('other.txt', 'other\n'));
  const decision = client.openDiff(file, 'local same\nlocal a = 2\n');
  const { left, right } = await neovim.view(file);
  assert.deepEqual(left, ['local same', 'local a = 1']);
  assert.deepEqual(right, ['local same', 'local a = 2']);
  const shown = await neovim.lua(`
    local windows = {}
    for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      local options = vim.bo[vim.api.nvim_win_get_buf(window)]
      table.insert(windows, { vim.wo[window].diff, options.filetype, options.modifiable, options.modified })
    end
    return { windows, vim.api.nvim_buf_get_name(0), vim.fn.line('.') }`);
  assert.deepEqual(shown, [
    [[true, 'lua', false, false], [true, 'lua', true, false]],
    `gemini-companion://proposal${file}`,
    2, // the first change
  ]);
  assert.match(await neovim.messages(), /the CLI proposes an edit to a\.lua$/);
  assert.deepEqual(await neovim.bars(), ['The file as it is', 'Proposal by the CLI (:w accepts, :q rejects)']);

  fs.writeFileSync(file, 'local changed\n');
  await neovim.command('doautocmd FocusGained');
  assert.deepEqual((await neovim.sides(file)).left, ['local changed']);

  await neovim.type(':w!<CR>');
  assert.deepEqual(await decision, accepted(''));
  await oneTab(neovim);
  assert.match(await neovim.lua('return vim.fn.bufname()'), /other\.txt$/);
  const left_over = await neovim.lua(`return vim.tbl_filter(function(buffer)
    return vim.api.nvim_buf_get_name(buffer):find('^gemini') ~= nil
  end, vim.api.nvim_list_bufs())`);
  assert.deepEqual(left_over, []);
  assert.equal(await neovim.lua('return vim.o.eventignore'), '');
});

test('a proposal shows whether it creates its file', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  // The real client has one proposal for a file at a time; another may put one in place of the
  // other.
  const session = await neovim.session(sandbox);
  const filePath = path.join(sandbox.project, 'new', 'a.lua');
  await session.callTool('openDiff', { filePath, newContent: 'local a = 1\n' });
  await neovim.view(filePath);
  const created = ['No file yet', 'New file by the CLI (:w accepts, :q rejects)'];
  assert.deepEqual(await neovim.bars(), created);
  assert.match(await neovim.messages(), /the CLI proposes the new file new\/a\.lua$/);

  fs.mkdirSync(path.dirname(filePath));
  fs.writeFileSync(filePath, 'local b = 1\n');
  await session.callTool('openDiff', { filePath, newContent: 'local b = 2\n' });
  assert.deepEqual((await neovim.sides(filePath)).right, ['local b = 2']);
  const changed = ['The file as it is', 'Proposal by the CLI (:w accepts, :q rejects)'];
  assert.deepEqual(await neovim.bars(), changed);
});

test('plugins that fail on unusual buffers do not stop a proposal', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t, {
    init: `vim.cmd('autocmd BufEnter,WinEnter,TabNew,FileType * if &buftype != "" | throw "broken" | endif')`,
  });
  const file = sandbox.file('a.txt', 'old\n');
  const decision = client.openDiff(file, 'new\n');
  assert.deepEqual(await neovim.view(file), { left: ['old'], right: ['new'] });
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, accepted(''));
  await oneTab(neovim);
});

test('a proposal that a file type plugin makes unmodifiable is replaced, and opens again', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t, {
    init: `vim.cmd('autocmd FileType text setlocal nomodifiable')`,
  });
  const file = sandbox.file('a.txt', 'old\n');
  await client.propose(neovim, file, 'new\n');
  const decision = (await IdeClient.connect(sandbox)).openDiff(file, 'newer\n');
  await neovim.until(`vim.fn.getline(1) == 'newer'`);
  await neovim.seen();
  await neovim.type(':setlocal modifiable<CR>ccmine<Esc>:edit! other.txt<CR>');
  await neovim.until("#vim.fn.win_findbuf(vim.fn.bufnr('gemini-companion://proposal')) > 0");
  assert.deepEqual((await neovim.sides(file)).right, ['mine']);
  await neovim.type(':GeminiCompanion show<CR>:w<CR>');
  assert.deepEqual(await decision, accepted('mine\n'));
});

test('a proposal in a screen of few lines has no bar, and causes no error', { skip }, async (t) => {
  const { neovim, decision } = await openProposal(t, { options: `layout = 'horizontal'`, ui: [20, 6] });
  assert.doesNotMatch(await neovim.messages(), /E36|Error/);
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, UNCHANGED);
});

test('a proposal for a file with a long name in wide characters does not wait for a key', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file(`${'文'.repeat(60)}.txt`, 'old\n');
  await client.propose(neovim, file, 'new\n');
  assert.match(await neovim.messages(), /the CLI proposes an edit to 文+…$/m);
});

test('the side with the file has its text after :edit', { skip }, async (t) => {
  const { neovim, file } = await openProposal(t);
  await neovim.type('<C-w>h:edit!<CR>');
  assert.deepEqual((await neovim.sides(file)).left, ['old', 'old2']);
  assert.equal(await neovim.lua('return vim.bo.modifiable'), false);
});

test('the client gets each kind of decision', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t, {
    init: `vim.g.maplocalleader = ','`,
  });
  const file = sandbox.file('a.txt', 'old\n');
  const ways = {
    ':w<CR>': accepted(''),
    ':wq<CR>': accepted(''),
    ':x<CR>': accepted(''),
    ZZ: accepted(''),
    ',a': accepted(''),
    '<C-w>h,a': accepted(''),
    ':GeminiCompanion accept<CR>': accepted(''),
    ':tabfirst | GeminiCompanion accept a.txt<CR>': accepted(''),
    'ccedited<Esc>:w<CR>': accepted('edited\n'),
    'ccedited<Esc>:x<CR>': accepted('edited\n'),
    'ccedited<Esc>ZZ': accepted('edited\n'),
    ':q<CR>': REJECTED,
    ZQ: REJECTED,
    '<C-w>c': REJECTED,
    ':tabclose<CR>': REJECTED,
    ':tabfirst | tabonly<CR>': REJECTED,
    ':bdelete<CR>': REJECTED,
    ':bwipeout<CR>': REJECTED,
    ':noautocmd bwipeout<CR>': REJECTED,
    ':noautocmd quit<CR>': REJECTED,
    ':noautocmd tabclose<CR>': REJECTED,
    '<C-w>h:q<CR>:q<CR>': REJECTED,
    '<C-w>o:q<CR>': REJECTED,
    ',r': REJECTED,
    '<C-w>h,r': REJECTED,
    ':GeminiCompanion reject<CR>': REJECTED,
    'ccedited<Esc>:q<CR>:q!<CR>': REJECTED,
    'ccedited<Esc>:tabclose!<CR>': REJECTED,
  };
  for (const [keys, expected] of Object.entries(ways)) {
    const { decision } = await client.propose(neovim, file, 'new\n');
    await neovim.type(keys);
    assert.deepEqual(await decision, expected, keys);
    await oneTab(neovim);
    assert.equal(await neovim.lua('return #vim.api.nvim_list_wins()'), 1, keys);
    assert.equal(fs.readFileSync(file, 'utf8'), 'old\n', 'the CLI writes, not Neovim');
  }
  assert.doesNotMatch(await neovim.messages(), /gemini_companion.*stack/s);
});

test('an accidental key does not lose the user’s edits', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'old\n');
  await neovim.edit(sandbox.file('other.txt'));
  const { decision } = await client.propose(neovim, file, 'new\n');
  await neovim.type('ccedited<Esc>');
  for (const slip of [
    ':q<CR>',
    ':tabclose<CR>',
    ':qa<CR><CR>',
    ':enew<CR>',
    ':bdelete<CR>',
    ':tabfirst | wa<CR>gt',
  ]) {
    await neovim.type(slip);
    assert.deepEqual((await neovim.sides(file)).right, ['edited'], slip);
  }
  await neovim.type(`:w ${sandbox.project}/copy.txt<CR>`);
  assert.equal(fs.readFileSync(`${sandbox.project}/copy.txt`, 'utf8'), 'edited\n');
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, accepted('edited\n'));
});

test('a proposal that replaces another takes its place; undo brings the user’s text back', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const other = await IdeClient.connect(sandbox);
  const file = sandbox.file('a.txt', 'old\n');
  const { decision: first } = await client.propose(neovim, file, 'first\n');
  await neovim.type('ccedited<Esc>');
  const second = other.openDiff(file, 'second');
  assert.deepEqual(await first, REJECTED);
  await neovim.until(`vim.fn.getline(1) == 'second'`);
  assert.equal(await neovim.lua('return #vim.api.nvim_list_tabpages()'), 2);
  await neovim.type('u');
  assert.equal(await neovim.lua('return vim.fn.getline(1)'), 'edited');
  await neovim.type('<C-r>');
  await neovim.seen();
  await neovim.type(':w<CR>');
  assert.deepEqual(await second, accepted(''));
  await oneTab(neovim);
});

test('the next keys do not decide a proposal that has just replaced another', { skip }, async (t) => {
  const { sandbox, neovim, file, decision } = await openProposal(t);
  const other = await IdeClient.connect(sandbox);
  await neovim.until(`not require('gemini_companion.idle').is_busy_in(vim.api.nvim_get_current_buf())`);
  // As a user who presses the key at the moment of the replacement.
  await neovim.lua(`vim.api.nvim_buf_attach(0, false, { on_lines = function()
    vim.api.nvim_feedkeys(vim.g.key, 't', false)
    return true
  end })
  vim.g.key = '\\\\a'`);
  const second = other.openDiff(file, 'second\n');
  assert.deepEqual(await decision, REJECTED);
  await neovim.until(`vim.fn.execute('messages'):find('a newer proposal has just replaced this one; decide again')`);
  await neovim.seen();
  await neovim.lua(`vim.api.nvim_buf_attach(0, false, { on_lines = function()
    vim.api.nvim_feedkeys('ZQ', 't', false)
    return true
  end })`);
  const third = (await IdeClient.connect(sandbox)).openDiff(file, 'third\n');
  assert.deepEqual(await second, REJECTED);
  await neovim.until(`vim.fn.execute('messages'):find('a proposal waits, :GeminiCompanion show: a.txt')`);
  assert.deepEqual((await neovim.proposalBehind(file)).right, ['third']);
  await neovim.type(':GeminiCompanion show<CR>:w<CR>');
  assert.deepEqual(await third, accepted(''));
});

test('a command that began before the user could see the newer text decides nothing', { skip }, async (t) => {
  const { sandbox, neovim, file, decision } = await openProposal(t);
  const other = await IdeClient.connect(sandbox);
  await neovim.until(`not require('gemini_companion.idle').is_busy_in(vim.api.nvim_get_current_buf())`);
  await neovim.lua(`vim.api.nvim_buf_attach(0, false, { on_lines = function()
    vim.api.nvim_feedkeys(':', 't', false)
    return true
  end })`);
  const second = other.openDiff(file, 'second\n');
  assert.deepEqual(await decision, REJECTED);
  await neovim.until(`vim.api.nvim_get_mode().mode == 'c'
    and vim.uv.now() - require('gemini_companion.proposals').find().view.replaced_at > 500`);
  await neovim.type('w<CR>');
  await neovim.until(`vim.fn.execute('messages'):find('a newer proposal has just replaced this one; decide again')`);
  await neovim.type(':w<CR>');
  assert.deepEqual(await second, accepted(''));
});

test('a proposal that the user types in is not replaced, and the newer one comes after it', { skip }, async (t) => {
  const { sandbox, neovim, file, decision } = await openProposal(t);
  const other = await IdeClient.connect(sandbox);
  await neovim.type('ccfirst half');
  const second = other.openDiff(file, 'second\n');
  assert.deepEqual(await decision, REJECTED);
  await neovim.until(`vim.fn.execute('messages'):find('proposes an edit to a.txt', 1, true)
    and #vim.api.nvim_list_tabpages() == 3`);
  await neovim.type(', second half');
  assert.equal(await neovim.lua('return vim.fn.getline(1)'), 'first half, second half');
  assert.deepEqual((await neovim.sides(file)).right, ['second']);
  await neovim.type('<Esc>');
  await neovim.until(`vim.fn.getline(1) == 'second'`);
  const kept = await texts(neovim, 'kept');
  assert.deepEqual(kept.at(-1), 'first half, second half|new2');
  await neovim.type(':w<CR>');
  assert.deepEqual(await second, accepted(''));
});

test('a proposal that is closed by the CLI ends with the user’s edits in it', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'old\r\n');
  for (const [keys, content] of [['', ''], ['ccedited<Esc>', 'edited\r\n']]) {
    const { decision } = await client.propose(neovim, file, 'new\n');
    await neovim.type(keys);
    await client.resolveDiffFromCli(file, 'accepted');
    assert.deepEqual(await decision, accepted(content));
    await oneTab(neovim);
  }
  assert.equal(await client.closeDiff(file), undefined);
});

test('a file that replaces a proposal in its window is an ordinary window', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'old\n');
  for (const key of ['', '<C-w>o']) {
    const { decision } = await client.propose(neovim, file, 'new\n');
    await neovim.type(`${key}:enew<CR>`);
    await neovim.until('#vim.api.nvim_tabpage_list_wins(0) == 1');
    await neovim.until('not vim.wo.diff and vim.wo.winbar == ""');
    await neovim.type(':tabonly<CR>');
    assert.deepEqual(await decision, REJECTED, 'by :tabonly alone');
  }
});

test('a proposal waits until the user has finished a command', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  await neovim.edit(sandbox.file('other.txt', 'word\nword\n'));
  const shown = `require('gemini_companion').status().proposals == 1`;
  for (const [begin, end, then] of [
    [':let g:typed = "', 'text"<CR>', `vim.g.typed == 'text'`],
    ['q:i', '<Esc>:q<CR>', 'true'],
    ['d', 'w', `vim.fn.getbufline('other.txt', 1)[1] == ''`],
    ['v', '<Esc>', 'true'],
  ]) {
    const file = sandbox.file('a.txt', 'old\n');
    await neovim.type(begin);
    const decision = client.openDiff(file, 'new\n');
    await neovim.type(end);
    await neovim.until(`${shown} and ${then}`);
    await neovim.type(':GeminiCompanion reject<CR>');
    assert.deepEqual(await decision, REJECTED, begin);
    await oneTab(neovim);
  }
  assert.doesNotMatch(await neovim.messages(), /E\d+:/);
});

test('a proposal that ends while the user types a command closes once it has opened', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const session = await neovim.session(sandbox);
  const filePath = sandbox.file('a.txt', 'old\n');
  /** Ends it as soon as there is one to end. */
  const proposeAndClose = async (newContent) => {
    let isOpening = true;
    const answer = session.callTool('openDiff', { filePath, newContent });
    answer.then(() => (isOpening = false));
    while (isOpening) await session.callTool('closeDiff', { filePath });
    await answer;
  };
  const opensAndCloses = async (count) => {
    const messages = `select(2, vim.fn.execute('messages'):gsub('proposes', ''))`;
    await neovim.until(`${messages} == ${count} and #require('gemini_companion.proposals').paths() == 0`);
    await oneTab(neovim);
  };

  await neovim.type(':let g:');
  await proposeAndClose('new\n');
  await neovim.type('typed = 1<CR>');
  await opensAndCloses(1);

  await session.callTool('openDiff', { filePath, newContent: 'first\n' });
  await neovim.view(filePath);
  await neovim.type('ccwritten<Esc>:let g:');
  await proposeAndClose('second\n');
  await neovim.type('typed = 2<CR>');
  await opensAndCloses(3);
  const [, buffer] = (await neovim.messages()).match(/:sbuffer (\d+) has your text for a\.txt/);
  assert.deepEqual(await neovim.lua(`return vim.fn.getbufline(${buffer}, 1, '$')`), ['written']);
});

test('a proposal is not decided while the next one for its file waits', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const session = await neovim.session(sandbox);
  const filePath = sandbox.file('a.txt', 'old\n');
  await session.callTool('openDiff', { filePath, newContent: 'first\n' });
  await neovim.view(filePath);
  await neovim.type('ccwritten<Esc>:w');
  const second = session.callTool('openDiff', { filePath, newContent: 'second\n' });
  await neovim.until(`vim.wo.winbar:find('No CLI waits')`);
  await neovim.type('<CR>');
  await second;
  assert.match(await neovim.messages(), /no CLI waits for this proposal/);
  assert.deepEqual((await neovim.sides(filePath)).right, ['second']);
  assert.equal(fs.readFileSync(filePath, 'utf8'), 'old\n');
  await neovim.type('u');
  assert.deepEqual((await neovim.sides(filePath)).right, ['written'], 'it can be had back');
});

test('the user’s edits stay when the next proposal can not be shown', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const session = await neovim.session(sandbox);
  const filePath = path.join(sandbox.project, 'new.txt');
  await session.callTool('openDiff', { filePath, newContent: 'first\n' });
  await neovim.view(filePath);
  await neovim.type('ccwritten<Esc>');
  fs.mkdirSync(filePath);
  const { isError } = await session.callTool('openDiff', { filePath, newContent: 'second\n' });
  assert.equal(isError, true);
  assert.match(await neovim.messages(), /no CLI waits for new\.txt; :w {file} saves your changes/);
  assert.deepEqual((await neovim.sides(filePath)).right, ['written']);
});
