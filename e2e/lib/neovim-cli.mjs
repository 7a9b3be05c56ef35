// Runs Gemini CLI with a scripted model in a terminal of Neovim.

import { setTimeout as sleep } from 'node:timers/promises';

import { prepareCli } from './extension.mjs';
import { openNeovim } from './neovim.mjs';

/** The visible lines of the CLI's terminal, as one text. */
const SCREEN = `table.concat(vim.api.nvim_buf_get_lines(vim.g.terminal,
  -1 - vim.api.nvim_win_get_height(vim.fn.win_findbuf(vim.g.terminal)[1]), -1, false), '\\n')`;

/** All lines of the CLI's terminal, as one text. */
export const TERMINAL = `table.concat(vim.api.nvim_buf_get_lines(vim.g.terminal, 0, -1, false), '\\n')`;

/** Runs a command by way of a shell, as a user does, in a terminal of another tab page. */
export async function runInTerminal(sandbox, neovim, command, env) {
  const pid = await neovim.lua(
    `local command, env = ...
     vim.cmd('tabnew')
     local job = vim.fn.termopen({ 'sh', '-c', '"$@"; exit', 'sh', unpack(command) }, { env = env })
     vim.g.terminal = vim.api.nvim_get_current_buf()
     vim.cmd('tabprevious')
     return vim.fn.jobpid(job)`,
    command,
    env,
  );
  // With all its children, which otherwise would write into folders that the test removes.
  sandbox.defer(() => process.kill(-pid, 'SIGKILL'));
}

/**
 * Neovim with Gemini CLI at its prompt in a terminal of another tab page. `files` are the texts of
 * the project's files by their names; `steps` returns the model's answers for the paths.
 */
export async function openNeovimWithCli(t, files, steps, { setup, init, ...options } = {}) {
  const { sandbox, neovim } = await openNeovim(t, { setup, init });
  const paths = Object.entries(files).map(([name, text]) => [name, sandbox.file(name, text)]);
  const file = Object.fromEntries(paths);
  const all = { review: true, ...options };
  const { command, env, ...texts } = await prepareCli(sandbox, 'gemini', steps(file), all);
  await runInTerminal(sandbox, neovim, command, env);
  const cli = {
    shows: (text) => neovim.until(`${TERMINAL}:find(..., 1, true)`, text),
    async enter(text) {
      await neovim.lua(
        `vim.fn.win_gotoid(vim.fn.win_findbuf(vim.g.terminal)[1])
         vim.cmd('startinsert')`,
      );
      await neovim.until(`vim.api.nvim_get_mode().mode == 't'`);
      // Until the CLI shows its empty prompt, it drops keys.
      await neovim.until(`${SCREEN}:find('Type your message', 1, true)`);
      await neovim.type(text);
      await neovim.until(`${TERMINAL}:find('[>*] +' .. vim.pesc(...))`, text);
      // Within 30 ms of the last key, the CLI reads Enter as a pasted line break.
      await sleep(100);
      await neovim.type('<CR>');
    },
    /** Types a command of Neovim. */
    run: (command) => neovim.type(`<C-\\><C-n>:GeminiCompanion ${command}<CR>`),
  };
  await cli.shows('Type your message');
  await neovim.until(`require('gemini_companion').status().clients == 1`);
  return { ...texts, sandbox, neovim, cli, file };
}

/** Goes from the CLI's terminal to the proposal for a file. */
export async function goTo({ neovim, cli }, file) {
  await neovim.proposalBehind(file);
  await cli.run(`show ${file}`);
  await neovim.view(file);
}
