// Drives Neovim and a CLI's hooks, for tests of what a CLI has changed.

import fs from 'node:fs';

import { HookCli } from './hook-cli.mjs';
import { until } from './inbox.mjs';
import { openNeovim } from './neovim.mjs';

export const read = (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null);

/** Types a command of the plugin. */
export const run = (neovim, command) => neovim.type(`:GeminiCompanion ${command}<CR>`);

export const FAILS = (why) => new RegExp(`^GeminiCompanion: ${why}$`, 'm');

/** Waits for the number of changed files. */
export const changed = (neovim, count) =>
  neovim.until(`require('gemini_companion').status().changes == ...`, count);

/** Waits until the user is in a comparison, and returns the lines and the bars of its sides. */
export async function compared(neovim) {
  await neovim.until(`vim.wo.diff`);
  return neovim.lua(
    `return vim.tbl_map(function(window)
       local buffer = vim.api.nvim_win_get_buf(window)
       local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
       return { table.concat(lines, '|'), vim.wo[window].winbar:gsub('%%<%%%*$', '') }
     end, vim.api.nvim_tabpage_list_wins(0))`,
  );
}

/** Answers all further questions by the number of a choice, and collects them. */
export const answerAll = (neovim, choice) =>
  neovim.lua(
    `local choice = ...
     _G.questions = {}
     vim.fn.confirm = function(question, choices)
       table.insert(_G.questions, { question, choices })
       return choice
     end`,
    choice,
  );

/** The questions since `answerAll`. */
export const questions = async (neovim) => Object.values(await neovim.lua('return _G.questions'));

/** Waits until a file has this text; `null` is no file. */
export const untilFile = (file, text) =>
  until(() => `${file} has ${JSON.stringify(read(file))}, not ${JSON.stringify(text)}`, () => read(file) === text);

export const TEXT = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
export const EDITED = TEXT.replace('two', 'TWO').replace('nine', 'NINE');

/** Neovim and a CLI's hooks. `files` are the texts of the project's files, which Neovim has opened. */
export async function open(t, files, options) {
  const window = await openNeovim(t, options);
  const paths = Object.entries(files).map(([name, text]) => [name, window.sandbox.file(name, text)]);
  for (const [, path] of paths) await window.neovim.edit(path);
  return { ...window, file: Object.fromEntries(paths), cli: new HookCli(window.sandbox) };
}

/** The same after a prompt that has edited a. */
export async function openEdited(t, options) {
  const window = await open(t, { a: TEXT }, options);
  await window.cli.prompt('Rename them\nand more');
  await window.cli.write(window.file.a, EDITED);
  await changed(window.neovim, 1);
  await window.neovim.until(`vim.fn.getline(2) == 'TWO'`);
  return window;
}

/** The items of the quickfix list, without the time. */
async function listed(neovim) {
  const items = await neovim.lua(
    `return vim.tbl_map(function(item)
       return { item.bufnr > 0 and vim.fn.bufname(item.bufnr) or '', item.text }
     end, vim.fn.getqflist())`,
  );
  return items.map(([name, text]) => (name ? `${name}: ${text}` : text.replace(/^\d\d:\d\d /, '# ')));
}

/** Waits until the quickfix list has these items. */
export async function lists(neovim, ...expected) {
  let found;
  const same = async () => {
    found = await listed(neovim);
    return JSON.stringify(found) === JSON.stringify(expected);
  };
  await until(() => `the list is ${JSON.stringify(found)}`, same);
}
