// Tests in Neovim that a file goes back to its text from before a prompt, and that the user loses nothing.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { until } from '../lib/inbox.mjs';
import {
  answerAll,
  changed,
  compared,
  EDITED,
  open,
  openEdited,
  questions,
  read,
  run,
  TEXT,
  untilFile,
} from '../lib/neovim-changes.mjs';
import { noNeovim as skip } from '../lib/neovim.mjs';

describe('a file that a CLI has changed', { skip, concurrency: 2 }, () => {
  test('is reverted; undo works there', async (t) => {
    // A formatter must not change the text.
    const init = `vim.cmd([[autocmd BufWritePre * call append('$', 'formatted')]])`;
    const before = {
      lf: 'one\ntwo\n',
      crlf: 'one\r\ntwo\r\n',
      bom: '\uFEFFone\ntwo\n',
      end: 'one\ntwo',
      empty: '',
      mixed: 'one\r\ntwo\n',
    };
    const after = 'one\ntwo\nthree\n';
    const { neovim, cli, file } = await open(t, before, { init });
    await cli.prompt('go');
    for (const path of Object.values(file)) await cli.write(path, after);
    await changed(neovim, 6);
    await neovim.command('bdelete crlf', 'set noautoread');
    await run(neovim, 'revert prompt');
    for (const [name, path] of Object.entries(file)) await untilFile(path, before[name]);
    await changed(neovim, 0);
    await neovim.command('autocmd! BufWritePre *');
    for (const [name, path] of Object.entries(file)) {
      await neovim.edit(path);
      await neovim.type('u:write<CR>');
      assert.equal(read(path), after, name);
      await changed(neovim, 1);
      await neovim.type('<C-r>:write<CR>');
      assert.equal(read(path), before[name], name);
      await changed(neovim, 0);
    }
    // Later edits are not taken for the revert or its undo. An undo that is not saved is none.
    await neovim.edit(file.lf);
    await neovim.type('u:write<CR>');
    await changed(neovim, 1);
    await neovim.type('Gomine<Esc>:write<CR>');
    await neovim.edit(file.bom);
    await neovim.type('Gomine<Esc>:write<CR>uu');
    await changed(neovim, 1);
    const [reverted] = (await cli.prompt('next')).match(/^.*reverted your changes to.*$/m);
    assert.match(reverted, /\bcrlf\b/);
    assert.match(reverted, /\bbom\b/);
    assert.doesNotMatch(reverted, /\blf\b/);
  });

  test('keeps its CTRL-Z at the end in a revert, its undo and redo', async (t) => {
    const before = 'one\r\ntwo\r\n\x1a';
    const after = 'one\r\nTWO\r\n\x1a';
    const { neovim, cli, file } = await open(t, { a: before });
    await cli.prompt('go');
    await cli.write(file.a, after);
    await neovim.until(`vim.fn.getline(2) == 'TWO'`);
    await changed(neovim, 1);
    await run(neovim, 'revert');
    await changed(neovim, 0);
    assert.equal(read(file.a), before);
    await neovim.type('u:write<CR>');
    assert.equal(read(file.a), after);
    await neovim.type('<C-r>:write<CR>');
    assert.equal(read(file.a), before);
  });

  test('is reverted by the name of a symbolic link; undo works there as well', async (t) => {
    const { sandbox, neovim, cli } = await open(t, { other: 'other\n' });
    const file = sandbox.file('real', 'one\n');
    const link = `${sandbox.project}/link`;
    fs.symlinkSync('real', link);
    await cli.prompt('go');
    await cli.write(file, 'two\n');
    await changed(neovim, 1);
    await run(neovim, 'revert real');
    await untilFile(file, 'one\n');
    await changed(neovim, 0);
    await neovim.edit(link);
    await neovim.type('u:write<CR>');
    await untilFile(file, 'two\n');
    await changed(neovim, 1);
  });

  test('keeps its line endings after an undo, whatever comes next', async (t) => {
    const before = { crlf: 'one\r\ntwo\r\n', end: 'one\ntwo', ends: 'one\r\ntwo\r\n' };
    const { neovim, cli, file } = await open(t, before);
    await cli.prompt('go');
    for (const path of Object.values(file)) await cli.write(path, 'one\nTWO\n');
    await changed(neovim, 3);
    for (const path of Object.values(file)) {
      await neovim.edit(path);
      await neovim.until(`vim.fn.getline(2) == 'TWO'`);
      await run(neovim, 'revert');
      await neovim.until(`vim.fn.getline(2) == 'two'`);
      await neovim.type('u:w<CR>');
      assert.equal(read(path), 'one\nTWO\n');
    }
    for (const name of ['crlf', 'end']) {
      await neovim.edit(file[name]);
      await neovim.type('Goextra<Esc>:w<CR>');
      assert.equal(read(file[name]), 'one\nTWO\nextra\n');
      await neovim.type('u:w<CR>');
      assert.equal(read(file[name]), 'one\nTWO\n');
      // The text of the revert, in its branch of the undo tree.
      await neovim.type('<C-r>g-:w<CR>');
      assert.equal(read(file[name]), before[name]);
    }
    await cli.write(file.ends, 'one\nTWO\nthree\n');
    await neovim.edit(file.ends);
    await neovim.until(`vim.fn.line('$') == 3`);
    await neovim.type('Gofour<Esc>:w<CR>');
    assert.equal(read(file.ends), 'one\nTWO\nthree\nfour\n');
  });

  test('keeps its line endings if one command undoes or redoes several changes', async (t) => {
    const { neovim, cli, file } = await open(t, { a: 'one\r\ntwo\r\n' });
    await cli.prompt('go');
    await cli.write(file.a, 'one\nTWO\n');
    await changed(neovim, 1);
    await neovim.until(`vim.fn.getline(2) == 'TWO'`);
    await run(neovim, 'revert');
    await untilFile(file.a, 'one\r\ntwo\r\n');
    await neovim.type('Gothree<Esc>');
    await neovim.type('Gofour<Esc>');
    for (const [back, forth] of [['3u', '3<C-r>'], [':earlier 3<CR>', ':later 3<CR>']]) {
      await neovim.type(back);
      assert.equal(await neovim.lua('return vim.bo.fileformat'), 'unix');
      await neovim.type(`${forth}:w<CR>`);
      assert.equal(read(file.a), 'one\r\ntwo\r\nthree\r\nfour\r\n');
    }
    // Another branch of the undo tree, whose changes have greater numbers.
    await neovim.type('3u');
    await neovim.type('Gomine<Esc>');
    await neovim.type(':earlier 3<CR>');
    await neovim.type(':later 3<CR>:w<CR>');
    assert.equal(read(file.a), 'one\nTWO\nmine\n');
  });

  for (const [name, keys, more] of [
    ['a formatter', 'u', 'formatted'],
    ['a formatter, after a copy,', 'u:write copy<CR>', 'formatted'],
    ['a formatter, after a plugin that repeats BufReadPost,', ':doautocmd BufReadPost<CR>u', 'formatted'],
    ['another edit', 'uGomine<Esc>', 'mine'],
  ]) {
    test(`is listed again if ${name} changes it before the write of the undo`, async (t) => {
      const { neovim, cli, file } = await openEdited(t);
      await run(neovim, 'revert');
      await untilFile(file.a, TEXT);
      await changed(neovim, 0);
      if (more === 'formatted') await neovim.command(`autocmd BufWritePre */a call append('$', 'formatted')`);
      await neovim.type(`${keys}:w<CR>`);
      await untilFile(file.a, `${EDITED}${more}\n`);
      await changed(neovim, 1);
      assert.doesNotMatch(await cli.prompt('next'), /reverted/);
    });
  }

  test('is reverted in a comparison also if the CLI has edited it again after a first revert', async (t) => {
    const { neovim, cli, file } = await openEdited(t);
    await run(neovim, 'revert');
    await untilFile(file.a, TEXT);
    await changed(neovim, 0);
    await cli.write(file.a, EDITED);
    await changed(neovim, 1);
    await neovim.until(`vim.fn.getline(2) == 'TWO'`);
    await run(neovim, 'diff');
    await compared(neovim);
    await neovim.type(':%diffget<CR>:w<CR>');
    await untilFile(file.a, TEXT);
    await changed(neovim, 0);
    assert.match(await cli.prompt('next'), /The user reverted your changes to a\./);
  });

  test('is reverted also if the text in question is saved meanwhile', async (t) => {
    const { neovim, cli, file } = await open(t, { a: TEXT });
    await cli.prompt('go');
    await cli.write(file.a, EDITED);
    await changed(neovim, 1);
    await neovim.until(`vim.fn.getline(2) == 'TWO'`);
    await neovim.type('Gomine<Esc>');
    await answerAll(neovim, 1);
    await neovim.lua(
      `local confirm = vim.fn.confirm
       vim.fn.confirm = function(...)
         vim.cmd.write()
         return confirm(...)
       end`,
    );
    await run(neovim, 'revert a');
    await untilFile(file.a, TEXT);
    await neovim.type('u');
    assert.equal(await neovim.lua(`return vim.fn.getline('$')`), 'mine');
  });

  test('is reverted only after a question if the user would lose something', async (t) => {
    const { neovim, cli, file } = await open(t, { a: TEXT });
    await cli.prompt('go');
    await cli.write(file.a, EDITED);
    await changed(neovim, 1);
    const asks = async (choice, ...expected) => {
      await answerAll(neovim, choice);
      await run(neovim, 'revert a');
      await neovim.until('#_G.questions > 0');
      assert.deepEqual(await questions(neovim), [expected]);
    };
    const choices = '&Revert\n&Show differences\n&Cancel';
    // Unsaved.
    await neovim.until(`vim.fn.getline(2) == 'TWO'`);
    await neovim.type('Gomine<Esc>');
    await asks(3, 'a has other, unsaved changes (+1 −0). Revert it?', choices);
    assert.equal(await neovim.lua(`return vim.fn.getline('$')`), 'mine');
    await asks(2, 'a has other, unsaved changes (+1 −0). Revert it?', choices);
    const [left, right] = await compared(neovim);
    assert.deepEqual([left[1], right[1]], [' As the CLI left it', ' Now']);
    assert.equal(right[0], `${left[0]}|mine`);
    await neovim.type(':q<CR>');
    await asks(1, 'a has other, unsaved changes (+1 −0). Revert it?', choices);
    await untilFile(file.a, TEXT);
    await neovim.type('u');
    assert.equal(await neovim.lua(`return vim.fn.getline('$')`), 'mine');
    // Saved.
    await neovim.command('write');
    await asks(3, 'a has changed since (+1 −0). Revert it?', choices);
    assert.equal(read(file.a), `${EDITED}mine\n`);
    await neovim.lua('vim.fn.confirm = nil');
    await neovim.typeAndAnswer(':GeminiCompanion revert a<CR>', '<Esc>');
    assert.equal(read(file.a), `${EDITED}mine\n`);
    await neovim.typeAndAnswer(':GeminiCompanion revert a<CR>', 'r');
    await untilFile(file.a, TEXT);
    await neovim.type('u:write<CR>');
    assert.equal(read(file.a), `${EDITED}mine\n`);
    // During the question.
    await answerAll(neovim, 1);
    await neovim.lua(
      `local confirm, path = vim.fn.confirm, ...
       vim.fn.confirm = function(...)
         vim.fn.writefile({ 'later' }, path)
         return confirm(...)
       end`,
      file.a,
    );
    await run(neovim, 'revert a');
    await neovim.says(/a is not reverted: the file has just changed again/);
    assert.equal(read(file.a), 'later\n');
  });

  test('is deleted if the CLI has created it, and written again if it has deleted it', async (t) => {
    const { sandbox, neovim, cli, file } = await open(t, { gone: 'gone\n', 'sub/also': 'gone\n', c: 'one\n' });
    const created = `${sandbox.project}/new`;
    await cli.prompt('go');
    await cli.write(created, 'new\n');
    await cli.write(file.c, 'two\n');
    await cli.shell(() => {
      fs.rmSync(file.gone);
      fs.rmSync(`${sandbox.project}/sub`, { recursive: true });
    });
    await changed(neovim, 4);
    await run(neovim, 'diff gone');
    const [, right] = await compared(neovim);
    assert.equal(right[1], ' Now deleted (:w writes this text again)');
    await neovim.type(':q<CR>');
    await neovim.until(`not vim.wo.diff`);
    await answerAll(neovim, 2);
    await run(neovim, 'revert prompt');
    await untilFile(file.c, 'one\n');
    assert.deepEqual([file.gone, created].map(read), [null, 'new\n']);
    const [[question, choices]] = await questions(neovim);
    assert.match(question, /^new was created by the CLI, and will be deleted$/m);
    assert.match(question, /^gone may have been changed by something else during the prompt$/m);
    assert.match(question, /\nRevert all 4 files\?$/);
    assert.equal(choices, '&All\n&Only the others\n&Cancel');

    await answerAll(neovim, 1);
    await run(neovim, 'revert gone');
    await untilFile(file.gone, 'gone\n');
    await run(neovim, 'revert sub/also');
    await untilFile(file['sub/also'], 'gone\n');
    await answerAll(neovim, 1);
    await run(neovim, 'revert new');
    await untilFile(created, null);
    assert.deepEqual(await questions(neovim), [['new was created by the CLI. Delete it?', '&Delete\n&Cancel']]);
    await neovim.edit(created);
    assert.equal(await neovim.lua(`return vim.fn.getline(1)`), '');
    assert.equal(await neovim.lua(`return vim.bo.modified`), false);
    await neovim.type('u:write<CR>');
    assert.equal(read(created), 'new\n');
  });

  test('has its line endings again also if the user has opened it with ++bin', async (t) => {
    const { neovim, cli, sandbox } = await open(t, {});
    const file = sandbox.file('a', 'one\r\ntwo\r\n');
    await neovim.command(`edit ++bin ${file}`);
    await cli.prompt('go');
    await cli.write(file, 'one\r\nTWO\r\n');
    await changed(neovim, 1);
    await neovim.until(`vim.fn.getline(2) == 'TWO\\r'`);
    await run(neovim, 'revert');
    await untilFile(file, 'one\r\ntwo\r\n');
    await neovim.type('u:write<CR>');
    await untilFile(file, 'one\r\nTWO\r\n');
  });

  test('is reported to the model also if an autocommand of the user deletes its buffer', async (t) => {
    const { neovim, cli, file } = await openEdited(t, {
      init: `vim.api.nvim_create_autocmd('BufWritePost', { callback = function(event)
        vim.cmd.enew()
        vim.api.nvim_buf_delete(event.buf, { force = true })
      end })`,
    });
    await run(neovim, 'revert');
    await untilFile(file.a, TEXT);
    await changed(neovim, 0);
    assert.match(await cli.prompt('next'), /The user reverted your changes to a\./);
  });

  test('stays unsaved if it can not be written', async (t) => {
    const { sandbox, neovim, cli, file } = await open(t, { 'sub/a': 'one\n' });
    await cli.prompt('go');
    await cli.write(file['sub/a'], 'two\n');
    await changed(neovim, 1);
    fs.rmSync(`${sandbox.project}/sub`, { recursive: true });
    sandbox.file('sub', 'a file');
    await answerAll(neovim, 1);
    await run(neovim, 'revert');
    const failed = /a is not reverted: its buffer has the text from before, unsaved/;
    await neovim.says(failed);
    assert.deepEqual(await questions(neovim), [['sub/a was deleted since. Revert it?', '&Revert\n&Cancel']]);
    assert.equal(await neovim.lua(`return vim.fn.getline(1)`), 'one');
    assert.equal(await neovim.lua(`return vim.bo.modified`), true);
    await changed(neovim, 1);
    await neovim.command('edit!');
  });
});

test('a deleted file that is not open: the comparison says how to revert that', { skip }, async (t) => {
  const { neovim, cli, file } = await open(t, { gone: 'one\ntwo\n', other: 'other\n' });
  await neovim.command('bwipeout gone');
  await cli.prompt('go');
  await cli.write(file.gone, 'changed\n');
  await cli.shell(() => fs.rmSync(file.gone));
  await neovim.until(`vim.tbl_get(require('gemini_companion').changes(), 1, 'files', 1, 'kind') == 'deleted'`);
  await run(neovim, 'diff gone');
  const [, right] = await compared(neovim);
  assert.deepEqual(right.slice(0, 2), ['', ' Now deleted (do and :w bring it back)']);
  await neovim.type('do:write<CR>');
  await until(() => JSON.stringify(read(file.gone)), () => /^one\ntwo\n/.test(read(file.gone) ?? ''));
});
