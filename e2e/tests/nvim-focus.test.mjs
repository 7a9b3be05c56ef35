// Tests that a proposal in Neovim does not take the focus from a user who types.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { REJECTED, accepted } from '../lib/decision.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { noNeovim as skip, openNeovim, openNeovimWithClient, openProposal } from '../lib/neovim.mjs';

const mode = (neovim) => neovim.lua('return vim.api.nvim_get_mode().mode');

test('the focus stays if the user has configured that', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t, { options: `focus = false, mappings = false` });
  const file = sandbox.file('a.txt', 'old\n');
  await neovim.edit(sandbox.file('other.txt'));
  const decision = client.openDiff(file, 'new\n');
  await neovim.proposalBehind(file);
  assert.match(await neovim.lua('return vim.fn.bufname()'), /other\.txt$/);
  assert.match(await neovim.messages(), /an edit to a\.txt; :GeminiCompanion show$/);
  await neovim.type(':GeminiCompanion show<CR>');
  assert.match(await neovim.lua('return vim.fn.bufname()'), /^gemini-companion:.*a\.txt$/);
  assert.equal(
    await neovim.lua('return vim.fn.maparg(vim.api.nvim_replace_termcodes("<LocalLeader>a", true, true, true), "n")'),
    '',
  );
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, accepted(''));
});

test('a typing user keeps the focus', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'old\n');
  const other = sandbox.file('other.txt', 'one\n');
  await neovim.edit(other);
  await neovim.type('A two');
  const decision = client.openDiff(file, 'new\n');
  await neovim.proposalBehind(file);
  assert.equal(await mode(neovim), 'i');
  await neovim.type(' three<Esc>');
  assert.equal(await neovim.lua('return vim.fn.getline(1)'), 'one two three');
  await neovim.type('u');
  assert.equal(await neovim.lua('return vim.fn.getline(1)'), 'one');
  await neovim.type('<C-r>i');
  await client.resolveDiffFromCli(file, 'rejected');
  assert.deepEqual(await decision, REJECTED);
  await neovim.until('#vim.api.nvim_list_tabpages() == 1');
  assert.equal(await mode(neovim), 'i');
});

test('a user who types in a terminal keeps the focus, and returns there from the proposal', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'old\n');
  await neovim.type(':terminal cat<CR>i');
  assert.equal(await mode(neovim), 't');
  const decision = client.openDiff(file, 'new\n');
  await neovim.proposalBehind(file);
  assert.match(await neovim.messages(), /an edit to a\.txt; :GeminiCompanion show$/);
  await neovim.type('x');
  await neovim.until(`vim.fn.getline(1):find('x')`);
  assert.equal(await mode(neovim), 't');
  await neovim.type('<C-\\><C-n>:GeminiCompanion show<CR>');
  assert.deepEqual(await neovim.view(file), { left: ['old'], right: ['new'] });
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, accepted(''));
  await neovim.until(`vim.api.nvim_get_mode().mode == 't'`);
  assert.match(await neovim.lua('return vim.fn.bufname()'), /^term:/);
});

test('keys for another window never reach a proposal', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'old\n');
  await neovim.edit(sandbox.file('other.txt', `${'x'.repeat(9999)}\n`));
  const decision = client.openDiff(file, 'new\n');
  let typed = 0;
  const type = async () => neovim.type('x').then(() => ++typed);
  while ((await neovim.ready()).proposals === 0) await type();
  // As long as a proposal that took the keys at once would have them.
  for (const end = Date.now() + 1000; Date.now() < end; ) await type();
  assert.deepEqual(await neovim.sides(file), { left: ['old'], right: ['new'] });
  assert.equal(await neovim.lua('return #vim.fn.getbufline("other.txt", 1)[1]'), 9999 - typed);
  await neovim.view(file);
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, accepted(''));
});

test('one function decides by what the user does', { skip }, async (t) => {
  const { neovim } = await openNeovim(t);
  const free = { mode: 'n', is_blocking: false, state: '', has_macro: false, window: '', is_reviewing: false };
  for (const [decision, ...situations] of [
    ['take', {}, { mode: 'nt' }, { state: 'c' }],
    ['stay', { mode: 'v' }, { mode: 'V' }, { mode: '\x16' }, { mode: 's' }, { mode: 'S' }],
    ['stay', { mode: 'i' }, { mode: 'R' }, { mode: 't' }, { mode: 'niI' }, { mode: 'niR' }, { mode: 'ntT' }],
    ['stay', { has_macro: true }, { is_reviewing: true }],
    ['stay', { window: 'popup' }, { window: 'quickfix' }, { window: 'loclist' }, { window: 'preview' }],
    ['wait', { mode: 'no' }, { mode: 'c' }, { mode: 'r?' }, { mode: '!' }, { is_blocking: true }],
    ['wait', { state: 'S' }, { state: 'oS' }, { state: 'm' }, { state: 'x' }, { window: 'command' }],
  ]) {
    for (const situation of situations) {
      const decide = `return require('gemini_companion.focus').decide(...)`;
      const shown = JSON.stringify(situation);
      assert.equal(await neovim.lua(decide, { ...free, ...situation }), decision, shown);
    }
  }
});

/** Waits until a proposal that takes the focus would have it. Neovim's timers do not run while it waits for a key. */
const pause = () => sleep(1000);

test('a proposal does not take the focus in the middle of something', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t, {
    init: `vim.keymap.set('n', ' g', function() vim.g.got = vim.fn.getcharstr() end)`,
  });
  const file = sandbox.file('a.txt', 'old\n');
  const mine = sandbox.file('mine.txt', '1\n2\n3\n4\n');
  const float = `vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true,
    { relative = 'editor', row = 1, col = 1, width = 9, height = 2 })`;
  const text = `table.concat(vim.fn.getbufline('mine.txt', 1, '$'), '')`;
  for (const [begin, end, expected] of [
    ['qa', 'ddjq', `${text} == '234' and vim.fn.getreg('a') == 'ddj'`],
    ['Vj', 'd', `${text} == '34'`],
    ['<C-v>j', 'd', `${text} == '34'`],
    ['gh', 'x', `${text} == 'x234'`],
    ['i<C-o>', '$hello<Esc>', `${text} == '1hello234'`],
    ['"b', 'yy', `vim.fn.getreg('b') == '1\\n'`],
    ['2', 'dd', `${text} == '34'`],
    [' g', 'x', `vim.g.got == 'x'`],
    [`:lua ${float.replaceAll('\n', ' ')}<CR>`, 'ihello<Esc>:close<CR>', `${text} == '1234'`],
    [':copen<CR>', 'x:cclose<CR>', `${text} == '1234'`],
    [':vertical diffsplit a.txt<CR>', 'do:only<CR>:diffoff<CR>:b mine.txt<CR>', `${text} == '1234'`],
  ]) {
    await neovim.edit(mine);
    await neovim.command('%d', 'call setline(1, [1, 2, 3, 4])', 'messages clear');
    await neovim.press(`gg0${begin}`);
    const proposed = client.openDiff(file, 'new\n');
    const rejected = new Promise((done) => proposed.then(done, done));
    await pause();
    await neovim.type(end);
    await neovim.until(expected);
    await neovim.until(`require('gemini_companion').status().proposals == 1`);
    assert.deepEqual((await neovim.sides(file)).right, ['new'], begin);
    await neovim.type('<Esc>:GeminiCompanion reject<CR>');
    await rejected;
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    await neovim.command('silent! only');
  }
});

for (const keys of ['i<C-x><C-o>', 'i<F2>', '<F2>']) {
  test(`a proposal waits until the function of ${keys} has ended`, { skip }, async (t) => {
    const wait = `vim.g.runs = true vim.wait(20000, function() return vim.g.goes_on end)`;
    const { sandbox, neovim, client } = await openNeovimWithClient(t, {
      init: `_G.complete = function(begins) if begins == 1 then return 0 end ${wait} return { 'word' } end
        vim.o.omnifunc = 'v:lua.complete'
        vim.keymap.set({ 'n', 'i' }, '<F2>', function() ${wait} return '' end, { expr = true })`,
    });
    const file = sandbox.file('a.txt', 'old\n');
    await neovim.edit(sandbox.file('mine.txt', 'mine\n'));
    await neovim.press(keys);
    await neovim.until('vim.g.runs');
    const decision = client.openDiff(file, 'new\n');
    // A message of the companion that comes later.
    await client.callTool('getDiagnostics', { filePath: file });
    await neovim.lua('vim.g.goes_on = true');
    await neovim.press('<Esc>');
    await neovim.view(file).catch(() => neovim.proposalBehind(file));
    await neovim.type('<Esc>:GeminiCompanion accept<CR>');
    assert.deepEqual(await decision, accepted(''));
  });
}

test('a proposal that is read keeps the focus, and the next one comes after it', { skip }, async (t) => {
  const { sandbox, neovim, file, decision } = await openProposal(t);
  const other = await IdeClient.connect(sandbox);
  const next = sandbox.file('b.txt', 'old\n');
  const second = other.openDiff(next, 'other\n');
  await neovim.until(`vim.fn.execute('messages'):find('edit to b.txt; :GeminiCompanion show')`);
  await pause();
  await neovim.type('\\a');
  assert.deepEqual(await decision, accepted(''));
  await neovim.view(next);
  assert.deepEqual((await neovim.sides(file)).right, undefined);
  await neovim.type('\\r');
  assert.deepEqual(await second, REJECTED);
});
