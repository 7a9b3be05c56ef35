// Tests that only the user's own write accepts a proposal in Neovim, and which commands are one.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { accepted, REJECTED, UNCHANGED } from '../lib/decision.mjs';
import { noNeovim as skip, openNeovimWithClient, openProposal } from '../lib/neovim.mjs';

const WRITE = `if vim.bo.modified and vim.bo.modifiable then vim.cmd('silent! write') end`;
const on = (events, code, nested = false) =>
  `vim.api.nvim_create_autocmd(${events}, { nested = ${nested}, callback = function() ${code} end })`;
/** Counts how often the autosave has run. */
const count = (code) => `${code} vim.g.saved = (vim.g.saved or 0) + 1`;

/** Proposes, types the keys in the proposal, and returns the decision about it. */
async function propose({ neovim, client, file }, keys) {
  const { decision } = await client.propose(neovim, file, 'new\nnew2\n');
  neovim.type(keys).catch(() => {});
  return decision;
}

/** Starts a Neovim with a client, and a file for proposals. */
async function start(t, init) {
  const window = await openNeovimWithClient(t, { init });
  await window.neovim.edit(window.sandbox.file('mine.txt', '1\n'));
  return { ...window, file: window.sandbox.file('a.txt', 'old\nold2\n') };
}

describe('a proposal is not accepted by', { skip, concurrency: 2 }, () => {
  const edits = `{ 'InsertLeave', 'TextChanged' }`;
  const savers = {
    'an autosave plugin with a delay': on(edits, `vim.defer_fn(function() ${count(WRITE)} end, 135)`),
    'one with no delay': on(edits, `vim.defer_fn(function() ${count(WRITE)} end, 0)`),
    'one that writes as soon as it may': on(edits, `vim.schedule(function() ${count(WRITE)} end)`),
    'one that writes at once': on(edits, count(WRITE), true),
    'one that writes all files': on(edits, `vim.defer_fn(function() ${count(`vim.cmd('silent! wall')`)} end, 50)`),
    'one that writes when Neovim loses the focus': on(`{ 'FocusLost' }`, count(`vim.cmd('silent! wall')`), true),
  };
  for (const [name, init] of Object.entries(savers)) {
    test(name, async (t) => {
      const map = `vim.keymap.set('n', ' d', function() vim.api.nvim_buf_set_lines(0, 0, 1, true, {}) end)`;
      const scene = await start(t, `${init} ${map}`);
      const { neovim } = scene;
      for (const [keys, content] of [
        ['ggdd', 'new2\n'],
        ['ggccmi<Esc>', 'mi\nnew2\n'],
        [':diffget<CR>', 'old\nold2\n'],
        [' d', 'new2\n'],
      ]) {
        await neovim.lua('vim.g.saved = 0');
        const decision = propose(scene, keys);
        await neovim.until('vim.bo.modified');
        await neovim.command('doautocmd FocusLost');
        await neovim.until('vim.g.saved > 0');
        assert.equal((await neovim.ready()).proposals, 1, keys);
        await neovim.until(`vim.fn.execute('messages'):find('a plugin has saved this proposal')`);
        await neovim.command('messages clear');
        await neovim.type(':w<CR>');
        assert.deepEqual(await decision, accepted(content), keys);
        await neovim.until('#vim.api.nvim_list_tabpages() == 1');
      }
    });
  }
});

describe('a proposal is not accepted by an autosave plugin', { skip, concurrency: 2 }, () => {
  const saves = `vim.cmd('silent! wall') vim.g.saved = true`;
  const waits = `vim.cmd([[function! Wait() abort
    sleep 1
    endfunction
    function! Ask() abort
    let g:got = getchar()
    endfunction
    function! Save(_) abort
    silent! wall
    let g:saved = 1
    endfunction]])`;
  for (const [name, mapped] of Object.entries({
    ':sleep': `vim.cmd('sleep 1')`,
    'vim.cmd.sleep': `vim.cmd.sleep(1)`,
    'a Vim function that sleeps': `vim.fn.Wait()`,
    'a Vim function that reads a key': `vim.fn.Ask()`,
    'a key': `vim.g.got = vim.fn.getcharstr()`,
    'a language server': `vim.wait(9000, function() return vim.g.saved end)`,
    'an answer': `vim.ui.input({}, function() end)`,
    'a program': `vim.fn.system('sleep 1')`,
    'a program of Lua': `vim.system({ 'sleep', '1' }):wait()`,
  })) {
    test(`while a command of the user waits for ${name}`, async (t) => {
      const saver = on(`{ 'InsertLeave' }`, `vim.defer_fn(function() ${saves} end, 600)`);
      const map = `vim.keymap.set('n', ' x', function() ${mapped} vim.g.done = true end)`;
      const { neovim, decision } = await openProposal(t, { init: `${waits} ${saver} ${map}` });
      await neovim.press('ccmine<Esc> x');
      await neovim.until('vim.g.saved');
      await neovim.press('<CR>');
      await neovim.until('vim.g.done');
      assert.equal((await neovim.ready()).proposals, 1);
      await neovim.type(':w<CR>');
      assert.deepEqual(await decision, accepted('mine\nnew2\n'));
    });
  }

  for (const [name, act] of [['Lua', `vim.defer_fn(function() ${saves} end, 600)`], ['Vim script', `vim.fn.timer_start(600, 'Save')`]]) {
    for (const map of [':call Wait()<CR>', '<Cmd>call Ask()<CR>']) {
      test(`of ${name} during ${map}`, async (t) => {
        const init = `${waits} ${on(`{ 'InsertLeave' }`, act)} vim.keymap.set('n', ' x', '${map}')`;
        const { neovim, decision } = await openProposal(t, { init });
        await neovim.press('ccmine<Esc> x');
        await neovim.until('vim.g.saved');
        await neovim.press('<Esc>');
        assert.equal((await neovim.ready()).proposals, 1);
        await neovim.type(':w<CR>');
        assert.deepEqual(await decision, accepted('mine\nnew2\n'));
      });
    }
  }

  test('while Neovim asks the user', async (t) => {
    const saver = on(`{ 'InsertLeave' }`, `vim.defer_fn(function() ${saves} end, 600)`);
    const { neovim, decision } = await openProposal(t, { init: saver });
    await neovim.press('ccmine<Esc>:s/i/i/c<CR>');
    await neovim.until('vim.g.saved');
    assert.equal((await neovim.ready()).proposals, 1);
    await neovim.press('y');
    await neovim.type(':w<CR>');
    assert.deepEqual(await decision, accepted('mine\nnew2\n'));
  });

  for (const [name, event, map, keys] of [
    ['that writes when the user leaves a buffer', 'BufLeave', `'n', ' x', function() vim.cmd.wincmd('p') end`, 'ccmine<Esc> x'],
    ['that writes in Insert mode', 'TextChangedI', `'i', '<Tab>', function() vim.api.nvim_put({ 'mine' }, 'c', false, true) end`, 'cc<Tab>'],
  ]) {
    test(name, async (t) => {
      const saver = on(`'${event}'`, `vim.schedule(function() ${saves} end)`);
      const { neovim, decision } = await openProposal(t, { init: `${saver} vim.keymap.set(${map})` });
      await neovim.type(keys);
      await neovim.until('vim.g.saved');
      assert.equal((await neovim.ready()).proposals, 1);
      await neovim.type('<Esc>:GeminiCompanion accept<CR>');
      assert.deepEqual(await decision, accepted('mine\nnew2\n'));
    });
  }
});

test('a proposal is not accepted by an autosave plugin during :sleep', { skip }, async (t) => {
  const saver = on(`{ 'InsertLeave' }`, `vim.defer_fn(function() vim.cmd('silent! write') vim.g.saved = true end, 100)`);
  const maps = ['<Cmd>sleep 500m<CR>', '<Cmd>echo<CR><Cmd>sleep 500m<CR>'];
  for (const map of [':sleep 500m<CR>', ...maps]) {
    const init = `${saver} vim.keymap.set('n', ' x', '${map}')`;
    const { neovim, decision } = await openProposal(t, { init });
    await neovim.type(`ccmine<Esc>${maps.includes(map) ? ' x' : map}`);
    await neovim.until('vim.g.saved');
    assert.equal((await neovim.ready()).proposals, 1);
    await neovim.type(':w<CR>');
    assert.deepEqual(await decision, accepted('mine\nnew2\n'));
    await neovim.close();
  }
});

describe('the answer to a question of Neovim decides', { skip, concurrency: 2 }, () => {
  for (const [keys, init] of [[':q<CR>', 'vim.o.confirm = true'], [':confirm q<CR>', '']]) {
    for (const [answer, expected] of [['y', 'accepted'], ['n', 'rejected']]) {
      test(`${answer} after ${keys}`, async (t) => {
        const { neovim, decision } = await openProposal(t, { init });
        await neovim.type('ccmine<Esc>');
        await neovim.typeAndAnswer(keys, answer);
        assert.equal((await decision).status, expected);
      });
    }
  }
});

describe('a proposal is accepted by', { skip, concurrency: 2 }, () => {
  const init = `
    local map = vim.keymap.set
    map('n', ' 0', '<Cmd>w<CR><Cmd>sleep 50m<CR>')
    map('n', ' 1', vim.cmd.write)
    map('n', ' 2', function() vim.schedule(vim.cmd.write) end)
    map('n', ' 3', '<Cmd>silent! write<CR>')
    map('n', ' 4', function() vim.api.nvim_feedkeys(vim.keycode(':w<CR>'), 'n', false) end)
    map('n', ' 5', '<Cmd>silent! update! | redraw<CR>')
    map({ 'n', 'i', 'x' }, '<C-s>', '<Cmd>update<CR>')
    map('n', ' 6', ':update<CR>')
    map('n', ' 7', '<Plug>(save)', { remap = true })
    map('n', '<Plug>(save)', '<Cmd>update<CR>')
    map('n', ' 8', 'ZZ')
    map('n', ' 9', '<Cmd>x<CR>')
    map('n', ' s', '<Cmd>lua vim.schedule(vim.cmd.write)<CR>')
    map('n', ' l', '<Cmd>sleep 50m<CR><Plug>(lua)', { remap = true })
    map('n', '<Plug>(lua)', vim.cmd.write)
    map('n', ' m', '<Cmd>sleep 50m<CR><Plug>(L)', { remap = true })
    map('n', '<Plug>(L)', function() vim.cmd('L') end)
    map('n', ' a', function() vim.cmd.sleep('50m') vim.cmd.write() end)
    map('n', ' b', function() vim.system({ 'sleep', '0.05' }):wait() vim.cmd('silent write') end)
    map('n', ' c', function() vim.fn.Slow() end)
    map('n', ' d', '<Cmd>call Slow()<CR>')
    map('n', ' e', function() vim.cmd('L') end)
    map('n', ' f', function() vim.schedule(function() vim.cmd('L') end) end)
    map('n', ' g', function() vim.wait(50) vim.cmd('L') end)
    map('n', ' h', function() vim.cmd('F') end)
    vim.api.nvim_create_user_command('F', function() vim.wait(50) vim.cmd.write() end, {})
    vim.api.nvim_create_user_command('L', function() vim.cmd.write() end, {})
    vim.api.nvim_create_user_command('LL', function() vim.cmd('L') end, {})
    vim.cmd([[function! Slow() abort
      sleep 50m
      write
    endfunction
    function! Lua() abort
      lua vim.cmd.write()
    endfunction]])
    vim.cmd('command! W update')
    vim.cmd('command! -bang Save exe "up<bang>"')
    vim.cmd('cnoreabbrev ww update')
    ${on(`{ 'InsertLeave', 'TextChanged' }`, `vim.defer_fn(function() ${WRITE} end, 135)`)}
  `;
  const lines = [':w', ':update', ':wa', ':up|q', ':tabdo x', ':exe "x"', ':W', ':Save', ':ww', ':sil! up', ':normal! ZZ'];
  const keys = [...'0123456789slmabcdegh'].map((key) => ` ${key}`);
  keys.push(...lines.map((line) => `${line}<CR>`), 'i<C-o>:w<CR>', 'i<C-o>:up<CR>', '<C-s>', 'i<C-s>', 'v<C-s>', 'q:iup<Esc><CR>');
  for (const [edit, expected] of [['', UNCHANGED], ['ccmine<Esc>', accepted('mine\nnew2\n')]]) {
    test(`a command line that calls Lua by another command, at human speed${edit && ', with an edit'}`, async (t) => {
      const scene = await start(t, init);
      for (const one of [':LL', ':call Lua()', ':F', ' f']) {
        const decision = propose(scene, edit);
        await scene.neovim.until(`vim.api.nvim_buf_get_lines(0, 0, 1, true)[1] == '${edit ? 'mine' : 'new'}'`);
        for (const key of [...one, '<CR>']) {
          await scene.neovim.press(key);
          await sleep(20);
        }
        assert.deepEqual(await decision, expected, one);
        await scene.neovim.until('#vim.api.nvim_list_tabpages() == 1');
      }
    });

    test(`the user’s keys and commands${edit && ' with an edit'}`, async (t) => {
      const scene = await start(t, init);
      for (const one of keys) {
        assert.deepEqual(await propose(scene, `${edit}${one}`), expected, one);
        await scene.neovim.type('<Esc>');
        await scene.neovim.until('#vim.api.nvim_list_tabpages() == 1');
        await scene.neovim.edit(`${scene.sandbox.project}/mine.txt`); // `:tabdo x` closes it
      }
    });

    for (const one of [':xa<CR>', ':wqa<CR>', ':wa | qa<CR>', ':w<CR>:qa<CR>', '<C-w>h:wqall<CR>', ' X']) {
      test(`${edit}${one}, and Neovim ends`, async (t) => {
        const scene = await start(t, `vim.keymap.set('n', ' X', '<cmd>xa<cr>')`);
        assert.deepEqual(await propose(scene, `${edit}${one}`), expected);
        assert.equal(await scene.neovim.exited(), 0);
      });
    }
  }
});

describe('a proposal waits after', { skip, concurrency: 2 }, () => {
  for (const [keys, edit] of [
    [':wq copy.txt<CR>', ''],
    [':wq copy.txt<CR>', 'ccnew<Esc>'],
    [':x copy.txt<CR>', ''],
    [':x copy.txt<CR>', 'ccnew<Esc>'],
    [':w copy.txt | q!<CR>', ''],
  ]) {
    test(`${edit}${keys}`, async (t) => {
      const { sandbox, neovim, decision } = await openProposal(t);
      await neovim.type(`${edit}${keys}`);
      assert.equal(fs.readFileSync(`${sandbox.project}/copy.txt`, 'utf8'), 'new\nnew2\n');
      await neovim.until("#vim.fn.win_findbuf(vim.fn.bufnr('gemini-companion://proposal')) > 0");
      assert.equal((await neovim.ready()).proposals, 1);
      assert.match(await neovim.messages(), /saved as copy\.txt; the proposal still waits/);
      await neovim.type(':GeminiCompanion show<CR>:w<CR>');
      assert.deepEqual(await decision, UNCHANGED);
    });
  }

  test(':bufdo wq, which visits only listed buffers', async (t) => {
    const { neovim, decision } = await openProposal(t);
    await neovim.type(':bufdo wq<CR>');
    await neovim.until("vim.fn.execute('messages'):find('a proposal waits')");
    await neovim.type(':GeminiCompanion show<CR>:w<CR>');
    assert.deepEqual(await decision, UNCHANGED);
  });
});

test('a Lua function that only writes modified buffers accepts only a changed proposal, as the help says', { skip }, async (t) => {
  const scene = await start(t, `vim.keymap.set('n', ' u', function() vim.cmd.update() end)
    vim.keymap.set('n', ' x', function() vim.cmd.x() end)`);
  const { neovim } = scene;
  for (const [keys, decision] of [
    ['ccmine<Esc> u', accepted('mine\nnew2\n')],
    ['ccmine<Esc> x', accepted('mine\nnew2\n')],
    [' u:q<CR>', REJECTED],
    [' u:w<CR>', UNCHANGED],
    [' x', REJECTED],
  ]) {
    assert.deepEqual(await propose(scene, keys), decision, keys);
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
  }
});

test('`:x` on another file decides nothing, and `:q` then rejects an unchanged proposal', { skip }, async (t) => {
  const { neovim, decision } = await openProposal(t);
  await neovim.type(':split mine.txt<CR>:update<CR>:x<CR>');
  assert.equal((await neovim.ready()).proposals, 1);
  await neovim.until("vim.api.nvim_buf_get_name(0):find('^gemini') and not vim.bo.modified");
  await neovim.type(':q<CR>');
  assert.equal((await decision).status, 'rejected');
});

test('a mapping with `:silent!` on a proposal of a changed file says why nothing happens', { skip }, async (t) => {
  const { neovim, file } = await openProposal(t, {
    init: `vim.keymap.set('n', ' w', '<Cmd>silent! write<CR>')`,
  });
  fs.writeFileSync(file, 'by hand\n');
  await neovim.type(' w');
  await neovim.until(`vim.fn.execute('messages'):find('the file changed after the proposal, :w! accepts it')`);
});

test('a proposal is not modified by a Lua command whose description begins like one that accepts', { skip }, async (t) => {
  const init = `vim.api.nvim_create_user_command('Leave', function()
    vim.g.was_modified = vim.bo.modified
    vim.api.nvim_win_close(0, false)
  end, { desc = 'exit this window' })`;
  const { neovim, decision } = await openProposal(t, { init });
  await neovim.press(':Leave<CR>');
  assert.deepEqual(await decision, REJECTED);
  assert.equal(await neovim.lua('return vim.g.was_modified'), false);
});

test('an emptied proposal is an empty text', { skip }, async (t) => {
  const { sandbox, neovim } = await openProposal(t);
  await neovim.type(`:%d<CR>:w ${sandbox.project}/copy.txt<CR>`);
  assert.equal(fs.readFileSync(`${sandbox.project}/copy.txt`, 'utf8'), '');
  await neovim.lua(`require('gemini_companion.server').request = function(_, params)
    vim.g.sent = params.content
    return true
  end`);
  await neovim.type(':w<CR>');
  assert.equal(await neovim.lua('return vim.g.sent'), '', 'the companion adapts it to its client');
});

test('a newer proposal for a file leaves undo alone', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovimWithClient(t, {
    init: `vim.cmd('autocmd FileType text setlocal undolevels=-1')`,
  });
  const session = await neovim.session(sandbox);
  const filePath = sandbox.file('a.txt', 'old\n');
  for (const newContent of ['first\n', 'second\n']) {
    await session.callTool('openDiff', { filePath, newContent });
  }
  assert.equal(await neovim.lua('return vim.go.undolevels'), 1000);
});

/** The leaders of a widespread configuration, and mappings that begin like the keys in a proposal. */
const init = `
  vim.g.mapleader, vim.g.maplocalleader = ' ', ' '
  vim.o.timeoutlen = 20000
  vim.keymap.set('n', '<Space>', '<Nop>')
  for _, keys in ipairs({ 'rn', 'ab', 'ca', 'mm' }) do
    vim.keymap.set({ 'n', 'x' }, '<leader>' .. keys, function() vim.g.ran = keys end)
  end`;

test('a mapping of the user with the same beginning wins, at any speed', { skip }, async (t) => {
  const { neovim, decision } = await openProposal(t, { init });
  for (const keys of ['rn', 'ab', 'ca', 'mm']) {
    for (const pause of [0, 120]) {
      await neovim.lua(`vim.g.ran = ''`);
      for (const key of [' ', ...keys]) {
        await neovim.press(key);
        await sleep(pause);
      }
      await neovim.until(`vim.g.ran == ...`, keys);
    }
    // Slower than 'timeoutlen': the beginning alone does nothing, and says so.
    await neovim.command('set timeoutlen=50');
    await neovim.type(` ${keys[0]}`);
    await neovim.until(`vim.fn.execute('messages'):find('does nothing: it begins your mapping <Space>${keys}')`);
    await neovim.command('set timeoutlen=20000');
  }
  assert.equal((await neovim.ready()).proposals, 1);
  assert.ok(!(await neovim.bars())[1].includes('says why'));
  await neovim.type(':GeminiCompanion accept<CR>');
  assert.deepEqual(await decision, UNCHANGED);
});

test('a mapping that comes later wins, and so does the user’s own mapping of the same keys', { skip }, async (t) => {
  const { neovim, decision } = await openProposal(t, {
    init: `vim.o.timeoutlen = 20000 vim.keymap.set('n', '\\\\a', function() vim.g.ran = 'a' end)`,
  });
  await neovim.lua(`vim.keymap.set('n', '\\\\rn', function() vim.g.ran = 'rn' end, { buffer = 0 })`);
  await neovim.press('\\r');
  await sleep(120);
  await neovim.press('n');
  await neovim.until(`vim.g.ran == 'rn'`);
  await neovim.type('\\a');
  await neovim.until(`vim.g.ran == 'a'`);
  assert.equal((await neovim.ready()).proposals, 1);
  await neovim.type(':w<CR>');
  assert.deepEqual(await decision, UNCHANGED);
});

test('keys that the user has chosen hide a mapping of the same keys', { skip }, async (t) => {
  const { neovim, decision } = await openProposal(t, {
    options: `mappings = { accept = '<CR>' }`,
    init: `vim.keymap.set('n', '<CR>', function() vim.g.ran = true end)`,
  });
  await neovim.type('<CR>');
  assert.deepEqual(await decision, UNCHANGED);
});
