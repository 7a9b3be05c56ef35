// Tests `:GeminiCompanion add`, which inserts names into the prompt of a CLI in Neovim's terminal.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';

import { BY, NAMES, prepareCli } from '../lib/extension.mjs';
import { TERMINAL, runInTerminal } from '../lib/neovim-cli.mjs';
import { noNeovim as skip, openNeovim } from '../lib/neovim.mjs';
import { PROMPT_TEXTS, writeFiles } from '../lib/prompt-texts.mjs';

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
  test(
    `the selected lines are in the prompt of ${name}, which is not sent`,
    { skip },
    async (t) => {
      const window = await openNeovim(t);
      const { sandbox, neovim } = window;
      await neovim.edit(sandbox.file('with blank.txt', 'one\ntwo\nthree\n'));
      await startCli(window, name);
      await neovim.type('ggVj:GeminiCompanion add<CR>');
      const text = '@with\\ blank.txt (lines 1-2)';
      await neovim.until(`${TERMINAL}:find(..., 1, true)`, text);
      assert.equal(
        await neovim.lua('return vim.api.nvim_get_current_buf() == vim.g.terminal'),
        true,
      );
      await neovim.until(`vim.api.nvim_get_mode().mode == 't'`, 'the user goes on typing');

      await neovim.type('what is it?');
      await neovim.until(`${TERMINAL}:find(..., 1, true)`, 'what is it?');
      assert.doesNotMatch(await neovim.lua(`return ${TERMINAL}`), new RegExp(READS[name]));
      await neovim.type('<CR>');
      await neovim.until(`${TERMINAL}:find(..., 1, true)`, READS[name]);
    },
  );
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
  await neovim.command('GeminiCompanion add');
  assert.equal(await register(neovim), ' @src/a.txt ');
});
