// Tests several proposals in Neovim: navigation, bulk decisions, and the list.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { UNCHANGED } from '../lib/decision.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { noNeovim as skip, openNeovim, openNeovimWithClient } from '../lib/neovim.mjs';

/** Three proposals, each of a client of its own; `decisions` come by the names of the files. */
async function openThree(t) {
  const { sandbox, neovim } = await openNeovim(t, { args: ['other.txt'] });
  const files = {};
  const decisions = {};
  for (const name of ['c', 'a', 'b']) {
    const client = await IdeClient.connect(sandbox);
    files[name] = sandbox.file(`${name}.txt`, 'old\n');
    decisions[name] = client.openDiff(files[name], `new ${name}\n`);
    await neovim.proposalBehind(files[name]);
    await neovim.command(`GeminiCompanion show ${files[name]}`);
  }
  const run = (subcommand) => neovim.command(`GeminiCompanion ${subcommand}`);
  const shown = () => neovim.lua(`return vim.fn.fnamemodify(vim.fn.bufname(), ':t')`);
  return { neovim, files, decisions, run, shown };
}

/** The decisions are those, each by the name of its file. */
async function areDecided(decisions, expected) {
  for (const [name, content] of Object.entries(expected)) {
    const status = content === undefined ? 'rejected' : 'accepted';
    // An unchanged one is left to the CLI.
    const sent = content === `new ${name}\n` ? '' : content;
    assert.deepEqual(await decisions[name], { status, content: sent }, name);
  }
}

test('commands go through the proposals in the order of arrival', { skip }, async (t) => {
  const { neovim, decisions, run, shown } = await openThree(t);
  const bar = async () => (await neovim.bars())[1];
  assert.equal(await shown(), 'b.txt', 'the one that came last');
  assert.match(await bar(), /^3\/3 Proposal by CLI 3 \(:w accepts, :q rejects/);
  for (const name of ['c.txt', 'a.txt', 'b.txt']) {
    await run('next');
    assert.equal(await shown(), name);
  }
  await run('prev');
  assert.equal(await shown(), 'a.txt');
  assert.match(await bar(), /^2\/3 /);
  await neovim.command('1tabnext');
  assert.equal(await shown(), 'other.txt');
  await run('accept');
  assert.match(await neovim.messages(), /several proposals are open; name one: c\.txt, a\.txt, b\.txt/);
  assert.deepEqual(await neovim.completions('GeminiCompanion reject '), ['c.txt', 'a.txt', 'b.txt']);
  await run('next');
  assert.equal(await shown(), 'c.txt', 'from elsewhere one comes to the first');

  await neovim.command('1tabnext');
  await run('reject c.txt');
  await areDecided(decisions, { c: undefined });
  await run('next');
  await neovim.until(`#require('gemini_companion.proposals').paths() == 2`);
  assert.match(await bar(), /\/2 /);
  await neovim.typeAndAnswer(':GeminiCompanion acceptall<CR>', 'y');
  await areDecided(decisions, { a: 'new a\n', b: 'new b\n' });
});

test('all are accepted with the changes of the user, after one question', { skip }, async (t) => {
  const { neovim, decisions, run } = await openThree(t);
  await neovim.type('cwmine<Esc>');
  await neovim.typeAndAnswer(':GeminiCompanion acceptall<CR>', 'n');
  assert.equal((await neovim.ready()).proposals, 3, 'No is no');
  await neovim.typeAndAnswer(':GeminiCompanion acceptall<CR>', 'y');
  await areDecided(decisions, { c: 'new c\n', a: 'new a\n', b: 'mine b\n' });
  await run('next');
  assert.match(await neovim.messages(), /no proposal is open/);
});

test('a bulk acceptance leaves out proposals whose files have changed', { skip }, async (t) => {
  const { neovim, files, decisions, run } = await openThree(t);
  for (const name of ['a', 'b']) fs.writeFileSync(files[name], 'by hand\n');
  for (const left of [/2 of 3 proposals stay open/, /2 of 2 proposals stay open/]) {
    await neovim.typeAndAnswer(':GeminiCompanion acceptall<CR>', 'y');
    assert.match(await neovim.messages(), left);
  }
  await areDecided(decisions, { c: 'new c\n' });
  await run(`accept ${files.a}`);
  await areDecided(decisions, { a: 'new a\n' });
});

test('all are rejected after one question', { skip }, async (t) => {
  const { neovim, decisions } = await openThree(t);
  await neovim.typeAndAnswer(':GeminiCompanion rejectall<CR>', 'y');
  await areDecided(decisions, { a: undefined, b: undefined, c: undefined });
});

test('the list opens each proposal', { skip }, async (t) => {
  const { neovim, run, shown } = await openThree(t);
  await neovim.type('cwmine<Esc>');
  await run('list');
  const list = await neovim.lua(
    `return vim.tbl_map(function(item)
       return vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':t') .. ': ' .. item.text
     end, vim.fn.getqflist())`,
  );
  assert.deepEqual(list, [
    'c.txt: change by CLI 1',
    'a.txt: change by CLI 2',
    'b.txt: change by CLI 3, changed by you',
  ]);
  await neovim.type('2G<CR>');
  assert.equal(await shown(), 'a.txt');
  assert.equal((await neovim.ready()).proposals, 3, 'to look is no decision');

  await neovim.lua(`vim.fn.setqflist({ { filename = 'other.txt', lnum = 1 } })`);
  await neovim.command('copen');
  await neovim.type('1G<CR>');
  assert.equal(await shown(), 'other.txt', "the user's own lists are as they were");
});

test('the list opens the proposal for a symbolic link', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  await neovim.edit(sandbox.file('a.txt', 'old\n'));
  await neovim.type('i');
  const link = `${sandbox.project}/link.txt`;
  fs.symlinkSync('a.txt', link);
  client.openDiff(link, 'new\n');
  await neovim.proposalBehind(link);
  await neovim.type('<Esc>:GeminiCompanion list<CR><CR>');
  await neovim.view(link);
  assert.doesNotMatch(await neovim.messages(), /no proposal is open/);
});

test('a proposal is accepted by any name of its file', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'old\n');
  fs.symlinkSync('a.txt', `${sandbox.project}/link.txt`);
  const { decision } = await client.propose(neovim, file, 'new\n');
  await neovim.type(':GeminiCompanion accept link.txt<CR>');
  assert.equal((await decision).status, 'accepted');
});

test('a changed file causes a warning before its proposal is accepted', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'old\n');
  const { decision } = await client.propose(neovim, file, 'new\n');
  fs.writeFileSync(file, 'by hand\n');
  for (const keys of [':w<CR>', ':wq<CR>', ':x<CR>', 'ZZ', ':w<CR>']) {
    await neovim.type(keys);
    assert.equal((await neovim.ready()).proposals, 1, `${keys} is refused`);
    assert.deepEqual((await neovim.sides(file)).left, ['by hand'], 'what it is now shows');
  }
  const warning = /the file changed after the proposal, :w! accepts it: a\.txt/;
  assert.match(await neovim.messages(), warning);
  await neovim.type(':w!<CR>');
  assert.deepEqual(await decision, UNCHANGED);
});

test('a second accept command accepts a changed file', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'old\n');
  const { decision } = await client.propose(neovim, file, 'new\n');
  for (const text of ['by hand\n', 'by hand, again\n']) {
    fs.writeFileSync(file, text);
    await neovim.command('GeminiCompanion accept');
    assert.equal((await neovim.ready()).proposals, 1, `what is new is shown: ${text}`);
  }
  await neovim.command('GeminiCompanion accept');
  assert.deepEqual(await decision, UNCHANGED);
});

test('a reverted change does not count; a created or deleted file does', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const back = sandbox.file('back.txt', 'old\n');
  const { decision: first } = await client.propose(neovim, back, 'new\n');
  fs.writeFileSync(back, 'by hand\n');
  fs.writeFileSync(back, 'old\n');
  await neovim.type(':w<CR>');
  assert.deepEqual(await first, UNCHANGED);

  const gone = sandbox.file('gone.txt', 'old\n');
  for (const change of [() => fs.rmSync(gone), () => fs.writeFileSync(gone, 'by hand\n')]) {
    const { decision } = await client.propose(neovim, gone, 'new\n');
    change();
    await neovim.command('silent! write');
    assert.equal((await neovim.ready()).proposals, 1);
    await neovim.type(':w!<CR>');
    assert.equal((await decision).status, 'accepted');
  }
});

test('a change before the proposal shows also causes a warning', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const session = await neovim.session(sandbox);
  const filePath = sandbox.file('a.txt', 'old\n');
  await session.callTool('openDiff', { filePath, newContent: 'first\n' });
  await neovim.view(filePath);
  await neovim.type(':');
  const second = session.callTool('openDiff', { filePath, newContent: 'second\n' });
  await neovim.until(`vim.wo.winbar:find('No CLI waits')`);
  fs.writeFileSync(filePath, 'by hand\n');
  await neovim.type('<Esc>');
  await second;
  await neovim.seen();
  await neovim.type(':w<CR>');
  assert.equal((await neovim.ready()).proposals, 1);
  assert.match(await neovim.messages(), /the file changed after the proposal.*a\.txt/);
});
