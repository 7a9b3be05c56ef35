// Tests that Neovim shows what a CLI has written, without a change under the user's hands or a lost warning.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { IdeClient } from '../lib/ide-client.mjs';
import { open } from '../lib/neovim-changes.mjs';
import { noNeovim as skip, openNeovim, openNeovimWithClient, openProposal } from '../lib/neovim.mjs';

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
const TEXT = `${LINES.join('\n')}\n`;
const WRITTEN = `new 1\nnew 2\nnew 3\n${TEXT}`;

const FIRST = 'vim.fn.getline(1)';
const RELOADED = `${FIRST} == 'new 1'`;

/** Waits until the plugin has looked at all files once more; a file that is not in use shows it. */
async function untilLooked(window) {
  const { neovim, file } = window;
  window.round = (window.round ?? 0) + 1;
  fs.writeFileSync(file.other, `round ${window.round}\n`);
  await neovim.until(`vim.fn.getbufline(vim.fn.bufnr('other'), 1)[1] == 'round ' .. ...`, window.round);
}

describe('a file that a CLI writes is reloaded, but not under the user’s hands', { skip, concurrency: 2 }, () => {
  const situations = {
    'a selection': ['10GVjj', 'd', 'line 10 line 11 line 12'],
    'a selection that ends': ['10GVjj', '<Esc>', null],
    'a block': ['10G<C-v>j', 'd', null],
    'Select mode': ['10Ggh', '<C-c>', null],
    'an operator': ['10Gd', 'd', 'line 10'],
    'an insertion': ['10GA', ' // mine<Esc>', null],
    'one command of an insertion': ['10Gi<C-o>', 'dd', 'line 10'],
    'a replacement': ['10GR', 'mine<Esc>', null],
    'a macro': ['10Gqa', 'ddq', 'line 10'],
    'a command line': ['10G:d', '<CR>', 'line 10'],
  };
  for (const [name, [before, after, deleted]] of Object.entries(situations)) {
    test(`in ${name}`, async (t) => {
      const window = await open(t, { other: 'other\n', a: TEXT });
      const { neovim, file, cli } = window;
      await neovim.lua(
        `local reload = require('gemini_companion.reload')
         local refresh = reload.refresh_soon
         reload.refresh_soon = function()
           _G.has_come = true
           refresh()
         end`,
      );
      await neovim.type(before);
      await cli.prompt('go');
      await cli.write(file.a, WRITTEN);
      await neovim.until('_G.has_come'); // the list of changes may wait for the user
      await cli.write(file.other, 'next\n');
      if (name !== 'a command line') await neovim.until(`vim.fn.getbufline(vim.fn.bufnr('other'), 1)[1] == 'next'`);
      assert.equal(await neovim.lua(`return ${FIRST}`), 'line 1');
      await neovim.type(after);
      if (deleted) {
        const register = await neovim.lua(`return vim.fn.getreg('"'):gsub('\\n', ' ')`);
        assert.equal(register.trim(), deleted);
      }
      if (name === 'a selection that ends') await neovim.until(RELOADED);
      if (name === 'an insertion') assert.equal(await neovim.lua('return vim.fn.getline(10)'), 'line 10 // mine');
    });
  }

  test('also after an acceptance', async (t) => {
    const { neovim, file, decision } = await openProposal(t, { init: 'vim.o.autoread = false' });
    await neovim.type(':w<CR>');
    await decision;
    await neovim.edit(file);
    await neovim.type('Vj');
    fs.writeFileSync(file, 'new\nnew2\n');
    await neovim.lua(
      `local module = require('gemini_companion.file')
       local state = module.state
       _G.looks = 0
       module.state = function(...)
         _G.looks = _G.looks + 1
         return state(...)
       end`,
    );
    await neovim.until('_G.looks > 3');
    assert.equal(await neovim.lua(`return ${FIRST}`), 'old');
    await neovim.type('<Esc>');
    await neovim.until(`${FIRST} == 'new'`);
  });
});

describe('a file in use', { skip, concurrency: 2 }, () => {
  /** Opens a file and a session with plain requests. */
  const start = async (t) => {
    const window = await openNeovim(t);
    const session = await window.neovim.session(window.sandbox);
    const file = window.sandbox.file('a.txt', TEXT);
    await window.neovim.edit(file);
    return { ...window, session, file };
  };

  for (const [before, after, there] of [
    ['10GA', ' // mine<Esc>', 'line 10 // mine'],
    ['10GVjj', 'd', 'line 13'],
    ['10G:d', '<CR>', 'line 11'],
    ['10G', 'dd', 'line 11'],
  ]) {
    test(`is not reloaded after ${before} because a program accepts an edit`, async (t) => {
      const { neovim, session, file } = await start(t);
      await session.callTool('openDiff', { filePath: file, newContent: WRITTEN });
      await neovim.proposalBehind(file);
      await neovim.type(`:tabfirst<CR>${before}`);
      await session.callTool('acceptDiff', { filePath: file });
      await neovim.type(`${after}<Esc>`);
      assert.equal(await neovim.lua(`return vim.fn.getline(10)`), there);
      assert.equal(fs.readFileSync(file, 'utf8'), WRITTEN);
    });
  }

  test('is not reloaded between two keys because a model asks for its problems', async (t) => {
    const { neovim, session, file } = await start(t);
    await neovim.type('10G');
    fs.writeFileSync(file, WRITTEN);
    const problems = session.callTool('getDiagnostics', { filePath: file });
    await neovim.lua(`vim.defer_fn(function() vim.g.later = true end, 200)`);
    await neovim.until('vim.g.later');
    await neovim.type('dd');
    assert.equal(await neovim.lua(`return vim.fn.getline(10)`), 'line 11');
    assert.match((await problems).content[0].text, /its buffer has unsaved changes/);
  });

  test('is reloaded once the user has left the command-line window', async (t) => {
    const { sandbox, neovim, session, file } = await start(t);
    await IdeClient.connect(sandbox);
    await neovim.type('q:');
    fs.writeFileSync(file, WRITTEN);
    const problems = await session.callTool('getDiagnostics', { filePath: file });
    assert.match(problems.content[0].text, /the user is working in its buffer/);
    await neovim.type(':q<CR>');
    await neovim.until(RELOADED);
    assert.doesNotMatch(await neovim.messages(), /E11/);
  });
});

describe('while a CLI is connected', { skip, concurrency: 2 }, () => {
  const start = async (t, files, options) => {
    const window = await openNeovimWithClient(t, options);
    const file = {};
    for (const [name, text] of Object.entries({ other: 'other\n', ...files })) {
      file[name] = window.sandbox.file(name, text);
      await window.neovim.edit(file[name]);
    }
    await window.neovim.until(`require('gemini_companion').status().clients == 1`);
    return { ...window, file };
  };

  test('Neovim says that an open file was deleted', async (t) => {
    const window = await start(t, { gone: 'text\n' });
    const { neovim, file } = window;
    await untilLooked(window);
    fs.rmSync(file.gone);
    await untilLooked(window);
    await untilLooked(window);
    await neovim.type(':checktime<CR>');
    assert.match(await neovim.messages(), /E211: File "?.*gone"? no longer available/);
    fs.writeFileSync(file.gone, 'back\n');
    await neovim.until(`${FIRST} == 'back'`);
  });

  for (const [warning, name, keys, change] of [
    ['W11', 'the text of an open file', ':setlocal noautoread<CR>', (file) => fs.writeFileSync(file, 'new\n')],
    ['W12', 'the text of a file with unsaved changes', 'ix<Esc>', (file) => fs.writeFileSync(file, 'new\n')],
    ['W16', 'the mode of an open file', ':setlocal noautoread<CR>', (file) => fs.chmodSync(file, 0o755)],
  ]) {
    test(`Neovim warns with ${warning} that ${name} has changed`, async (t) => {
      const window = await start(t, { a: 'text\n' });
      const { neovim, file } = window;
      await neovim.type(keys);
      await untilLooked(window);
      change(file.a);
      await untilLooked(window);
      await untilLooked(window);
      await neovim.typeAndAnswer(':checktime<CR>', 'O');
      assert.ok((await neovim.lua('return vim.v.warningmsg')).startsWith(`${warning}: `));
    });
  }

  for (const [name, before, after, lines, form] of [
    ['an empty line gets a text', '\n', 'x\n', ['x'], 'unix'],
    ['CRLF becomes LF', 'a\r\nb\r\n', 'a\nb\nc\n', ['a', 'b', 'c'], 'unix'],
    ['LF becomes CRLF', 'a\nb\n', 'a\r\nb\r\n', ['a', 'b'], 'dos'],
    ['the last line ending goes', 'a\n', 'a', ['a'], 'unix'],
  ]) {
    test(`a buffer has the file’s text and form when ${name}`, async (t) => {
      const window = await start(t, { a: before }, { init: 'vim.o.fixendofline = false' });
      const { neovim, file } = window;
      await untilLooked(window);
      fs.writeFileSync(file.a, after);
      await neovim.until(
        `vim.deep_equal({ vim.fn.getline(1, '$'), vim.bo.fileformat, vim.bo.endofline }, ...)`,
        [lines, form, after.endsWith('\n')],
      );
      assert.equal(await neovim.lua('return vim.o.autoread and vim.bo.autoread == nil'), true);
      await neovim.until('not vim.bo.modified');
      await neovim.type(':write!<CR>');
      assert.equal(fs.readFileSync(file.a, 'utf8'), after);
    });
  }

  test('a file is reloaded that changes exactly a second later', async (t) => {
    const window = await start(t, { a: 'text\n' });
    const { neovim, file } = window;
    for (const [second, text] of ['one', 'two'].entries()) {
      const next = window.sandbox.file('next', `${text}\n`);
      execFileSync('touch', ['-d', `@${1_700_000_000 + second}.123456789`, next]);
      fs.renameSync(next, file.a);
      await neovim.until(`${FIRST} == ...`, text);
      await untilLooked(window);
    }
    await neovim.type(':write<CR>');
    await neovim.lua(`vim.b.is_mine = true; vim.api.nvim_create_autocmd('BufReadPost', { callback = function() vim.b.is_mine = nil end })`);
    await untilLooked(window);
    await untilLooked(window);
    assert.equal(await neovim.lua('return vim.b.is_mine'), true, 'what the user writes is not reloaded');
  });

  test('a file is reloaded without a word about errors that a plugin suppresses', async (t) => {
    const window = await start(t, { 'a.md': 'text\n' });
    const { neovim, file } = window;
    for (const line of ['one', 'two']) {
      fs.writeFileSync(file['a.md'], `${line}\n`);
      await neovim.until(`${FIRST} == ...`, line);
      await untilLooked(window);
    }
    assert.doesNotMatch(await neovim.messages(), /reloading|E\d+:/);
  });

  test('a file that takes long to read is not read all the time while a program writes it', async (t) => {
    const window = await start(t, { slow: 'text\n' });
    const { neovim, file } = window;
    await untilLooked(window);
    await neovim.lua(`_G.reads = 0
      vim.api.nvim_create_autocmd('BufReadPost', { pattern = '*/slow', callback = function()
        _G.reads = _G.reads + 1
        vim.uv.sleep(400)
      end })`);
    fs.writeFileSync(file.slow, 'first\n');
    await neovim.until(`${FIRST} == 'first'`);
    for (const line of ['second', 'third', 'last']) {
      fs.writeFileSync(file.slow, `${line}\n`);
      await untilLooked(window);
    }
    assert.equal(await neovim.lua('return _G.reads'), 1);
    await neovim.until(`${FIRST} == 'last'`);
    assert.equal(await neovim.lua('return _G.reads'), 2);
  });

  for (const [when, init, keys] of [['when a CLI connects', '', ''], ['when its user writes it', '', ':write<CR>']]) {
    test(`a buffer with another text than its file is not read again ${when}`, async (t) => {
      const decode = `for name, command in pairs({ BufReadPost = '%s/^/> /', BufWritePre = '%s/^> //', BufWritePost = '%s/^/> /' }) do
        vim.api.nvim_create_autocmd(name, { pattern = '*/a', callback = function()
          vim.cmd('silent ' .. command)
          vim.bo.modified = false
        end })
      end
      vim.api.nvim_create_autocmd('BufReadPost', { callback = function() vim.b.is_mine = nil end })${init}`;
      const window = await start(t, { a: '1\n2\n3\n4\n' }, { init: decode });
      const { neovim } = window;
      if (keys) await untilLooked(window);
      await neovim.type(`:setlocal foldmethod=manual<CR>:2,3fold<CR>${keys}`);
      await neovim.lua('vim.b.is_mine = true');
      await untilLooked(window);
      await untilLooked(window);
      assert.deepEqual(await neovim.lua('return { vim.b.is_mine, vim.fn.foldclosed(3) }'), [true, 2]);
    });
  }

  test('a buffer gets the text that its user’s formatter has written', async (t) => {
    const init = `vim.api.nvim_create_autocmd('BufWritePost', { pattern = '*/a', callback = function(event)
      vim.fn.writefile({ 'formatted' }, event.match)
    end })`;
    const window = await start(t, { a: 'text\n' }, { init });
    await untilLooked(window);
    await window.neovim.type('omore<Esc>:write<CR>');
    await window.neovim.until(`${FIRST} == 'formatted'`);
  });

  test('a buffer that an autocommand deletes during a reload causes no message', async (t) => {
    const window = await start(t, { a: 'text\n' });
    const { neovim, file } = window;
    await untilLooked(window);
    await neovim.lua(`vim.api.nvim_create_autocmd('BufReadPost', { pattern = '*/a', callback = function(event)
      vim.api.nvim_buf_delete(event.buf, { force = true })
    end })`);
    await neovim.edit(file.other);
    fs.writeFileSync(file.a, 'next\n');
    await neovim.until(`vim.fn.bufloaded(...) == 0`, file.a);
    await untilLooked(window);
    assert.doesNotMatch(await neovim.messages(), /reloading|Invalid|traceback/);
  });

  test('an error in the user’s autocommand does not stop a reload', async (t) => {
    const window = await start(t, { a: 'text\n' });
    const { neovim, file } = window;
    await neovim.lua(`vim.api.nvim_create_autocmd('BufReadPost', { pattern = '*/a', callback = function() error('mine') end })`);
    fs.writeFileSync(file.a, 'next\n');
    await neovim.until(`${FIRST} == 'next'`);
    await untilLooked(window);
    assert.doesNotMatch(await neovim.messages(), /traceback/);
  });
});
