// Tests in Neovim that a revert of many or unusual files loses nothing, and that its undo is noticed.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { answerAll, changed, open, read, run, untilFile } from '../lib/neovim-changes.mjs';
import { noNeovim as skip } from '../lib/neovim.mjs';

const NUL = 'one\0\ntwo\n';

const BUFFERS = `#vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs())`;

describe('a revert', { skip, concurrency: 2 }, () => {
  test('of 100 files loads none of them, and undo works in each that the user opens', async (t) => {
    const window = await open(t, { open: 'before\n' }, { init: `vim.o.directory = vim.env.HOME` });
    const { neovim, cli, file, sandbox } = window;
    const files = Array.from({ length: 100 }, (_, index) => sandbox.file(`many/${index}`, `before ${index}\n`));
    const gone = `${sandbox.project}/many/new`;
    await cli.prompt('go');
    const after = (index) => `after ${index}${index % 2 ? '\r\n' : '\n'}`;
    for (const [index, path] of files.entries()) await cli.write(path, after(index));
    await cli.write(file.open, 'after\n');
    await cli.write(gone, 'new\n');
    await changed(neovim, 102);
    const before = await neovim.lua(`return ${BUFFERS}`);
    await answerAll(neovim, 1);
    await run(neovim, 'revert prompt');
    await changed(neovim, 0);
    for (const [index, path] of files.entries()) assert.equal(read(path), `before ${index}\n`);
    assert.deepEqual([file.open, gone].map(read), ['before\n', null]);
    assert.equal(await neovim.lua(`return ${BUFFERS}`), before);
    assert.equal(await neovim.lua(`return #vim.fn.getbufinfo()`), before);

    for (const index of [6, 7]) {
      await neovim.edit(files[index]);
      assert.equal(await neovim.lua('return vim.bo.modified'), false);
      await neovim.type('u:update<CR>');
      assert.equal(read(files[index]), after(index));
      await changed(neovim, 1);
      await neovim.type('<C-r>:update<CR>');
      assert.equal(read(files[index]), `before ${index}\n`);
      await changed(neovim, 0);
    }
    await neovim.edit(gone);
    await neovim.type('u:write<CR>');
    assert.equal(read(gone), 'new\n');
    await changed(neovim, 1);
    // A file that has changed since has only its own undo.
    fs.writeFileSync(files[8], 'later\n');
    await neovim.edit(files[8]);
    await neovim.type('u');
    assert.equal(await neovim.lua('return vim.fn.getline(1)'), 'later');
  });

  test('of a file that is not open keeps the user’s persistent undo', async (t) => {
    const init = `vim.o.undofile, vim.o.undodir = true, vim.env.HOME`;
    const { neovim, cli, file } = await open(t, { a: 'first\n', b: 'b\n' }, { init });
    await neovim.edit(file.a);
    await neovim.type('cwsecond<Esc>:write<CR>:edit b<CR>:bwipeout a<CR>');
    await untilFile(file.a, 'second\n');
    await cli.prompt('go');
    await cli.write(file.a, 'by the CLI\n');
    await changed(neovim, 1);
    await run(neovim, 'revert prompt');
    await changed(neovim, 0);
    await untilFile(file.a, 'second\n');
    await neovim.edit(file.a);
    for (const [line, count] of Object.entries({ 'by the CLI': 1, second: 0, first: 0 })) {
      await neovim.type('u:write<CR>');
      assert.equal(read(file.a), `${line}\n`);
      await changed(neovim, count);
    }
  });

  for (const [name, before] of [['is empty', ''], ['does not exist', null]]) {
    test(`of a file that is not open and ${name} again leaves no line ending there after a redo`, async (t) => {
      const { neovim, cli, sandbox } = await open(t, {});
      const file = `${sandbox.project}/a`;
      if (before !== null) fs.writeFileSync(file, before);
      await cli.prompt('go');
      await cli.write(file, 'x\n');
      await changed(neovim, 1);
      await answerAll(neovim, 1);
      await run(neovim, 'revert prompt');
      await changed(neovim, 0);
      await neovim.edit(file);
      await neovim.type('u:write<CR>');
      assert.equal(read(file), 'x\n');
      await neovim.type('<C-r>:write<CR>');
      assert.equal(read(file), '');
    });
  }

  test('leaves no step in the history of a file that had another text when the user opened it', async (t) => {
    const { neovim, cli, file } = await open(t, { b: 'b\n', a: 'before\n' });
    await neovim.command('edit b | bwipeout a');
    await cli.prompt('go');
    await cli.write(file.a, 'by the CLI\n');
    await changed(neovim, 1);
    await run(neovim, 'revert prompt');
    await changed(neovim, 0);
    fs.writeFileSync(file.a, 'later\n');
    await neovim.edit(file.a);
    await neovim.type('cwmine<Esc>:write<CR>');
    await untilFile(file.a, 'mine\n');
    fs.writeFileSync(file.a, 'before\n');
    await neovim.command('edit!');
    await neovim.type('u');
    assert.equal(await neovim.lua('return vim.fn.getline(1)'), 'mine');
    await changed(neovim, 0);
  });

  test('can be undone in a file that is opened after the next prompt', async (t) => {
    const { neovim, cli, sandbox } = await open(t, {});
    const file = sandbox.file('a', 'before\n');
    await cli.prompt('go');
    await cli.write(file, 'by the CLI\n');
    await changed(neovim, 1);
    await run(neovim, 'revert prompt');
    await changed(neovim, 0);
    await cli.prompt('go on');
    await neovim.until(`#require('gemini_companion').changes() == 0`);
    await neovim.edit(file);
    await neovim.type('u:write<CR>');
    assert.equal(read(file), 'by the CLI\n');
  });

  for (const isOpen of [true, false]) {
    test(`reverts a text with NUL in a file that is ${isOpen ? '' : 'not '}open`, async (t) => {
      const { neovim, cli, file } = await open(t, { a: 'a\n', n: NUL, z: 'z\n' });
      await cli.prompt('go');
      for (const path of Object.values(file)) await cli.write(path, 'after\0\n');
      await changed(neovim, 3);
      if (!isOpen) await neovim.command('bwipeout n');
      await run(neovim, 'revert prompt');
      await changed(neovim, 0);
      assert.deepEqual([file.a, file.n, file.z].map(read), ['a\n', NUL, 'z\n']);
      await neovim.edit(file.n);
      await neovim.type('u:write<CR>');
      assert.equal(read(file.n), 'after\0\n');
      await changed(neovim, 1);
      assert.doesNotMatch(await neovim.messages(), /E976|traceback/);
    });
  }

  for (const [name, init] of Object.entries({
    OptionSet: `vim.api.nvim_create_autocmd('OptionSet', { callback = function() error('mine') end })`,
    BufWritePost: `vim.api.nvim_create_autocmd('BufWritePost', { callback = function() error('mine') end })`,
    BufWriteCmd: `vim.api.nvim_create_autocmd('BufWriteCmd', { pattern = '*/b', callback = function() error('mine') end })`,
  })) {
    test(`reports the files that it has reverted if the user’s ${name} fails`, async (t) => {
      const { neovim, cli, file } = await open(t, { a: 'a\n', b: 'b\n', c: 'c\n' });
      await cli.prompt('go');
      for (const path of Object.values(file)) await cli.write(path, 'after\n');
      await changed(neovim, 3);
      await neovim.until(`vim.fn.getline(1) == 'after'`);
      await neovim.lua(init);
      await run(neovim, 'revert prompt');
      await untilFile(file.a, 'a\n');
      await untilFile(file.c, 'c\n');
      await changed(neovim, name === 'BufWriteCmd' ? 1 : 0);
      assert.doesNotMatch(await neovim.messages(), /traceback/);
      assert.equal(await neovim.lua('return vim.o.eventignore'), '');
      const reverted = (await cli.prompt('next')).match(/^.*reverted your changes to.*$/m)[0];
      assert.match(reverted, /\ba\b/);
      assert.match(reverted, /\bc\b/);
    });
  }

  test('with a question that the user interrupts reverts nothing', async (t) => {
    const { neovim, cli, file } = await open(t, { a: 'a\n' });
    await cli.prompt('go');
    await cli.write(file.a, 'after\n');
    await changed(neovim, 1);
    fs.writeFileSync(file.a, 'later\n');
    await neovim.typeAndAnswer(':GeminiCompanion revert a<CR>', '<C-c>');
    assert.equal(read(file.a), 'later\n');
    assert.doesNotMatch(await neovim.messages(), /traceback/);
  });
});
