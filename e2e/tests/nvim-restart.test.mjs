// Tests that proposals stay open when the companion of a Neovim ends and the next one starts.

import assert from 'node:assert/strict';
import test from 'node:test';

import { REJECTED, accepted } from '../lib/decision.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { noNeovim as skip, openNeovim } from '../lib/neovim.mjs';

/** A client opens a proposal, and the user goes to it. A client has one open proposal at most. */
async function propose({ sandbox, neovim }, name) {
  const client = await IdeClient.connect(sandbox);
  const file = sandbox.file(name, 'old\n');
  const decision = client.openDiff(file, 'new\n');
  await neovim.proposalBehind(file);
  await neovim.command(`GeminiCompanion show ${file}`);
  await neovim.proposal(file);
  return { client, file, decision };
}

/** Waits until another companion than `before` has taken up the proposals. */
async function nextCompanion(neovim, before) {
  await neovim.until(
    `(function(before)
       local status = require('gemini_companion.server').status()
       return status and status.port and not status.stopping and status.pid ~= before
     end)(...)`,
    before,
  );
}

async function restart(neovim) {
  const before = await neovim.companionPid();
  await neovim.command('GeminiCompanion restart');
  await nextCompanion(neovim, before);
}

async function kill(neovim) {
  const before = await neovim.companionPid();
  process.kill(before, 'SIGKILL');
  await nextCompanion(neovim, before);
}

const ends = {
  restart,
  'end by SIGKILL': kill,
  'restart after an end by SIGKILL': async (neovim) => {
    await kill(neovim);
    await restart(neovim);
  },
};

for (const [name, end] of Object.entries(ends)) {
  test(`proposals and the user’s edits survive a ${name} of the companion`, { skip }, async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    const names = ['unchanged.txt', 'closed.txt', 'terminal.txt', 'edited.txt'];
    const proposals = [];
    for (const name of names) proposals.push(await propose({ sandbox, neovim }, name));
    const [unchanged, closed, inTerminal, edited] = proposals;
    await neovim.type('ccmine<Esc>');
    await end(neovim);
    assert.deepEqual((await neovim.sides(edited.file)).right, ['mine']);
    // The clients have no stream yet.
    await neovim.type(':w<CR>');
    assert.deepEqual(await edited.decision, accepted('mine\n'));
    await neovim.command(`GeminiCompanion show ${closed.file}`);
    await neovim.type(':q<CR>');
    assert.deepEqual(await closed.decision, REJECTED);
    assert.equal(await inTerminal.client.closeDiff(inTerminal.file), '', 'unchanged');
    await neovim.command(`GeminiCompanion show ${unchanged.file}`);
    await neovim.type(':w<CR>');
    assert.deepEqual(await unchanged.decision, accepted(''));
    for (const { client } of proposals) assert.equal(await client.status(), 'connected');
    assert.doesNotMatch(await neovim.messages(), /no CLI waits/);
  });
}

test('a proposal that the user closes while no companion runs is rejected', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const { decision } = await propose({ sandbox, neovim }, 'a.txt');
  await neovim.type(':GeminiCompanion restart<CR>:w<CR>:q<CR>');
  assert.match(await neovim.messages(), /the companion is starting again; decide in a moment/);
  assert.deepEqual(await decision, REJECTED);
});

test('a restart that the CLIs notice rejects proposals, and keeps the user’s edits', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const { file, decision } = await propose({ sandbox, neovim }, 'a.txt');
  await neovim.type('ccmine<Esc>');
  const before = await neovim.companionPid();
  await neovim.lua(`require('gemini_companion').setup({ cmd = ..., review = false })`, [
    process.env.GEMINI_COMPANION,
  ]);
  await neovim.command('GeminiCompanion restart');
  assert.deepEqual(await decision, REJECTED);
  await nextCompanion(neovim, before);
  await neovim.until(`vim.fn.execute('messages'):find('no CLI waits for a.txt; :w')`);
  assert.deepEqual((await neovim.sides(file)).right, ['mine']);
});

test('a companion that ends again and again is not started again', { skip }, async (t) => {
  const { neovim } = await openNeovim(t);
  for (let times = 0; times < 3; times++) {
    await neovim.ready();
    await kill(neovim);
  }
  process.kill(await neovim.companionPid(), 'SIGKILL');
  await neovim.until(`vim.fn.execute('messages'):find('\\n?gemini.companion: the companion exited with code')`);
  assert.equal(await neovim.lua(`return require('gemini_companion.server').status()`), null);
});
