// Tests the arguments of the commands in Neovim, their completion, and their lists in the quickfix window.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { changed, compared, FAILS, open, openEdited, read, run, TEXT, untilFile } from '../lib/neovim-changes.mjs';
import { TERMINAL } from '../lib/neovim-cli.mjs';
import { noNeovim as skip, openProposal } from '../lib/neovim.mjs';
import { UNCHANGED } from '../lib/decision.mjs';

const complete = async (neovim, line) => Object.values(await neovim.lua(`return vim.fn.getcompletion(..., 'cmdline')`, line));

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
    assert.doesNotMatch(await neovim.messages(), /GeminiCompanion:/);
  });

  test('comments on no folder', async (t) => {
    const { neovim, sandbox } = await open(t, { a: '1\n' });
    await neovim.edit(sandbox.project);
    await run(neovim, 'comment Rename it');
    assert.match(await neovim.messages(), FAILS('this buffer has no file to comment on'));
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
      assert.deepEqual((await complete(neovim, line)).sort(), expected, line);
    }
    await run(neovim, 'revert ./prompt');
    await untilFile(file.prompt, '1\n');
    assert.equal(read(file['my file']), '2\n');
  });
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
