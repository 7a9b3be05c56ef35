// Owns `:GeminiCompanion add`: what gets into the prompt of a CLI in a terminal of Neovim's.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';

import { ENVIRONMENT, GEMINI, prepare, says } from '../lib/gemini-cli.mjs';
import { noNeovim as skip, openNeovim } from '../lib/neovim.mjs';
import { PROMPT_TEXTS, writeFiles } from '../lib/prompt-texts.mjs';

/** The lines of the terminal, as one text. */
const TERMINAL = `table.concat(vim.api.nvim_buf_get_lines(vim.g.terminal, 0, -1, false), '\\n')`;

/** Runs the real Gemini CLI by way of a shell, as a user does, up to its prompt. */
async function startCli({ sandbox, neovim }) {
  const script = path.join(sandbox.root, 'replies.jsonl');
  prepare(sandbox.home, script, says(['That was all.']));
  const args = [process.execPath, GEMINI, '--fake-responses-non-strict', script];
  await neovim.lua(
    `local command, env = ...
     vim.cmd('tabnew')
     vim.fn.termopen({ 'sh', '-c', '"$@"; exit', 'sh', unpack(command) }, { env = env })
     vim.g.terminal = vim.api.nvim_get_current_buf()
     vim.cmd('tabprevious')`,
    args,
    ENVIRONMENT,
  );
  await neovim.until(`${TERMINAL}:find('Type your message', 1, true)`);
}

/** What is there for the user to paste. */
const register = (neovim) =>
  neovim.lua(`return vim.fn.getreg(vim.fn.has('clipboard') == 1 and '+' or '"')`);

test('a file has the name by which the real CLIs find it', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  writeFiles(sandbox);
  for (const { path: name, lines = [], text } of PROMPT_TEXTS) {
    const file = path.join(sandbox.project, name);
    const naming = `return require('gemini_companion.prompt').naming(...)`;
    assert.equal(await neovim.lua(naming, file, sandbox.project, ...lines), text);
  }
});

test('the selected lines are in the prompt of the CLI, which is not sent', { skip }, async (t) => {
  const window = await openNeovim(t);
  const { sandbox, neovim } = window;
  await neovim.edit(sandbox.file('with blank.txt', 'one\ntwo\nthree\n'));
  await startCli(window);
  await neovim.type('ggVj:GeminiCompanion add<CR>');
  const name = '@with\\ blank.txt (lines 1-2)';
  await neovim.until(`${TERMINAL}:find(..., 1, true)`, name);
  assert.equal(await neovim.lua('return vim.api.nvim_get_current_buf() == vim.g.terminal'), true);
  await neovim.until(`vim.api.nvim_get_mode().mode == 't'`, 'the user goes on typing');

  await neovim.type('what is it?');
  await neovim.until(`${TERMINAL}:find(..., 1, true)`, 'what is it?');
  assert.doesNotMatch(await neovim.lua(`return ${TERMINAL}`), /ReadManyFiles/);
  await neovim.type('<CR>');
  await neovim.until(`${TERMINAL}:find('ReadManyFiles', 1, true)`);
});

test('where no CLI runs, the name is in a register', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  await neovim.edit(sandbox.file('a.txt', 'one\n'));
  await neovim.lua(`vim.cmd('tabnew') vim.fn.termopen({ 'sh' }) vim.cmd('tabprevious')`);
  await neovim.command('GeminiCompanion add');
  assert.equal(await register(neovim), ' @a.txt ');
  assert.match(await neovim.messages(), /no CLI runs in a :terminal; in register .* is @a\.txt$/);

  await neovim.command(`GeminiCompanion add ${sandbox.folder('project', 'folder')}`);
  assert.equal(await register(neovim), ' @folder/ ');
});

test('a proposal stands for its file; nothing to add is an error', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  await neovim.command('GeminiCompanion add');
  assert.match(await neovim.messages(), /there is no file to add$/);

  const session = await neovim.session(sandbox);
  const filePath = sandbox.file('src/a.txt', 'old\n');
  await session.callTool('openDiff', { filePath, newContent: 'new\n' });
  await neovim.proposal(filePath);
  await neovim.command('GeminiCompanion add');
  assert.equal(await register(neovim), ' @src/a.txt ');
});
