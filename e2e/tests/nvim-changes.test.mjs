// Tests in Neovim what a CLI has changed: the list by prompt, and the comparison with the text from before.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { replace, shell, write } from '../lib/conversation.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import { openNeovimWithCli } from '../lib/neovim-cli.mjs';
import {
  answerAll,
  changed,
  compared,
  EDITED,
  FAILS,
  lists,
  open,
  openEdited,
  questions,
  read,
  run,
  TEXT,
  untilFile,
} from '../lib/neovim-changes.mjs';
import { noNeovim as skip } from '../lib/neovim.mjs';
import { suspend } from '../lib/suspend.mjs';

test('three prompts in YOLO mode are listed, compared and reverted', { skip }, async (t) => {
  const files = { a: TEXT, b: TEXT, c: TEXT, gone: 'gone\n', 'd.hid': 'one\n', '.aiexclude': '*.hid\n' };
  const steps = ({ a, b, c, 'd.hid': key }) => [
    [replace(a, 'two', 'TWO'), replace(a, 'nine', 'NINE'), write(`${a}-new`, 'new\n')],
    'First.',
    [replace(a, 'five', 'FIVE'), shell('rm gone; printf "shell\\n" > c'), replace(b, 'two', 'TWO')],
    'Second.',
    [replace(b, 'six', 'SIX'), write(key, 'two\n'), replace(c, 'shell', 'SHELL')],
    'Third.',
    'Fourth.',
  ];
  const window = await openNeovimWithCli(t, files, steps, { yolo: true });
  const { neovim, cli, asked, file } = window;
  for (const path of [file.gone, file.c, file.b, file.a]) await neovim.edit(path);
  const prompt = async (text, end) => {
    await cli.enter(text);
    await cli.shows(end);
    await neovim.type('<C-\\><C-n>:1tabnext<CR>');
  };
  await prompt('first prompt', 'First.');
  await prompt('second prompt', 'Second.');
  await neovim.until(`vim.fn.getline(5) == 'FIVE'`);
  await prompt('third prompt', 'Third.');
  await run(neovim, 'changes');
  await lists(
    neovim,
    '# third prompt',
    'b: +1 −1',
    'd.hid: private',
    'c: +1 −1',
    '# second prompt',
    'a: +1 −1',
    'c: +1 −9',
    'gone: +0 −1, deleted',
    'b: +1 −1',
    '# first prompt',
    'a: +2 −2',
    'a-new: +1 −0, new',
  );
  const buffers = await neovim.lua(
    `return vim.tbl_map(function(name)
       return vim.fn.getbufline(vim.fn.bufnr('^' .. name .. '$'), 6)[1] or ''
     end, { 'b', 'c' })`,
  );
  assert.deepEqual(buffers, ['SIX', ''], 'hidden buffers are reloaded as well');

  // A hunk of the first prompt.
  await neovim.type('11G<CR>');
  const now = EDITED.replace('five', 'FIVE').replaceAll('\n', '|').slice(0, -1);
  const [left, right] = await compared(neovim);
  assert.deepEqual([left[0], right[0]], [TEXT.replaceAll('\n', '|').slice(0, -1), now]);
  assert.match(left[1], /^ Before: \d\d:\d\d first prompt$/);
  await neovim.type('Gdo:w<CR>:q<CR>');
  await untilFile(file.a, EDITED.replace('five', 'FIVE').replace('NINE', 'nine'));
  await neovim.until(`vim.bo.buftype == 'quickfix'`);

  // The last prompt, without the private file.
  await neovim.command('cclose');
  await answerAll(neovim, 1);
  await run(neovim, 'revert prompt');
  await untilFile(file.c, 'shell\n');
  await untilFile(file.b, TEXT.replace('two', 'TWO'));
  assert.deepEqual(await questions(neovim), []);
  assert.equal(read(file['d.hid']), 'two\n');
  assert.match(await neovim.messages(), /1 of 3 files stay as they are/);

  await prompt('fourth prompt', 'Fourth.');
  const message = asked().at(-1);
  assert.match(message, /^fourth prompt/);
  for (const name of ['b', 'c']) assert.match(message, new RegExp(`[ ,]${name}[,.]`));
  assert.doesNotMatch(await neovim.log(), /TWO|(first|second|third) prompt/);
});

describe('the list of changes', { skip, concurrency: 2 }, () => {
  test('follows the CLI and the user, and ends with the companion', async (t) => {
    const init = `_G.events = {}
      vim.api.nvim_create_autocmd('User', { pattern = 'GeminiCompanionChanged', callback = function(event)
        table.insert(_G.events, event.data)
      end })`;
    const { neovim, cli, file, sandbox } = await openEdited(t, { init });
    const { session, prompt, title, time, files } = await neovim.lua('return _G.events[1]');
    assert.deepEqual([session, prompt, title], ['a', 1, 'Rename them']);
    assert.ok(Math.abs(Date.now() - time) < 60_000);
    assert.equal(files[0].path, file.a);
    await run(neovim, 'changes');
    await lists(neovim, '# Rename them', 'a: +2 −2');
    await cli.write(sandbox.file('b', 'one\n'), 'two\n');
    await lists(neovim, '# Rename them', 'a: +2 −2', 'b: +1 −1');
    await cli.prompt('');
    await cli.write(file.a, TEXT);
    await lists(neovim, '# prompt 2', 'a: +2 −2', '# Rename them', 'a: +2 −2', 'b: +1 −1');
    assert.match(await neovim.status(), /^Files that a CLI has changed: 2\. Run :GeminiCompanion changes$/m);
    for (const command of ['revert', 'keep', 'diff']) {
      assert.deepEqual(await neovim.completions(`GeminiCompanion ${command} `), ['prompt', 'a', 'b'], command);
    }

    await neovim.type('2G:GeminiCompanion keep<CR>');
    await lists(neovim, '# Rename them', 'a: +2 −2', 'b: +1 −1');
    await run(neovim, 'keep b');
    await lists(neovim, '# Rename them', 'a: +2 −2');
    await neovim.type('gg:GeminiCompanion keep<CR>');
    assert.match(await neovim.messages(), FAILS('this line is a prompt; go to a file'));
    await run(neovim, 'keep prompt');
    await lists(neovim);
    await changed(neovim, 0);
    await run(neovim, 'changes');
    assert.match(await neovim.messages(), FAILS('the list of changes is empty'));

    await cli.write(file.a, EDITED);
    await changed(neovim, 1);
    await neovim.lua('_G.events = {}');
    await run(neovim, 'restart');
    await neovim.until('_G.events[1]');
    const { files: none } = await neovim.lua('return _G.events[1]');
    assert.deepEqual(Object.values(none), []);
    await changed(neovim, 0);
    await run(neovim, 'revert');
    assert.match(await neovim.messages(), FAILS('the list of changes is empty'));
  });

  test('explains in an older state of it that a file has left its prompt', async (t) => {
    const { sandbox, neovim, cli } = await openEdited(t);
    await cli.write(sandbox.file('b', 'one\n'), 'two\n');
    await run(neovim, 'changes');
    await lists(neovim, '# Rename them', 'a: +2 −2', 'b: +1 −1');
    await neovim.command('call setqflist([])');
    await run(neovim, 'keep b');
    await changed(neovim, 1);
    await neovim.type(':colder<CR>G:GeminiCompanion diff<CR>');
    assert.match(await neovim.messages(), FAILS('b is not in the list of changes'));
  });

  test('leaves the user at the same file, and waits until a command is typed', async (t) => {
    const { sandbox, neovim, cli, file } = await openEdited(t);
    const other = new HookCli(sandbox, 'b');
    const created = sandbox.file('b', 'one\n');
    await run(neovim, 'changes');
    await neovim.type('2G:GeminiCompanion revert');
    await other.prompt('second');
    await other.write(created, 'two\n');
    await neovim.type('<CR>');
    await untilFile(file.a, TEXT);
    assert.equal(read(created), 'two\n');
    await lists(neovim, '# second', 'b: +1 −1', '# Rename them', 'a: +2 −2, reverted');
    assert.equal(await neovim.lua(`return vim.fn.line('.')`), 4);
    // The place of :cnext is the same as well.
    await neovim.type(':2cc<CR>');
    await neovim.type(':copen<CR>');
    await other.prompt('third');
    await other.write(created, 'three\n');
    await lists(neovim, '# third', 'b: +1 −1', '# second', 'b: +1 −1');
    assert.deepEqual(await neovim.lua(`return { vim.fn.line('.'), vim.fn.getqflist({ idx = 0 }).idx }`), [4, 4]);

    await neovim.command('cclose');
    await neovim.type(':GeminiCompanion revert prompt');
    await other.prompt('fourth');
    await other.write(file.a, EDITED);
    await neovim.type('<CR>');
    await untilFile(created, 'two\n');
    assert.equal(read(file.a), EDITED);
  });

  test('knows private files by name only', async (t) => {
    const { sandbox, neovim, cli, file } = await open(t, { 'a.hid': 'one\n', b: 'one\n' });
    sandbox.file('.aiexclude', '*.hid\n');
    await cli.prompt('go');
    await cli.write(file['a.hid'], 'two\n');
    await changed(neovim, 1);
    await run(neovim, 'changes');
    await lists(neovim, '# go', 'a.hid: private');
    await neovim.type('2G<CR>');
    await neovim.until(`vim.api.nvim_buf_get_name(0) == ...`, file['a.hid']);
    const refused = FAILS('the text of a.hid from before the prompt is not kept');
    for (const command of ['diff', 'revert', 'revert prompt']) {
      await neovim.command('messages clear');
      await run(neovim, command);
      const why = command === 'revert prompt' ? FAILS('the text of a.hid.*') : refused;
      assert.match(await neovim.messages(), why);
    }
    await run(neovim, 'revert b');
    assert.match(await neovim.messages(), FAILS('b is not in the list of changes'));
  });

  test('fails as a request does if the companion ends', async (t) => {
    const { neovim, file } = await openEdited(t);
    const pid = await neovim.companionPid();
    await suspend(pid);
    await run(neovim, 'diff');
    await run(neovim, 'revert');
    process.kill(pid, 'SIGKILL');
    const ended = 'the companion is not ready \\(see :GeminiCompanion\\)';
    for (const failed of [FAILS(ended), new RegExp(`a is not reverted: ${ended}`)]) {
      await neovim.says(failed);
    }
    assert.equal(read(file.a), EDITED);
    assert.equal(await neovim.lua(`return vim.fn.tabpagenr('$')`), 1);
  });
});

describe('a file that a CLI has changed', { skip, concurrency: 2 }, () => {
  test('is reloaded at once, but not over unsaved changes', async (t) => {
    const { neovim, cli, file } = await open(t, { a: 'one\n', b: 'one\n', c: 'one\n' });
    const line = (path) =>
      neovim.lua(`return vim.fn.getbufline(vim.fn.bufnr(...), 1, '$')`, path);
    await neovim.edit(file.b);
    await neovim.type('omine<Esc>');
    await neovim.edit(file.c);
    await cli.prompt('go');
    // No CLI is connected, so Neovim does not look for changes every second.
    assert.equal((await neovim.ready()).clients, 0);
    for (const path of Object.values(file)) await cli.write(path, 'two\n');
    await changed(neovim, 3);
    await neovim.until(`vim.fn.getline(1) == 'two'`);
    assert.deepEqual(await line(file.a), ['two']);
    assert.deepEqual(await line(file.b), ['one', 'mine']);
    await cli.shell(() => fs.writeFileSync(file.a, 'three\n'));
    await neovim.until(`vim.fn.getbufline(vim.fn.bufnr(...), 1)[1] == 'three'`, file.a);
  });

  test('is compared with its text from before, and closing leaves nothing', async (t) => {
    const { neovim, file, cli } = await openEdited(t);
    const clean = async () => {
      await neovim.until(`vim.fn.tabpagenr('$') == 1`);
      await neovim.until(
        `not vim.iter(vim.api.nvim_list_bufs()):any(function(buffer)
           return vim.api.nvim_buf_get_name(buffer):find('^gemini%-companion')
         end)`,
      );
      await neovim.command('new', `buffer ${file.a}`);
      const options = await neovim.lua(
        `return vim.tbl_map(function(window)
           local o = vim.wo[window]
           return { o.diff, o.scrollbind, o.cursorbind, o.foldmethod, o.winbar }
         end, vim.api.nvim_list_wins())`,
      );
      for (const one of options) assert.deepEqual(one, [false, false, false, 'manual', '']);
      await neovim.command('only');
    };
    const split = [':split | only | tabonly<CR>', ':split | wincmd T | tabonly<CR>'];
    for (const close of [':q<CR>', '<C-w>h:q<CR>', ':tabclose<CR>', ':wq<CR>', ...split]) {
      await run(neovim, 'diff');
      await compared(neovim);
      assert.equal(await neovim.lua(`return vim.fn.line('.')`), 2, 'the first change');
      await neovim.command('tabfirst');
      await run(neovim, 'diff a');
      await compared(neovim);
      assert.equal(await neovim.lua(`return vim.fn.tabpagenr('$')`), 2, 'the same comparison');
      await neovim.type(close);
      await clean();
    }
    await run(neovim, 'diff');
    await compared(neovim);
    await neovim.type(':noautocmd quit<CR>');
    await run(neovim, 'diff a');
    await compared(neovim);
    await neovim.type(':edit other<CR>');
    await neovim.until(`vim.fn.winnr('$') == 1 and not vim.wo.diff`);
    await neovim.type(`:buffer ${file.a}<CR>`);
    assert.deepEqual(
      await neovim.lua('return { vim.wo.diff, vim.wo.scrollbind, vim.wo.foldmethod, vim.wo.winbar }'),
      [false, false, 'manual', ''],
      'the file in the window of the comparison',
    );
    await neovim.type(':q<CR>');
    await clean();

    await run(neovim, 'diff');
    await compared(neovim);
    await neovim.type('<C-w>h:edit!<CR>');
    assert.equal((await compared(neovim))[0][0], TEXT.trim().replaceAll('\n', '|'), 'the text from before after :edit');
    await neovim.type(':q<CR>');
    await clean();

    // Both hunks are a revert.
    await run(neovim, 'diff');
    await compared(neovim);
    await neovim.type('do');
    await neovim.type(']cdo:w<CR>');
    await untilFile(file.a, TEXT);
    await changed(neovim, 0);
    assert.match(await neovim.messages(), /reverted a; the model learns it with your next prompt/);
    await neovim.type(':q<CR>');
    await clean();
    assert.match(await cli.prompt('next'), /reverted your changes to a\./);
  });

  test('has the end of its last line from before again, and is listed if its user undoes that', async (t) => {
    const { neovim, cli, file } = await open(t, { a: 'one\ntwo' });
    await cli.prompt('go');
    await cli.write(file.a, 'one\nTWO\n');
    await changed(neovim, 1);
    await run(neovim, 'diff');
    await compared(neovim);
    await neovim.type(':%diffget<CR>:w<CR>');
    await untilFile(file.a, 'one\ntwo');
    await changed(neovim, 0);
    await neovim.type('uu:w<CR>');
    await untilFile(file.a, 'one\nTWO\n');
    await changed(neovim, 1);
    await neovim.type('<C-r><C-r>:w<CR>');
    await untilFile(file.a, 'one\ntwo');
    await changed(neovim, 0);
    await neovim.type(':q<CR>');
    await neovim.until(`vim.fn.tabpagenr('$') == 1`);
    await neovim.type('uu:w<CR>');
    await untilFile(file.a, 'one\nTWO\n');
    await changed(neovim, 1);
    assert.equal(await cli.prompt('next'), '');
  });

  test('is listed again if its user undoes one of the changes that were a revert together', async (t) => {
    const { neovim, cli, file } = await openEdited(t);
    await run(neovim, 'diff');
    await compared(neovim);
    await neovim.type('do');
    await neovim.type(']cdo:w<CR>:q<CR>');
    await changed(neovim, 0);
    await neovim.type('u:w<CR>');
    await untilFile(file.a, TEXT.replace('nine', 'NINE'));
    await changed(neovim, 1);
    assert.equal(await cli.prompt('next'), '');
  });

  test('has its form from before when its user reverts all changes', async (t) => {
    const cases = [
      ['no byte if it was empty', '', 'x\ny', '', ''],
      ['no byte if it was empty and got line endings', '', 'x\ny\n', '', ''],
      ['no byte if it was empty and got a BOM', '', '\ufeffx', '', ''],
      ['the line endings from before', 'a\n', 'A\r\n', '', 'a\n'],
      ['the line endings that its user sets', 'a\n', 'A\n', ':set fileformat=dos<CR>', 'a\r\n'],
      ['no byte if its CLI has created it', null, 'x\ny', ':%d<CR>', ''],
    ];
    const { sandbox, neovim, cli } = await open(t, {});
    await cli.prompt('go');
    for (const [index, [name, before, after, keys, end]] of cases.entries()) {
      const file = `${sandbox.project}/${index}`;
      if (before !== null) fs.writeFileSync(file, before);
      await cli.write(file, after);
      await changed(neovim, 1);
      await run(neovim, `diff ${index}`);
      await compared(neovim);
      await neovim.type(`:%diffget<CR>${keys}:w<CR>`);
      assert.equal(read(file), end, name);
      if (end === before) await changed(neovim, 0);
      await neovim.type(`:q<CR>:GeminiCompanion keep ${index}<CR>`);
      await neovim.until(`#require('gemini_companion').changes() == 0 and not vim.wo.diff`);
    }
  });

  for (const command of ['diff a', 'diff prompt', 'revert a']) {
    test(`waits for a user who types on after :GeminiCompanion ${command}`, async (t) => {
      const { neovim } = await openEdited(t);
      await neovim.command('edit mine');
      await neovim.lua(`
        vim.fn.confirm = function(...) vim.g.arrived = vim.fn.getline('.') return 2 end
        vim.api.nvim_create_autocmd('TabEnter', { callback = function()
          vim.g.arrived = vim.fn.getbufline('mine', 1)[1]
        end })`);
      if (command === 'revert a') await neovim.lua(`vim.fn.setbufline('a', 1, 'unsaved')`);
      const pid = await neovim.companionPid();
      await suspend(pid);
      await run(neovim, command);
      await neovim.type('ione');
      process.kill(pid, 'SIGCONT');
      await neovim.lua(`require('gemini_companion.server').ask('companion/status', 10000)`);
      await neovim.type(' two<Esc>');
      assert.equal(await neovim.until('vim.g.arrived'), 'one two');
      await neovim.command('bdelete! a', 'bdelete! mine');
    });
  }

  test('is reverted with no word about the model while nothing is shared', async (t) => {
    const { neovim, cli, file } = await openEdited(t);
    await run(neovim, 'share off');
    await run(neovim, 'revert');
    await untilFile(file.a, TEXT);
    assert.doesNotMatch(await neovim.messages(), /the model learns/);
    assert.equal(await cli.prompt('next'), '');
  });
});
