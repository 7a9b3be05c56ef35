// Tests that Neovim keeps texts that the user has typed, although nobody takes them.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { HookCli } from '../lib/hook-cli.mjs';
import { run } from '../lib/neovim-changes.mjs';
import { noNeovim as skip, openNeovim, openProposal, texts } from '../lib/neovim.mjs';

describe('a text of the user', { skip, concurrency: 2 }, () => {
  test('in a comment is offered again, also if several are refused', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    sandbox.file('.aiexclude', '*.hid\n');
    await neovim.edit(sandbox.file('a.hid', 'one\ntwo\n'));
    await run(neovim, 'comment First');
    await neovim.type(':2GeminiCompanion comment Second<CR>');
    await neovim.until(`select(2, vim.fn.execute('messages'):gsub('No model gets this comment', '')) == 2`);
    await neovim.edit(sandbox.file('a.txt', 'one\ntwo\n'));
    const offered = [];
    for (const line of [1, 2]) {
      await neovim.type(`:${line}GeminiCompanion comment<CR>`);
      offered.push(await neovim.until(`vim.fn.getcmdprompt():find('^Comment on') and vim.fn.getcmdline()`));
      await neovim.type('<CR>');
    }
    assert.deepEqual(offered.sort(), ['First', 'Second']);
    assert.equal(await neovim.lua(`return require('gemini_companion').status().comments`), 2);
  });

  test('in a comment is offered again, also if it is refused during another question', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    await neovim.edit(sandbox.file('b.txt', 'one\n'));
    await run(neovim, 'comment Precious');
    await neovim.edit(sandbox.file('a.txt', 'one\ntwo\n'));
    await neovim.type(':GeminiCompanion comment<CR>Other');
    sandbox.file('.geminiignore', 'b.txt\n');
    await new HookCli(sandbox).prompt('go');
    await neovim.until(`require('gemini_companion').status().comments == 0`);
    await neovim.type('<CR>:2GeminiCompanion comment<CR>');
    assert.equal(await neovim.until(`vim.fn.getcmdprompt():find('^Comment on') and vim.fn.getcmdline()`), 'Precious');
    await neovim.type('<CR>');
  });

  for (const wipe of ['%bwipeout', '%bdelete']) {
    test(`in an accepted proposal is there if no CLI writes it, also after :${wipe}`, async (t) => {
      const { neovim, decision } = await openProposal(t);
      await neovim.type('ccan hour of work<Esc>:w<CR>');
      await decision;
      await neovim.until('#vim.api.nvim_list_tabpages() == 1');
      await neovim.type(`:${wipe}<CR>`);
      await neovim.until(`vim.fn.execute('messages'):find(':sbuffer %d+ has your text for')`);
      await neovim.command("execute 'sbuffer' bufnr('gemini-companion://kept')");
      assert.deepEqual(await texts(neovim, 'kept'), ['an hour of work|new2']);
      await neovim.type(':qall<CR><CR>');
      assert.match(await neovim.messages(), /E37|E162/, 'Neovim does not quit without a question');
    });
  }
});
