// Tests in Neovim the buffer with all changes of a prompt: it goes to lines, and reverts and keeps single changes.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { until } from '../lib/inbox.mjs';
import { answerAll, changed, open, questions, read, run, untilFile } from '../lib/neovim-changes.mjs';
import { noNeovim as skip } from '../lib/neovim.mjs';

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
const TEXT = `${LINES.join('\n')}\n`;
const EDITED = TEXT.replace('line 3\n', 'THREE\n').replace('line 20\n', 'line 20\nmore\n');
const FIRST = EDITED.replace('line 20\nmore\n', 'line 20\n');
const SECOND = EDITED.replace('THREE\n', 'line 3\n');

/** The lines of the buffer with all changes, once it has `count` changes. */
async function shown(neovim, count) {
  let lines;
  const has = async () => {
    lines = await neovim.lua(`
      for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
        if vim.api.nvim_buf_get_name(buffer):find('changes of', 1, true) then
          return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
        end
      end
      return {}`);
    return lines.filter?.((line) => line.startsWith('@@')).length === count;
  };
  await until(() => JSON.stringify(lines), has);
  return lines;
}

/** Neovim after a prompt that has changed a in two places and created new, in the buffer with all changes. */
async function openAll(t) {
  const window = await open(t, { a: TEXT, b: 'b\r\n' });
  const { neovim, cli, file, sandbox } = window;
  await cli.prompt('Change them');
  await cli.write(file.a, EDITED);
  await cli.write(`${sandbox.project}/new`, 'new');
  await changed(neovim, 2);
  await neovim.until(`vim.fn.bufloaded('b') == 1`);
  await run(neovim, 'diff prompt');
  await neovim.until(`vim.bo.filetype == 'diff'`);
  assert.match(await neovim.lua('return vim.fn.bufname()'), /changes of \d\d:\d\d Change them$/);
  return window;
}

/** Moves the cursor to the first line with the text. */
const to = (neovim, text) => neovim.lua(`vim.fn.cursor(1, 1) return vim.fn.search('\\\\V' .. ...)`, text);

const reverted = (cli) => cli.prompt('next').then((text) => text.match(/^.*reverted .*your changes to.*$/m)?.[0]);

describe('the buffer with all changes of a prompt', { skip, concurrency: 2 }, () => {
  test('shows each change, and Enter goes to its line, also if the line has moved', async (t) => {
    const { neovim, file } = await openAll(t);
    const lines = await shown(neovim, 3);
    assert.match(lines[0], /^# \d\d:\d\d Change them$/);
    assert.deepEqual(lines.slice(2, 13), [
      '--- a/a',
      '+++ b/a',
      '@@ -1,6 +1,6 @@',
      ' line 1',
      ' line 2',
      '-line 3',
      '+THREE',
      ' line 4',
      ' line 5',
      ' line 6',
      '@@ -18,6 +18,7 @@',
    ]);
    assert.deepEqual(lines.slice(-5), ['--- /dev/null', '+++ b/new', '@@ -0,0 +1,1 @@', '+new', '\\ No newline at end of file']);
    assert.equal(await neovim.lua('return vim.bo.modifiable'), false);
    fs.writeFileSync(file.a, `mine\nmine\n${EDITED}`);
    await neovim.command('checktime');
    await to(neovim, '+more');
    await neovim.type('<CR>');
    await neovim.until(`vim.api.nvim_buf_get_name(0) == ...`, file.a);
    assert.equal(await neovim.lua(`return vim.fn.getline('.')`), 'more');
    await run(neovim, 'diff prompt');
    await neovim.until(`vim.bo.filetype == 'diff'`);
    assert.equal(await neovim.lua(`return #vim.tbl_filter(function(buffer)
      return vim.api.nvim_buf_get_name(buffer):find('changes of', 1, true)
    end, vim.api.nvim_list_bufs())`), 1);
  });

  test('goes to a file of any name, and leaves the user’s argument list alone', async (t) => {
    const { neovim, cli, sandbox } = await open(t, { mine: 'mine\n' });
    await neovim.command('args mine other');
    await cli.prompt('Write');
    const files = ['app/[id]/page.tsx', "$HOME %#1 it's {a,b}*.txt"].map((name) => `${sandbox.project}/${name}`);
    fs.mkdirSync(`${sandbox.project}/app/[id]`, { recursive: true });
    for (const file of files) await cli.write(file, `${file}\n`);
    await changed(neovim, 2);
    for (const file of files) {
      await run(neovim, 'diff prompt');
      await neovim.until(`vim.bo.filetype == 'diff' and vim.fn.search('^+/', 'nw') > 0`);
      await to(neovim, `+${file}`);
      await neovim.type('<CR>');
      await neovim.until(`vim.api.nvim_buf_get_name(0) == ...`, file);
    }
    assert.equal(await neovim.lua(`return vim.fn.fnamemodify(vim.fn.argv(0), ':t')`), 'mine');
  });

  test('leaves out the end of a very long change, and says how much', async (t) => {
    const { neovim, cli, sandbox } = await open(t, {});
    await cli.prompt('Write');
    await cli.write(`${sandbox.project}/long`, 'x\n'.repeat(100_000));
    await changed(neovim, 1);
    await run(neovim, 'diff prompt');
    await neovim.until(`vim.bo.filetype == 'diff'`);
    const lines = await neovim.lua('return vim.api.nvim_buf_get_lines(0, -3, -1, false)');
    assert.deepEqual(lines, ['+x', '# … and 5 more lines in this file']);
    assert.equal(await neovim.lua('return vim.api.nvim_buf_line_count(0)'), 100_001);
  });

  test('reverts one change, and undoes that, there and in the file', async (t) => {
    const { neovim, cli, file } = await openAll(t);
    await shown(neovim, 3);
    await to(neovim, '+THREE');
    await neovim.type('X');
    await untilFile(file.a, SECOND);
    await shown(neovim, 2);
    await neovim.type('u');
    await untilFile(file.a, EDITED);
    await shown(neovim, 3);
    assert.equal(await reverted(cli), undefined, 'the model gets no undone revert');

    await to(neovim, '+THREE');
    await neovim.type('X');
    await untilFile(file.a, SECOND);
    await shown(neovim, 2);
    await neovim.edit(file.a);
    await neovim.type('u:w<CR>');
    await shown(neovim, 3);
    await neovim.type('<C-r>:w<CR>');
    await shown(neovim, 2);
    assert.match(await reverted(cli), /^The user reverted some of your changes to a\. /);
    // What is left of the change stays, and can be reverted without a question.
    await answerAll(neovim, 1);
    await run(neovim, 'revert a');
    await untilFile(file.a, TEXT);
    assert.deepEqual(await questions(neovim), []);
    assert.match(await reverted(cli), /^The user reverted your changes to a\. /);
  });

  test('lists its changes again if the user undoes several reverts in the file', async (t) => {
    const { neovim, file, cli } = await openAll(t);
    await shown(neovim, 3);
    for (const [line, text, left] of [
      ['+THREE', SECOND, 2],
      ['+more', TEXT, 1],
    ]) {
      await to(neovim, line);
      await neovim.type('X');
      await untilFile(file.a, text);
      await shown(neovim, left);
    }
    await neovim.edit(file.a);
    await neovim.type('uu:w<CR>');
    await untilFile(file.a, EDITED);
    await shown(neovim, 3);
    await neovim.type('<C-r><C-r>:w<CR>');
    await untilFile(file.a, TEXT);
    await shown(neovim, 1);
    await neovim.type('u:w<CR>');
    await shown(neovim, 2);
    await neovim.type('u:w<CR>');
    await shown(neovim, 3);
    assert.equal(await reverted(cli), undefined);
  });

  test('lists a change again whose revert the user has undone, but not written, before another revert', async (t) => {
    const { neovim, file } = await openAll(t);
    await answerAll(neovim, 1);
    await to(neovim, '+THREE');
    await neovim.type('X');
    await untilFile(file.a, SECOND);
    await shown(neovim, 2);
    await neovim.edit(file.a);
    await neovim.type('u');
    await run(neovim, 'diff prompt');
    await neovim.until(`vim.bo.filetype == 'diff'`);
    await to(neovim, '+more');
    await neovim.type('X');
    await untilFile(file.a, FIRST);
    await neovim.until(`vim.fn.search('^+THREE$', 'n') > 0 and vim.fn.search('^+more$', 'n') == 0`);
    await shown(neovim, 2);
  });

  test('undoes earlier reverts also if the last one can’t be undone', async (t) => {
    const { neovim, file, sandbox } = await openAll(t);
    await answerAll(neovim, 1);
    await shown(neovim, 3);
    await to(neovim, '+THREE');
    await neovim.type('X');
    await shown(neovim, 2);
    await to(neovim, '+new');
    await neovim.type('X');
    await untilFile(`${sandbox.project}/new`, null);
    await shown(neovim, 1);
    fs.writeFileSync(`${sandbox.project}/new`, 'mine\n');
    await neovim.type('u');
    await neovim.says(/the revert in new is not undone: /);
    await neovim.type('u');
    await untilFile(file.a, EDITED);
    assert.equal(read(`${sandbox.project}/new`), 'mine\n');
  });

  test('reverts a change in a file that is not open, or whose other lines have changed', async (t) => {
    const { neovim, file } = await openAll(t);
    await neovim.command('bwipeout a');
    const mine = EDITED.replace('line 30\n', 'mine\n');
    fs.writeFileSync(file.a, mine);
    await shown(neovim, 3);
    await to(neovim, '+more');
    await neovim.type('X');
    await untilFile(file.a, FIRST.replace('line 30\n', 'mine\n'));
    await shown(neovim, 2);
    assert.equal(await neovim.lua(`return vim.fn.bufloaded('a')`), 0);
    await neovim.type('u');
    await untilFile(file.a, mine);
    await shown(neovim, 3);
    // Lines that have changed are left alone.
    fs.writeFileSync(file.a, EDITED.replace('THREE', 'Three'));
    await to(neovim, '+THREE');
    await neovim.type('X');
    await neovim.says(/a is not reverted: these lines have changed since; compare the whole file/);
    assert.equal(read(file.a), EDITED.replace('THREE', 'Three'));
    await neovim.type('u');
    await neovim.says(/no X is left to undo; u and :w in a file undo its revert/);
  });

  test('keeps one change, which leaves the list, and deletes a created file with its change', async (t) => {
    const { neovim, file, sandbox } = await openAll(t);
    await shown(neovim, 3);
    await to(neovim, '+more');
    await neovim.type('K');
    await shown(neovim, 2);
    await to(neovim, '+new');
    await answerAll(neovim, 1);
    await neovim.type('X');
    await untilFile(`${sandbox.project}/new`, null);
    assert.equal((await questions(neovim))[0][0], 'new was created by the CLI. Delete it?');
    await to(neovim, '+THREE');
    await neovim.type('X');
    await untilFile(file.a, SECOND);
    await changed(neovim, 0);
    assert.ok((await shown(neovim, 0)).includes('# reverted'));
    await neovim.type('gg<CR>X');
    await neovim.says(/go to a change first/);
  });

  test('keeps the cursor on its change when others come and go, and survives :edit', async (t) => {
    const { neovim, cli, file } = await openAll(t);
    await shown(neovim, 3);
    await to(neovim, '+more');
    await cli.write(file.a, EDITED.replace('line 12\n', 'TWELVE\n'));
    await shown(neovim, 4);
    assert.equal(await neovim.lua(`return vim.fn.getline('.')`), '+more');
    await neovim.command('edit');
    await shown(neovim, 4);
    await to(neovim, '+more');
    await neovim.type('X');
    await untilFile(file.a, FIRST.replace('line 12\n', 'TWELVE\n'));
    await shown(neovim, 3);
    // The change under the cursor is another one now.
    await to(neovim, '+TWELVE');
    await cli.write(file.a, FIRST.replace('line 12\n', 'Twelve\n'));
    await neovim.until(`vim.fn.search('^+Twelve', 'nw') > 0`);
    await neovim.type('X');
    await neovim.says(/go to a change first/);
    assert.equal(read(file.a), FIRST.replace('line 12\n', 'Twelve\n'));
  });
});
