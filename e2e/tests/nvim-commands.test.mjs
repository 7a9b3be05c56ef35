// Tests the arguments of the commands in Neovim, their completion, their lists in the quickfix window, and `add`.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { UNCHANGED } from '../lib/decision.mjs';
import { BY, NAMES, prepareCli } from '../lib/extension.mjs';
import { changed, compared, FAILS, open, openEdited, read, run, TEXT, untilFile } from '../lib/neovim-changes.mjs';
import { runInTerminal, TERMINAL } from '../lib/neovim-cli.mjs';
import { noNeovim as skip, openNeovim, openProposal } from '../lib/neovim.mjs';
import { PROMPT_TEXTS, writeFiles } from '../lib/prompt-texts.mjs';

describe('a command', { skip, concurrency: 2 }, () => {
  test('takes % and the like as a path', async (t) => {
    const { neovim, file } = await openEdited(t);
    await run(neovim, 'diff %');
    await compared(neovim);
    await neovim.type(':q<CR>');
    await neovim.edit(file.a);
    await neovim.until('not vim.wo.diff');
    await run(neovim, 'revert %:p');
    await untilFile(file.a, TEXT);
    await run(neovim, 'keep %');
    await neovim.until(`#require('gemini_companion').changes() == 0`);
    assert.match((await neovim.messages()).trim(), /^GeminiCompanion: reverted a; the model learns it with your next prompt$/);
  });

  test('takes % in a proposal as its file', async (t) => {
    const { neovim, decision } = await openProposal(t);
    await run(neovim, 'accept %');
    assert.deepEqual(await decision, UNCHANGED);
  });

  test('is completed, also if it is short, has a range, or the name has spaces', async (t) => {
    const { neovim, cli, file, sandbox } = await open(t, { prompt: '1\n', 'my file': '1\n', 'src/b.txt': '1\n' });
    await cli.prompt('go');
    for (const path of Object.values(file)) await cli.write(path, '2\n');
    await changed(neovim, 3);
    const cases = {
      'GeminiCompanion rev': ['revert', 'review'],
      'Gemini rev': ['revert', 'review'],
      "silent 1,2Gemini rev": ['revert', 'review'],
      'GeminiCompanion diff ': ['./prompt', 'my file', 'prompt', 'src/b.txt'],
      'GeminiCompanion diff my f': ['file'],
      'GeminiCompanion diff ./s': ['./src/b.txt'],
      [`GeminiCompanion diff ${sandbox.project}/s`]: [file['src/b.txt']],
      'GeminiCompanion revert p': ['prompt'],
      'GeminiCompanion revert ./p': ['./prompt'],
      'GeminiCompanion review o': ['off', 'on'],
      'GeminiCompanion status ': [],
    };
    for (const [line, expected] of Object.entries(cases)) {
      assert.deepEqual((await neovim.completions(line)).sort(), expected, line);
    }
    await run(neovim, 'revert ./prompt');
    await untilFile(file.prompt, '1\n');
    assert.equal(read(file['my file']), '2\n');
  });
});

test('a command that Neovim forbids where the user is fails in one line', { skip }, async (t) => {
  const { neovim } = await openEdited(t);
  await neovim.type('q:');
  for (const command of ['changes', 'log']) await run(neovim, command);
  await neovim.type(':quit<CR>');
  assert.match(await neovim.messages(), FAILS('.*E11: .*'));
  assert.doesNotMatch(await neovim.messages(), /E5108|traceback/);
});

describe('the lists of the plugin', { skip, concurrency: 2 }, () => {
  test('are one each among the user’s own', async (t) => {
    const { neovim } = await openEdited(t);
    await neovim.lua(`vim.fn.setqflist({}, ' ', { title = 'mine', items = { { text = 'mine' } } })`);
    for (let time = 0; time < 12; time++) {
      await run(neovim, 'changes');
      await neovim.type(':cclose<CR>');
    }
    assert.equal(await neovim.lua(`return vim.fn.getqflist({ nr = '$' }).nr`), 2);
    assert.equal(await neovim.lua(`return vim.fn.getqflist({ nr = 1, title = 0 }).title`), 'mine');
    assert.equal(await neovim.lua(`return vim.fn.getqflist({ title = 0 }).title`), 'Changes of the CLI');
    await neovim.type(':colder<CR>');
    await run(neovim, 'changes');
    assert.equal(await neovim.lua(`return vim.fn.getqflist({ title = 0 }).title`), 'Changes of the CLI');
    assert.equal(await neovim.lua(`return vim.fn.getqflist({ nr = '$' }).nr`), 2);
  });

  test('leave the key of another plugin alone in the user’s own lists', async (t) => {
    const script = `vim.api.nvim_exec2([[
      function s:open()
        let g:mine = v:true
      endfunction
      nnoremap <buffer> <CR> :call <SID>open()<CR>
    ]], {})`;
    const maps = [
      `vim.keymap.set('n', '<CR>', function() vim.g.mine = true end, { buffer = 0 })`,
      `vim.cmd('nnoremap <buffer> <CR> :let g:mine = v:true<CR>')`,
      `vim.cmd('nnoremap <CR> :let g:mine = v:true<CR>')`,
      `vim.cmd('nmap <buffer> <expr> <CR> execute("let g:mine = v:true") .. "<CR>"')`,
      script,
      `vim.keymap.set('n', '<CR>', function() vim.g.asks = true vim.g.mine = vim.fn.getcharstr() == 'y' end, { buffer = 0 })`,
      `vim.keymap.set('n', '<CR>', function()
        vim.g.asks = true
        return vim.fn.getcharstr() == 'y' and '<Cmd>let g:mine = v:true<CR>' or ''
      end, { buffer = 0, expr = true })`,
      `vim.keymap.set('n', '<CR>', function() vim.g.mine = vim.v.count == 3 end, { buffer = 0 })`,
    ];
    for (const map of maps) {
      const init = `vim.api.nvim_create_autocmd('FileType', { pattern = 'qf', once = true, callback = function() ${map} end })`;
      const { neovim } = await openEdited(t, { init });
      await neovim.lua(`vim.fn.setqflist({}, ' ', { title = 'mine', items = { { text = 'mine' } } })`);
      await run(neovim, 'changes');
      await neovim.press(`:colder<CR>${map.includes('count') ? '3' : ''}<CR>`);
      if (map.includes('asks')) {
        await neovim.until('vim.g.asks');
        await neovim.press('y');
      }
      await neovim.until('vim.g.mine');
      await neovim.until(`vim.fn.maparg('<CR>', 'n', false, true).desc == 'go to the entry'`);
      await neovim.type(':cnewer<CR>2G<CR>');
      await compared(neovim);
      await neovim.close();
    }
  });

  test('say E42 at Enter if they are empty', async (t) => {
    const { neovim } = await openEdited(t);
    await run(neovim, 'changes');
    await neovim.lua(`vim.fn.setqflist({}, 'r', { items = {} })`);
    await neovim.type('<CR>');
    assert.match(await neovim.messages(), FAILS('.*E42: No Errors'));
    assert.doesNotMatch(await neovim.messages(), /E5108|traceback/);
  });
});

test('a CLI in a terminal is found with the ps of BusyBox', { skip }, async (t) => {
  const { sandbox, neovim } = await open(t, { a: TEXT });
  const folder = sandbox.folder('bin');
  // It has no -A, and its -o takes only names.
  const ps = `#!/bin/sh
case "$*" in "-o pid,ppid,args") exec ${await neovim.lua(`return vim.fn.exepath('ps')`)} -A -o pid,ppid,args;; esac
echo "ps: unrecognized option: A" >&2
exit 1
`;
  fs.writeFileSync(`${folder}/ps`, ps, { mode: 0o755 });
  fs.symlinkSync('/bin/cat', `${folder}/gemini`);
  await neovim.lua(
    `vim.env.PATH = ... .. ':' .. vim.env.PATH
     vim.cmd('tabnew')
     vim.fn.termopen({ 'sh', '-c', 'gemini; exit' })
     vim.g.terminal = vim.api.nvim_get_current_buf()
     vim.cmd('tabprevious')`,
    folder,
  );
  await neovim.until(`require('gemini_companion.prompt').is_cli_terminal(vim.g.terminal)`);
  await run(neovim, 'add a');
  await neovim.until(`${TERMINAL}:find('@a', 1, true)`);
});

/** The output of each CLI after it has read a named file. */
const READS = { gemini: 'ReadManyFiles', qwen: 'Read @with blank.txt' };

/** Runs a real CLI by way of a shell, as a user does, up to its prompt. */
async function startCli({ sandbox, neovim }, name) {
  const options = { by: BY.nothing, review: true };
  const { command, env } = await prepareCli(sandbox, name, ['That was all.'], options);
  await runInTerminal(sandbox, neovim, command, env);
  await neovim.until(`${TERMINAL}:find('Type your message', 1, true)`);
}

/** The register with the text to paste. */
const register = (neovim) =>
  neovim.lua(`return vim.fn.getreg(vim.fn.has('clipboard') == 1 and '+' or '"')`);

test('a file has the name by which the real CLIs find it', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  writeFiles(sandbox);
  const naming = `return require('gemini_companion.prompt').naming(...)`;
  for (const { path: name, lines = [], text } of PROMPT_TEXTS) {
    const file = path.join(sandbox.project, name);
    assert.equal(await neovim.lua(naming, file, sandbox.project, ...lines), text);
  }
  // The first and the last control character of each kind, and their neighbours.
  for (const control of ['\u0001', '\n', '\u001b', '\u007f', '\u0080', '\u009b', '\u009f']) {
    const file = path.join(sandbox.project, `a${control}b`);
    assert.equal(await neovim.lua(naming, file, sandbox.project), null, JSON.stringify(control));
  }
  const plain = path.join(sandbox.project, 'a\u00a0b');
  assert.equal(await neovim.lua(naming, plain, sandbox.project), '@a\u00a0b');
});

for (const name of NAMES) {
  test(`the selected lines are in the prompt of ${name}, which is not sent`, { skip }, async (t) => {
    const window = await openNeovim(t);
    const { sandbox, neovim } = window;
    await neovim.edit(sandbox.file('with blank.txt', 'one\ntwo\nthree\n'));
    await startCli(window, name);
    await neovim.type('ggVj:GeminiCompanion add<CR>');
    const text = '@with\\ blank.txt (lines 1-2)';
    await neovim.until(`${TERMINAL}:find(..., 1, true)`, text);
    assert.equal(await neovim.lua('return vim.api.nvim_get_current_buf() == vim.g.terminal'), true);
    await neovim.until(`vim.api.nvim_get_mode().mode == 't'`, 'the user goes on typing');

    await neovim.type('what is it?');
    await neovim.until(`${TERMINAL}:find(..., 1, true)`, 'what is it?');
    assert.doesNotMatch(await neovim.lua(`return ${TERMINAL}`), new RegExp(READS[name]));
    await neovim.type('<CR>');
    await neovim.until(`${TERMINAL}:find(..., 1, true)`, READS[name]);
  });
}

test('where no CLI runs, the name is in a register', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  await neovim.edit(sandbox.file('a.txt', 'one\n'));
  await neovim.lua(`vim.cmd('tabnew') vim.fn.termopen({ 'sh' }) vim.cmd('tabprevious')`);
  await neovim.command('GeminiCompanion add');
  assert.equal(await register(neovim), ' @a.txt ');
  assert.match(await neovim.messages(), /found no CLI in a :terminal; register .* has @a\.txt$/);

  await neovim.command(`GeminiCompanion add ${sandbox.folder('project', 'folder')}`);
  assert.equal(await register(neovim), ' @folder/ ');
});

test('only existing files are added, under any name', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  await neovim.edit(sandbox.file('a%b.txt', 'one\n'));
  for (const path of ['%', 'a%b.txt', '%:p']) {
    await neovim.command('let @" = ""', `GeminiCompanion add ${path}`);
    assert.equal(await register(neovim), ' @a%b.txt ', path);
  }
  // As oil.nvim shows a folder.
  const folder = sandbox.folder('project', 'folder');
  await neovim.command('enew', `file oil://${folder}/`, 'setlocal buftype=acwrite', '1GeminiCompanion add');
  assert.equal(await register(neovim), ' @folder/ ');

  await neovim.command('GeminiCompanion add nosuch.txt');
  assert.match(await neovim.messages(), /nosuch\.txt does not exist$/);
  // As nvim-tree and neo-tree name theirs, and a file that was never written.
  for (const name of ['NvimTree_1', 'neo-tree\\ filesystem\\ [1]', 'new.txt']) {
    await neovim.command('messages clear', 'enew', `file ${name}`, 'GeminiCompanion add');
    assert.match(await neovim.messages(), /this buffer has no file to add$/, name);
  }
  assert.equal(await register(neovim), ' @folder/ ');
});

test('a proposal stands for its file; nothing to add is an error', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  await neovim.command('GeminiCompanion add');
  assert.match(await neovim.messages(), /this buffer has no file to add$/);

  const session = await neovim.session(sandbox);
  const filePath = sandbox.file('src/a.txt', 'old\n');
  await session.callTool('openDiff', { filePath, newContent: 'new\n' });
  await neovim.view(filePath);
  for (const command of ['add', 'add %']) {
    await neovim.command('let @" = ""', `GeminiCompanion ${command}`);
    assert.equal(await register(neovim), ' @src/a.txt ');
  }
});
