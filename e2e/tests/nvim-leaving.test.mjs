// Tests that only the user decides in Neovim: leaving, moving or copying a proposal, or a session, is not a decision.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { accepted, REJECTED, UNCHANGED } from '../lib/decision.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { compared, openEdited, run } from '../lib/neovim-changes.mjs';
import { Neovim, noNeovim as skip, openNeovimWithClient, openProposal, texts } from '../lib/neovim.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

/** It is open once more, and can be accepted. */
async function isUndecided({ neovim, decision }, content = UNCHANGED.content) {
  await neovim.until("#vim.fn.win_findbuf(vim.fn.bufnr('gemini-companion://proposal')) > 0");
  assert.equal((await neovim.ready()).proposals, 1);
  await neovim.type(':GeminiCompanion show<CR>:w<CR>');
  assert.deepEqual(await decision, accepted(content));
}

/** Waits until a newer proposal has this line. */
const showsBehind = (neovim, file, line) =>
  until(`the proposal ${line}`, async () => (await neovim.sides(file)).right?.[0] === line);

describe('a proposal', { skip, concurrency: 4 }, () => {
  test('waits when its user leaves it by any key or command', async (t) => {
    const { neovim, client, file, ...first } = await openProposal(t);
    let { decision } = first;
    for (const keys of ['<C-o>', '<C-^>', ':bnext<CR>', ':enew<CR>', ':e mine.txt<CR>']) {
      await neovim.type(keys);
      await neovim.until(`not vim.fn.bufname():find('^gemini') and ...`, keys);
      await isUndecided({ neovim, decision });
      ({ decision } = await client.propose(neovim, file, 'new\nnew2\n'));
    }
  });

  for (const keys of [':!true<CR><CR>', ':make<CR><CR>', '<C-^>', ':q<CR>']) {
    test(`is not written by 'autowriteall' and ${keys}`, async (t) => {
      const scene = await openProposal(t, {
        init: `vim.o.autowriteall = true; vim.o.makeprg = 'true'`,
      });
      const { neovim } = scene;
      await neovim.type(`cchalf done<Esc>${keys}`);
      assert.equal((await neovim.ready()).proposals, 1);
      await isUndecided(scene, 'half done\nnew2\n');
      await neovim.until('vim.o.autowriteall and #vim.api.nvim_list_tabpages() == 1');
    });
  }

  test(`leaves 'autowrite' on if its user sets it meanwhile`, async (t) => {
    const { neovim, decision } = await openProposal(t);
    await neovim.type(':set autowrite<CR>:w<CR>');
    assert.deepEqual(await decision, UNCHANGED);
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    assert.equal(await neovim.lua('return vim.o.autowrite'), true);
  });

  test('takes its user back to the window where :GeminiCompanion show was typed', async (t) => {
    const { sandbox, neovim, client } = await openNeovimWithClient(t);
    const file = sandbox.file('a.txt', 'old\n');
    await neovim.edit(sandbox.file('mine.txt', '1\n'));
    await neovim.type('i');
    const decision = client.openDiff(file, 'new\n');
    await neovim.proposalBehind(file);
    await neovim.type(`<Esc>:tabedit ${sandbox.file('other.txt', 'other\n')}<CR>:GeminiCompanion show<CR>`);
    await neovim.view(file);
    await neovim.type(':w<CR>');
    assert.deepEqual(await decision, UNCHANGED);
    await neovim.until(`#vim.api.nvim_list_tabpages() == 2`);
    assert.match(await neovim.lua('return vim.fn.bufname()'), /other\.txt$/);
  });

  test('gives its place to a newer one also if its user has just left it', async (t) => {
    const { sandbox, neovim, client, file, decision } = await openProposal(t);
    const other = await IdeClient.connect(sandbox);
    await neovim.type('ccmine<Esc>:edit! mine.txt<CR>:');
    const second = other.openDiff(file, 'second\n');
    assert.deepEqual(await decision, REJECTED);
    await client.callTool('getDiagnostics', { filePath: file });
    await neovim.type('<Esc>');
    await showsBehind(neovim, file, 'second');
    await isUndecided({ neovim, decision: second });
    assert.doesNotMatch(await neovim.messages(), /Invalid buffer/);
    assert.deepEqual(await texts(neovim, 'kept'), ['mine|new2']);
  });

  test('keeps its comment if its user leaves it and types on while the next file loads', async (t) => {
    const init = `vim.api.nvim_create_autocmd('BufReadPost', {
      pattern = '*/slow.txt',
      callback = function() vim.uv.sleep(300) end,
    })
    notified = {}
    vim.notify = function(message) table.insert(notified, message) end`;
    const scene = await openProposal(t, { init });
    const { sandbox, neovim } = scene;
    sandbox.file('slow.txt', 'one\ntwo\n');
    await neovim.type('2G:GeminiCompanion comment Why<CR>');
    await neovim.press(':edit slow.txt<CR>/');
    await neovim.until(`vim.fn.getcmdtype() == '/'`);
    await neovim.type('two<CR>');
    await neovim.until("#vim.fn.win_findbuf(vim.fn.bufnr('gemini-companion://proposal')) > 0");
    await neovim.type(':GeminiCompanion comments<CR>');
    const listed = await neovim.lua(`return vim.tbl_map(function(item) return item.text end, vim.fn.getqflist())`);
    assert.deepEqual(listed, ['Why']);
    await neovim.type('<CR>');
    assert.equal(await neovim.lua('return vim.fn.getline(".")'), 'new2');
    await neovim.type(':1tabnext<CR>Omine<Esc>:w<CR>');
    assert.doesNotMatch(await neovim.messages(), /Invalid|traceback|failed/);
    const notified = await neovim.lua('return notified');
    assert.equal(notified.filter((message) => message.includes('a proposal waits')).length, 1, 'it opens again once');
    await isUndecided(scene);
  });

  for (const keys of [':only<CR>', '<C-w>h:bwipeout<CR>']) {
    test(`gives its place to a newer one also after ${keys}`, async (t) => {
      const { sandbox, neovim, file, decision } = await openProposal(t);
      const other = await IdeClient.connect(sandbox);
      await neovim.type(`ccmine<Esc>${keys}`);
      const second = other.openDiff(file, 'second\n');
      assert.deepEqual(await decision, REJECTED);
      await showsBehind(neovim, file, 'second');
      await neovim.seen();
      assert.deepEqual(await texts(neovim, 'kept'), ['mine|new2']);
      await isUndecided({ neovim, decision: second });
    });
  }

  for (const [command, expected] of [['accept', UNCHANGED], ['reject', REJECTED]]) {
    test(`leaves nothing behind if its user leaves it and decides by ${command} at once`, async (t) => {
      const { neovim, decision } = await openProposal(t);
      await neovim.press(`:enew | GeminiCompanion ${command}<CR>`);
      assert.deepEqual(await decision, expected);
      await neovim.until(`require('gemini_companion').status().proposals == 0`);
      assert.doesNotMatch(await neovim.messages(), /Invalid/);
    });
  }

  test('waits if its user leaves it and can’t accept it at once', async (t) => {
    const scene = await openProposal(t);
    const { neovim, file } = scene;
    fs.writeFileSync(file, 'by hand\n');
    await neovim.press(':enew | GeminiCompanion accept<CR>');
    await neovim.until("#vim.fn.win_findbuf(vim.fn.bufnr('gemini-companion://proposal')) > 0");
    assert.doesNotMatch(await neovim.messages(), /Invalid/);
    await neovim.type(':GeminiCompanion show<CR>:w!<CR>');
    assert.equal((await scene.decision).status, 'accepted');
  });

  for (const keys of [':%bdelete|edit #<CR>', ':tabonly<CR>']) {
    test(`waits after ${keys} in another tab page`, async (t) => {
      const { sandbox, neovim, client } = await openNeovimWithClient(t);
      await neovim.edit(sandbox.file('mine.txt', '1\n'));
      await neovim.type('i');
      const file = sandbox.file('a.txt', 'old\n');
      const decision = client.openDiff(file, 'new\n');
      await neovim.proposalBehind(file);
      await neovim.type(`<Esc>${keys}`);
      await neovim.says(/a proposal waits.*: a\.txt/);
      await isUndecided({ neovim, decision });
    });
  }

  test('waits after :tabonly if its user has seen only the text that it had before', async (t) => {
    const { sandbox, neovim, file } = await openProposal(t);
    const other = await IdeClient.connect(sandbox);
    await neovim.type(':tabfirst<CR>');
    const decision = other.openDiff(file, 'newer\n');
    await showsBehind(neovim, file, 'newer');
    await neovim.type(':tabonly<CR>');
    await isUndecided({ neovim, decision });
  });

  test('has its own last line ending after undo, if its user reverts all changes and leaves it', async (t) => {
    const { sandbox, neovim, client } = await openNeovimWithClient(t);
    const file = sandbox.file('a.txt', 'one\ntwo');
    const { decision } = await client.propose(neovim, file, 'one\nTWO\n');
    await neovim.type(':%diffget<CR>:enew!<CR>');
    await neovim.until("#vim.fn.win_findbuf(vim.fn.bufnr('gemini-companion://proposal')) > 0");
    await neovim.type(':GeminiCompanion show<CR>u:w<CR>');
    assert.deepEqual(await decision, UNCHANGED);
  });

  test('is accepted in another tab page', async (t) => {
    const { neovim, client, file, ...first } = await openProposal(t);
    let { decision } = first;
    for (const keys of ['<C-w>T:w<CR>', '<C-w>TZZ', '<C-w>T:wq<CR>', '<C-w>T:x<CR>', ':tab split<CR>:w<CR>']) {
      await neovim.type(keys);
      assert.deepEqual(await decision, UNCHANGED, keys);
      ({ decision } = await client.propose(neovim, file, 'new\nnew2\n'));
    }
  });

  for (const keys of [':saveas copy.txt<CR>', ':file copy.txt<CR>:w<CR>']) {
    test(`is saved elsewhere and waits after ${keys}`, async (t) => {
      const { sandbox, neovim, decision } = await openProposal(t);
      await neovim.type(`ccedited<Esc>${keys}`);
      assert.equal(fs.readFileSync(`${sandbox.project}/copy.txt`, 'utf8'), 'edited\nnew2\n');
      assert.equal((await neovim.ready()).proposals, 1);
      await neovim.type(':GeminiCompanion accept<CR>');
      assert.deepEqual(await decision, accepted('edited\nnew2\n'));
    });
  }

  const quiet = [':noautocmd bwipeout!<CR>', ':edit! | undo | noautocmd quit!<CR>'];
  for (const keys of ['\\r', ':q!<CR>', ':GeminiCompanion reject<CR>', ...quiet]) {
    test(`is restored with its changes after ${keys}, and :qa does not ask`, async (t) => {
      const { neovim, decision } = await openProposal(t);
      await neovim.type(`ccan hour of work<Esc>${keys}`);
      assert.equal((await decision).status, 'rejected');
      await neovim.until('#vim.api.nvim_list_tabpages() == 1');
      assert.deepEqual(await texts(neovim, 'kept'), ['an hour of work|new2']);
      neovim.quit('qall');
      assert.equal(await neovim.exited(), 0);
    });
  }
});

test('a user who types in a proposal that its CLI closes does not type into a file', { skip }, async (t) => {
  const { neovim, client, file, decision } = await openProposal(t);
  await neovim.type('Omy own');
  await client.resolveDiffFromCli(file, 'accepted');
  assert.equal((await decision).content, 'my own\nnew\nnew2\n');
  await neovim.type(' words<C-o>:w<CR> and more');
  await neovim.type('<Esc>');
  await neovim.until('#vim.api.nvim_list_tabpages() == 1');
  assert.deepEqual(await neovim.lua('return vim.fn.getline(1, "$")'), ['1', '2', '3']);
  assert.ok((await texts(neovim, 'kept')).includes('my own words and more|new|new2'));
});

for (const [before, after] of [['gg', 'dd'], ['ggV', 'd'], ['ggqa', 'ddq'], ['ggd', 'd']]) {
  test(`keys after ${before} in a proposal that its CLI closes do not change a file`, { skip }, async (t) => {
    const { neovim, client, file, decision } = await openProposal(t);
    await neovim.type(before);
    await client.resolveDiffFromCli(file, 'rejected');
    await decision;
    await neovim.lua(`vim.defer_fn(function() vim.g.later = true end, 200)`);
    await neovim.until('vim.g.later');
    await neovim.type(after);
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    assert.deepEqual(await neovim.lua('return vim.fn.getline(1, "$")'), ['1', '2', '3']);
    assert.deepEqual(await texts(neovim, 'kept'), ['new2'], 'they change the text that is kept');
  });
}

test('the next proposal for a file shows although the user works in the one that has ended', { skip }, async (t) => {
  const { neovim, client, file, decision } = await openProposal(t);
  await neovim.type('ccmine');
  await client.resolveDiffFromCli(file, 'rejected');
  await decision;
  const next = client.openDiff(file, 'next\n');
  await neovim.proposalBehind(file);
  assert.deepEqual((await neovim.sides(file)).right, ['next']);
  await neovim.type('<Esc>');
  await neovim.view(file);
  await neovim.type(':w<CR>');
  assert.deepEqual(await next, UNCHANGED);
});

test(':saveas saves a kept text', { skip }, async (t) => {
  const { sandbox, neovim } = await openProposal(t);
  await neovim.type('ccedited<Esc>\\r');
  await neovim.until("vim.fn.bufnr('gemini-companion://kept') ~= -1");
  await neovim.command("execute 'sbuffer' bufnr('gemini-companion://kept')", 'saveas copy.txt');
  assert.equal(fs.readFileSync(`${sandbox.project}/copy.txt`, 'utf8'), 'edited\nnew2\n');
});

test('the acceptance of a large proposal arrives although Neovim ends at once', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('big.txt', 'old\n');
  const { decision } = await client.propose(neovim, file, `${'x'.repeat(3e6)}\nsecond\n`);
  neovim.type('ZZ:qa<CR>').catch(() => {});
  await neovim.exited();
  assert.equal((await decision).status, 'accepted');
});

test('a failed start is reported with its reason', { skip }, async (t) => {
  const cmd = `{ [[${process.env.GEMINI_COMPANION}]], '--no-such-option' }`;
  const neovim = await Neovim.start(Sandbox.of(t), { setup: `{ cmd = ${cmd} }` });
  await neovim.until(`vim.fn.execute('messages'):find('exited with code') ~= nil`);
  assert.match(await neovim.messages(), /unexpected argument '--no-such-option'/);
});

/** Shows every message in a floating window of the current tab page, as Snacks and nvim-notify do. */
const NOTIFIER = `vim.notify = function(message)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, { message })
  vim.api.nvim_open_win(buffer, false, {
    relative = 'editor', width = 40, height = 1, row = 1, col = 60,
    style = 'minimal', focusable = false,
  })
end`;

test('Neovim lives when, below a floating window, a proposal ends', { skip }, async (t) => {
  const { neovim, client, file, ...first } = await openProposal(t, { init: NOTIFIER });
  await client.resolveDiffFromCli(file, 'accepted');
  assert.deepEqual(await first.decision, UNCHANGED);
  for (const [keys, expected] of Object.entries({
    ':w<CR>': UNCHANGED,
    ZZ: UNCHANGED,
    ':q<CR>': REJECTED,
    ':tabclose<CR>': REJECTED,
    ':tabfirst | GeminiCompanion accept<CR>': UNCHANGED,
    ':tabfirst | GeminiCompanion reject<CR>': REJECTED,
  })) {
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    const { decision } = await client.propose(neovim, file, 'new\nnew2\n');
    await neovim.type(keys);
    assert.deepEqual(await decision, expected, keys);
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    assert.deepEqual(await neovim.lua('return vim.fn.getline(1, "$")'), ['1', '2', '3'], keys);
  }
});

/** The buffers of each tab page, by name. */
const tabs = (neovim) =>
  neovim.lua(`return vim.tbl_map(function(tab)
    return vim.tbl_map(function(window)
      return vim.fn.bufname(vim.api.nvim_win_get_buf(window))
    end, vim.api.nvim_tabpage_list_wins(tab))
  end, vim.api.nvim_list_tabpages())`);

const sessions = [
  'blank,buffers,curdir,folds,help,tabpages,winsize,terminal',
  'buffers,curdir,tabpages,winsize',
  'blank,buffers,curdir,folds,help,tabpages,winsize,winpos,terminal,localoptions,options',
];
for (const options of sessions) {
  // A session shows the names of its files. Neovim would wait for Enter after a name that is longer than the screen.
  const init = `vim.o.sessionoptions, vim.o.columns = '${options}', 500`;
  test(`a session with sessionoptions=${options} has no proposal`, { skip }, async (t) => {
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
    assert.equal(await next.lua('return vim.o.tabline'), '');
  });

  test(`a session with sessionoptions=${options} has no comparison`, { skip }, async (t) => {
    const { sandbox, neovim, file } = await openEdited(t, { init });
    const session = path.join(sandbox.root, 'Session.vim');
    await run(neovim, 'diff');
    await compared(neovim);
    await neovim.command(`mksession ${session}`);
    await neovim.close();
    const next = await Neovim.start(sandbox, { init, args: ['-S', session] });
    await next.ready();
    await next.until(`vim.fn.bufnr('gemini-companion') == -1`);
    const shown = (await tabs(next)).flat();
    assert.deepEqual([...new Set(shown)], [file.a]);
    await next.until(`vim.iter(vim.api.nvim_list_wins()):all(function(window)
      local options = vim.wo[window]
      return not options.diff and options.winbar == '' and options.foldmethod == 'manual' and options.wrap
    end)`);
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
