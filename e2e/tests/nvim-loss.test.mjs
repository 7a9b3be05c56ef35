// Owns that nothing empties a proposal in Neovim, or takes what the user has written in it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { IdeClient } from '../lib/ide-client.mjs';
import { noNeovim as skip, openProposal, texts } from '../lib/neovim.mjs';

const accepted = (content) => ({ status: 'accepted', content });
const REJECTED = { status: 'rejected', content: undefined };

describe('a proposal', { skip, concurrency: true }, () => {
  for (const reload of [':e<CR>', ':e!<CR>', ':e ++ff=dos<CR>']) {
    test(`is there after ${reload}`, async (t) => {
      const { neovim, file, decision } = await openProposal(t);
      await neovim.type(reload);
      assert.deepEqual((await neovim.sides(file)).right, ['new', 'new2']);
      await neovim.type(':w<CR>');
      assert.deepEqual(await decision, accepted('new\nnew2\n'));
    });
  }

  test('is as it was proposed after :e!, and u brings back what the user wrote', async (t) => {
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
    assert.deepEqual(await decision, accepted('new\nnew2\n'));
  });
});

describe('what the user wrote', { skip, concurrency: true }, () => {
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
});
