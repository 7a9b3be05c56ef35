// Tests that proposals stay open when the companion of a Neovim ends and the next one starts.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';

import { REJECTED, accepted } from '../lib/decision.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { noNeovim as skip, openNeovim, texts } from '../lib/neovim.mjs';
import { suspend } from '../lib/suspend.mjs';
import { stateFiles } from '../lib/window.mjs';

/**
 * A client opens a proposal, and the user goes to it. A client has one open proposal at most. If a companion is killed
 * before it has saved the proposal and answered, the client's call fails.
 */
async function propose({ sandbox, neovim }, name, { hooks = false } = {}) {
  const client = await IdeClient.connect(sandbox);
  const file = sandbox.file(name, 'old\n');
  if (hooks) await new HookCli(sandbox, 'a', client).before(file);
  const decision = client.openDiff(file, 'new\n');
  await neovim.proposalBehind(file);
  const isSaved = (state) => fs.readFileSync(state, 'utf8').includes(`"${file}"`);
  await until('the proposal is saved', () => stateFiles(sandbox).some(isSaved));
  // The companion has one thread, so it handles this request only after that answer.
  const session = await neovim.session(sandbox);
  await session.delete();
  await neovim.command(`GeminiCompanion show ${file}`);
  await neovim.view(file);
  return { client, file, decision };
}

/** Waits until another companion than `before` has taken up the proposals, or not. Until then their bars say so. */
async function nextCompanion(neovim, before) {
  await neovim.until(
    `(function(before)
       local status = require('gemini_companion.server').status()
       return status and status.port and not status.stopping and status.pid ~= before
     end)(...)`,
    before,
  );
  await neovim.until(
    `not vim.iter(vim.api.nvim_list_wins()):any(function(window)
       return vim.wo[window].winbar:find('starts again')
     end)`,
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

/** Listens on a port as soon as it is free. */
async function listenOn(port) {
  for (;;) {
    const server = net.createServer((connection) => connection.destroy()).listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      return server;
    } catch {
      await sleep(1);
    }
  }
}

// Most of the time they wait for the CLIs, which open their streams again after 20 s.
describe('after the end of a companion', { skip, concurrency: 4 }, () => {
  test('proposals and the user’s edits survive an end by SIGKILL of the companion and then a restart', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    const names = ['unchanged.txt', 'closed.txt', 'terminal.txt', 'edited.txt'];
    const proposals = [];
    for (const name of names) proposals.push(await propose({ sandbox, neovim }, name));
    const [unchanged, closed, inTerminal, edited] = proposals;
    await neovim.type('ccmine<Esc>');
    await kill(neovim);
    await restart(neovim);
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
    assert.doesNotMatch(await neovim.messages(), /no CLI waits|lose their connection/);
  });

  test('a program that takes the port meanwhile costs the connection, but no edit', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    const { file } = await propose({ sandbox, neovim }, 'a.txt');
    await neovim.type('ccmine<Esc>');
    const before = await neovim.companionPid();
    const { port } = await neovim.ready();
    // Neovim can't start the next companion before the other program has the port.
    await suspend(neovim.pid);
    process.kill(before, 'SIGKILL');
    const other = await listenOn(port);
    t.after(() => other.close());
    neovim.signal('SIGCONT');
    await nextCompanion(neovim, before);
    assert.notEqual((await neovim.ready()).port, port);
    const messages = await neovim.messages();
    assert.match(messages, /no CLI waits for a\.txt; :w/);
    assert.match(messages, /the CLIs lose their connection; run \/ide enable in each after 20 seconds/);
    assert.deepEqual((await neovim.sides(file)).right, ['mine']);
    // The file of the ended companion stays while its port is answered. In Neovim's terminal a CLI knows the new port.
    const env = await neovim.until(`require('gemini_companion.server').status().env`);
    const again = await IdeClient.connect(sandbox, { env: { ...env, TERM_PROGRAM: 'vscode' } });
    const next = sandbox.file('b.txt', 'old\n');
    const decision = again.openDiff(next, 'new\n');
    await neovim.proposalBehind(next);
    await neovim.command(`GeminiCompanion show ${next}`);
    await neovim.type(':w<CR>');
    assert.deepEqual(await decision, accepted(''));
  });

  test('an acceptance that the companion has not read before it ended is not lost', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    const { file, decision } = await propose({ sandbox, neovim }, 'a.txt');
    const before = await neovim.companionPid();
    await suspend(before);
    await neovim.type(':w<CR>');
    process.kill(before, 'SIGKILL');
    await nextCompanion(neovim, before);
    assert.deepEqual(await decision, REJECTED);
    assert.match(await neovim.messages(), /:sbuffer \d+ has your text for a\.txt, which is not in the file/);
    assert.deepEqual(await texts(neovim, 'kept'), ['new']);
  });

  test('a reason that the companion has not read before it ended is reported as lost', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    const { file, decision } = await propose({ sandbox, neovim }, 'a.txt', { hooks: true });
    const before = await neovim.companionPid();
    await suspend(before);
    assert.equal(await neovim.lua(`return require('gemini_companion').reject(...)`, file, 'use const'), true);
    process.kill(before, 'SIGKILL');
    await nextCompanion(neovim, before);
    assert.deepEqual(await decision, REJECTED);
    assert.match(await neovim.messages(), /the CLI does not get your reason for a\.txt: the companion has ended/);
    await propose({ sandbox, neovim }, 'b.txt', { hooks: true });
    await neovim.press('\\c');
    await neovim.until(`vim.fn.getcmdline() == 'use const'`);
    await neovim.type('<C-c>');
  });

  test('a proposal that the user closes while no companion runs is rejected', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    const { decision } = await propose({ sandbox, neovim }, 'a.txt');
    await neovim.type(':GeminiCompanion restart<CR>:w<CR>:q<CR>');
    assert.match(await neovim.messages(), /the companion is starting again; decide in a moment/);
    assert.deepEqual(await decision, REJECTED);
  });

  test('a restart that the CLIs notice rejects proposals, and keeps the user’s edits', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    const { file, decision } = await propose({ sandbox, neovim }, 'a.txt');
    await neovim.type('ccmine<Esc>');
    const before = await neovim.companionPid();
    await neovim.lua(`require('gemini_companion').setup({ cmd = ..., review = false })`, [
      process.env.GEMINI_COMPANION,
    ]);
    // The companion refuses to review every edit without the review.
    await neovim.command('GeminiCompanion review on');
    await neovim.command('GeminiCompanion restart');
    assert.deepEqual(await decision, REJECTED);
    await nextCompanion(neovim, before);
    await neovim.until(`vim.fn.execute('messages'):find('no CLI waits for a.txt; :w')`);
    assert.deepEqual((await neovim.sides(file)).right, ['mine']);
  });

  test('a companion that ends again and again is not started again', async (t) => {
    const { neovim } = await openNeovim(t);
    for (let times = 0; times < 3; times++) {
      await neovim.ready();
      await kill(neovim);
      await neovim.says(/the companion starts again: .* exited with code/);
    }
    process.kill(await neovim.companionPid(), 'SIGKILL');
    await neovim.until(`vim.fn.execute('messages'):find('\\n?GeminiCompanion: the companion exited with code')`);
    assert.equal(await neovim.lua(`return require('gemini_companion.server').status()`), null);
  });

  test('a proposal can not be closed by :wq until the next companion has taken it up', async (t) => {
    const script = 'while [ -e wait ]; do sleep 0.05; done; exec "$0" "$@"';
    const setup = `{ cmd = { 'sh', '-c', [[${script}]], [[${process.env.GEMINI_COMPANION}]] } }`;
    const { sandbox, neovim } = await openNeovim(t, { setup });
    const { decision } = await propose({ sandbox, neovim }, 'a.txt');
    const wait = sandbox.file('wait', '');
    await neovim.type(':GeminiCompanion restart<CR>');
    await neovim.until(`vim.wo.winbar:find('The companion starts again')`);
    await neovim.type(':wq<CR>');
    assert.match(await neovim.messages(), /the companion is starting again; decide in a moment/);
    fs.rmSync(wait);
    await neovim.until(`vim.wo.winbar:find(':w accepts')`);
    await neovim.type(':wq<CR>');
    assert.deepEqual(await decision, accepted(''));
  });
});
