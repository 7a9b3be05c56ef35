// Starts Neovim for the check of editors, and types at it like its user.

import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { NEOVIM } from './neovim.mjs';

const SETUP = fileURLToPath(new URL('check-neovim.lua', import.meta.url));
const SOCKET = 'user.sock';
const run = promisify(execFile);

/** Returns the command of a Neovim, which runs `fault` in Lua before its companion starts. */
export const neovimCommand = (fault = '') => [
  ...[NEOVIM, '--clean', '--headless', '--listen', `./${SOCKET}`],
  ...['--cmd', `lua _G.fault = function() ${fault.replaceAll('\n', ' ')} end`, '-S', SETUP],
];

/** Returns the user of a Neovim that is checked. */
export function neovimUser({ folder }) {
  const remote = ['--server', path.join(folder, SOCKET)];
  const evaluate = async (expression) => (await run(NEOVIM, [...remote, '--remote-expr', expression])).stdout;
  async function press(keys) {
    await run(NEOVIM, [...remote, '--remote-send', `<C-\\><C-n>${keys}`]);
    await evaluate('1');
  }
  const type = (filePath, keys) => press(`:lua require('gemini_companion.diff').show([[${filePath}]])<CR>${keys}`);
  return {
    changesFile: (filePath) => press(`:tabedit ${filePath}<CR>ccmine<Esc>`),
    types: (filePath, text) => type(filePath, `:%d<CR>i${text.trimEnd()}<Esc>`),
    empties: (filePath) => type(filePath, ':%d<CR>'),
    accepts: (filePath) => type(filePath, ':w<CR>'),
    insists: (filePath) => type(filePath, ':w!<CR>'),
    closes: (filePath) => type(filePath, ':q!<CR>'),
    rejects: (filePath, reason) => type(filePath, `:lua require('gemini_companion').reject(nil, '${reason}')<CR>`),
    restarts: () => press(":lua require('gemini_companion').restart()<CR>"),
    offers: async (filePath) => JSON.parse(await evaluate(`v:lua.offered_texts('${filePath}')`)),
    writesOffered: (filePath) => press(`:execute 'sbuffer' bufnr('gemini-companion://kept${filePath}')<CR>:write! ${filePath}<CR>`),
  };
}
