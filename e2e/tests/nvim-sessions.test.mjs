// Tests that a session of Neovim (`:mksession`) brings no dead proposal back.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';

import { UNCHANGED } from '../lib/decision.mjs';
import { compared, openEdited, run } from '../lib/neovim-changes.mjs';
import { noNeovim as skip, Neovim, openNeovimWithClient, openProposal } from '../lib/neovim.mjs';

/** The buffers of each tab page, by name. */
const tabs = (neovim) =>
  neovim.lua(`return vim.tbl_map(function(tab)
    return vim.tbl_map(function(window)
      return vim.fn.bufname(vim.api.nvim_win_get_buf(window))
    end, vim.api.nvim_tabpage_list_wins(tab))
  end, vim.api.nvim_list_tabpages())`);

for (const options of ['blank,buffers,curdir,folds,help,tabpages,winsize,terminal', 'buffers,curdir,tabpages,winsize']) {
  test(`a session with sessionoptions=${options} has no proposal`, { skip }, async (t) => {
    const init = `vim.o.sessionoptions = '${options}'`;
    const { sandbox, neovim, file } = await openProposal(t, { init });
    const session = path.join(sandbox.root, 'Session.vim');
    await neovim.command(`mksession ${session}`);
    assert.equal((await neovim.ready()).proposals, 1, 'the open one stays');
    assert.deepEqual((await neovim.sides(file)).right, ['new', 'new2']);
    await neovim.close();
    const next = await Neovim.start(sandbox, { init, args: ['-S', session] });
    await next.ready();
    await next.until(`vim.fn.tabpagenr('$') == 1`);
    assert.deepEqual(await tabs(next), [[path.join(sandbox.project, 'mine.txt')]]);
    assert.equal(await next.lua(`return vim.fn.bufnr('gemini-companion')`), -1);
  });
}

test('a session that the user loads decides no proposal', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const session = path.join(sandbox.root, 'Session.vim');
  await neovim.edit(sandbox.file('mine.txt'));
  await neovim.command(`mksession ${session}`);
  const file = sandbox.file('a.txt', 'old\n');
  const { decision } = await client.propose(neovim, file, 'new\n');
  await neovim.type(`:tabfirst<CR>:source ${session}<CR>`);
  await neovim.until(`vim.fn.execute('messages'):find('a proposal waits')`);
  await neovim.type(':GeminiCompanion show<CR>:w<CR>');
  assert.deepEqual(await decision, UNCHANGED);
});

test('a session has no comparison', { skip }, async (t) => {
  const { sandbox, neovim, file } = await openEdited(t);
  const session = path.join(sandbox.root, 'Session.vim');
  await run(neovim, 'diff');
  await compared(neovim);
  await neovim.command(`mksession ${session}`);
  await neovim.close();
  const next = await Neovim.start(sandbox, { args: ['-S', session] });
  await next.ready();
  await next.until(`vim.fn.bufnr('gemini-companion') == -1`);
  const shown = (await tabs(next)).flat();
  assert.deepEqual([...new Set(shown)], [file.a]);
});
