// Tests that no command in Neovim empties a proposal or loses the user's edits in it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { REJECTED, accepted } from '../lib/decision.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { noNeovim as skip, openNeovim, openProposal, texts } from '../lib/neovim.mjs';

describe('a proposal', { skip, concurrency: 4 }, () => {
  test('is there after a reload', async (t) => {
    const { neovim, client, file, ...first } = await openProposal(t);
    let { decision } = first;
    for (const reload of [':e<CR>', ':e!<CR>', ':e ++ff=dos<CR>']) {
      await neovim.type(reload);
      assert.deepEqual((await neovim.sides(file)).right, ['new', 'new2'], reload);
      await neovim.type(':w<CR>');
      assert.deepEqual(await decision, accepted(''), reload);
      ({ decision } = await client.propose(neovim, file, 'new\nnew2\n'));
    }
  });

  test('has the proposed text after :e!, and u restores the user’s edits', async (t) => {
    const { neovim, file, decision } = await openProposal(t);
    await neovim.type('ccedited<Esc>:e!<CR>');
    assert.deepEqual((await neovim.sides(file)).right, ['new', 'new2']);
    await neovim.type('u');
    assert.deepEqual((await neovim.sides(file)).right, ['edited', 'new2']);
    assert.equal(await neovim.lua('return vim.bo.modified'), true);
    await neovim.type('u');
    assert.deepEqual((await neovim.sides(file)).right, ['edited', 'new2'], 'never an empty text');
    await neovim.type(':w<CR>');
    assert.deepEqual(await decision, accepted('edited\nnew2\n'));
  });

  for (const hidden of ['unload', 'hide', 'delete']) {
    test(`is rejected by :q also if the user has set bufhidden=${hidden}`, async (t) => {
      const { neovim, decision } = await openProposal(t, {
        init: `vim.cmd('autocmd BufEnter * setlocal bufhidden=${hidden}')`,
      });
      await neovim.type(':q<CR>');
      assert.deepEqual(await decision, REJECTED);
    });
  }

  test('is not accepted as an empty text once it was unloaded', async (t) => {
    const { neovim, decision } = await openProposal(t);
    await neovim.type(':setlocal bufhidden=unload<CR>');
    await neovim.type(':enew | GeminiCompanion accept<CR>');
    assert.deepEqual(await decision, accepted(''));
  });
});

describe('what the user wrote', { skip, concurrency: 4 }, () => {
  test('is there after :e! in the buffer that keeps it', async (t) => {
    const { neovim, decision } = await openProposal(t);
    await neovim.type('ccedited<Esc>:w<CR>');
    await decision;
    await neovim.command("execute 'sbuffer' bufnr('gemini-companion://kept')");
    await neovim.type('ccmore<Esc>:e!<CR>');
    assert.deepEqual(await texts(neovim, 'kept'), ['edited|new2']);
    await neovim.type('u');
    assert.deepEqual(await texts(neovim, 'kept'), ['more|new2']);
    assert.equal(await neovim.lua('return vim.bo.modified'), true);
  });

  test('is there, and goes on, when the next proposal arrives during typing', async (t) => {
    const { sandbox, neovim, file } = await openProposal(t);
    const other = await IdeClient.connect(sandbox);
    await neovim.type('Oan hour of work');
    other.openDiff(file, 'newer\n');
    await neovim.until(`vim.wo.winbar:find('This proposal has ended')`);
    await neovim.type(' and a minute<Esc>');
    await neovim.until(`vim.fn.getline(1) == 'newer'`);
    const [kept, more] = await texts(neovim, 'kept');
    assert.deepEqual([kept, more], ['an hour of work|new|new2', 'an hour of work and a minute|new|new2']);
  });

  test('is there when the proposal that has replaced theirs ends', async (t) => {
    const { sandbox, neovim, file } = await openProposal(t);
    const other = await IdeClient.connect(sandbox);
    await neovim.type('ccan hour of work<Esc>');
    const next = other.openDiff(file, 'newer\n');
    await neovim.until(`vim.fn.getline(1) == 'newer'`);
    await other.resolveDiffFromCli(file, 'accepted');
    await next;
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    assert.deepEqual(await texts(neovim, 'kept'), ['an hour of work|new2']);
    assert.match(await neovim.messages(), /:sbuffer \d+ has your text for a\.txt/);
  });

  test('is there when a client rejects the proposal, and :qa asks about it', async (t) => {
    const { neovim, client, file, decision } = await openProposal(t);
    await neovim.type('ccan hour of work<Esc>');
    await client.callTool('rejectDiff', { filePath: file });
    assert.deepEqual(await decision, REJECTED);
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    assert.deepEqual(await texts(neovim, 'kept'), ['an hour of work|new2']);
    await neovim.type(':qall<CR><CR>');
    assert.match(await neovim.messages(), /E37|E162/);
  });
});

describe('Neovim does not leave', { skip, concurrency: 4 }, () => {
  const init = `vim.keymap.set('n', ' X', '<Cmd>xa<CR>')`;
  for (const keys of [':wqa<CR>', ':xa<CR>', ' X']) {
    test(`by ${keys} with a proposal whose file has changed`, async (t) => {
      const { neovim, file, decision } = await openProposal(t, { init });
      await neovim.type('ccan hour of work<Esc>');
      fs.writeFileSync(file, 'by hand\n');
      await neovim.type(keys);
      const warning = /the file changed after the proposal, :w! accepts it: a\.txt/;
      assert.match(await neovim.messages(), warning);
      await neovim.type(':wqa!<CR>').catch(() => {}); // it ends
      assert.deepEqual(await decision, accepted('an hour of work\nnew2\n'));
    });

    test(`by ${keys} with a changed proposal that is not in sight`, async (t) => {
      const { neovim, file } = await openProposal(t, { init });
      await neovim.type('ccan hour of work<Esc>:tabfirst<CR>');
      await neovim.type(keys.replace(' X', ':xall<CR>'));
      assert.match(await neovim.messages(), /a proposal waits, :GeminiCompanion show: a\.txt/);
      assert.deepEqual((await neovim.sides(file)).right, ['an hour of work', 'new2']);
    });
  }
});

describe('a file that a client has written by Neovim', { skip, concurrency: 4 }, () => {
  test('stays unchanged if it has changed since the proposal arrived', async (t) => {
    const { neovim, client, file } = await openProposal(t);
    fs.writeFileSync(file, 'by hand\n');
    await client.callTool('acceptDiff', { filePath: file }).catch(() => {});
    assert.equal(fs.readFileSync(file, 'utf8'), 'by hand\n');
    assert.equal((await neovim.ready()).proposals, 1);
  });

  test('stays unchanged if its buffer has unsaved changes', async (t) => {
    const { neovim, client, file } = await openProposal(t);
    await neovim.command('tabfirst');
    await neovim.edit(file);
    await neovim.type('ccmine<Esc>');
    const { isError } = await client.callTool('acceptDiff', { filePath: file });
    assert.equal(isError, true);
    assert.equal(fs.readFileSync(file, 'utf8'), 'old\nold2\n');
    assert.equal((await neovim.ready()).proposals, 1);
  });

  test('keeps its link and its rights, and no rest of a longer text', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    const program = await neovim.session(sandbox);
    const target = sandbox.file('target.txt', 'a long line\n'.repeat(9));
    fs.chmodSync(target, 0o751);
    const file = `${sandbox.project}/link.txt`;
    fs.symlinkSync('target.txt', file);
    await program.callTool('openDiff', { filePath: file, newContent: 'short\n' });
    await program.callTool('acceptDiff', { filePath: file });
    assert.equal(fs.readFileSync(target, 'utf8'), 'short\n');
    assert.equal(fs.statSync(target).mode & 0o777, 0o751);
    assert.ok(fs.lstatSync(file).isSymbolicLink());
  });

  test('stays unchanged if the disk is full', async (t) => {
    // A disk of 50,000 bytes.
    const { sandbox, neovim } = await openNeovim(t);
    const program = await neovim.session(sandbox);
    const file = sandbox.file('big.txt', 'precious\n');
    const proposed = `${'longer'.repeat(20_000)}\n`;
    await program.callTool('openDiff', { filePath: file, newContent: proposed });
    await neovim.lua(`
      local uv = vim.uv
      local write = uv.fs_write
      uv.fs_write = function(file, data, at)
        if at + #data <= 50000 then return write(file, data, at) end
        if at >= 50000 then return nil, 'ENOSPC: no space left on device' end
        return write(file, data:sub(1, 50000 - at), at)
      end`);
    await program.callTool('acceptDiff', { filePath: file });
    assert.equal(fs.readFileSync(file, 'utf8'), 'precious\n');
    assert.equal((await neovim.ready()).proposals, 1);
  });
});
