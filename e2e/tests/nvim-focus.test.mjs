// Tests that a proposal in Neovim does not take the focus from a user who types.

import assert from 'node:assert/strict';
import test from 'node:test';

import { REJECTED, accepted } from '../lib/decision.mjs';
import { noNeovim as skip, openNeovimWithClient } from '../lib/neovim.mjs';

const mode = (neovim) => neovim.lua('return vim.api.nvim_get_mode().mode');

test('the focus stays if the user has configured that', { skip }, async (t) => {
  const setup = `{ cmd = vim.env.GEMINI_COMPANION, focus = false, mappings = false }`;
  const env = { GEMINI_COMPANION: process.env.GEMINI_COMPANION };
  const { sandbox, neovim, client } = await openNeovimWithClient(t, { setup, env });
  const file = sandbox.file('a.txt', 'old\n');
  await neovim.edit(sandbox.file('other.txt'));
  const decision = client.openDiff(file, 'new\n');
  await neovim.proposalBehind(file);
  assert.match(await neovim.lua('return vim.fn.bufname()'), /other\.txt$/);
  assert.match(await neovim.messages(), /an edit to a\.txt; :GeminiCompanion show$/);
  await neovim.type(':GeminiCompanion show<CR>');
  assert.match(await neovim.lua('return vim.fn.bufname()'), /^gemini-companion:.*a\.txt$/);
  assert.equal(
    await neovim.lua(
      'return vim.fn.maparg(vim.api.nvim_replace_termcodes("<LocalLeader>a", true, true, true), "n")',
    ),
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
  assert.deepEqual(await neovim.proposal(file), { left: ['old'], right: ['new'] });
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
  await neovim.proposal(file);
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, accepted(''));
});
