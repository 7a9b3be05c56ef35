// Draws the picture of a proposal in one window of Neovim, for the documents.
//
//   GEMINI_COMPANION=PROGRAM COMPANION_NEOVIM=PROGRAM node neovim-picture.mjs FOLDER

import fs from 'node:fs';
import path from 'node:path';

import { IdeClient } from './lib/ide-client.mjs';
import { until } from './lib/inbox.mjs';
import { NEOVIM, writeConfig } from './lib/neovim.mjs';
import { recordTexts } from './lib/picture-texts.mjs';
import { Sandbox } from './lib/sandbox.mjs';
import { drawFrames } from './lib/terminal-picture.mjs';
import { Terminal } from './lib/terminal.mjs';

const [folder] = process.argv.slice(2);
const OLD = `//! Greets.

/// A greeting for \`name\`.
pub fn greeting(name: &str) -> String {
    format!("Hello, {}!", name)
}

fn main() {
    println!("{}", greeting("world"));
}
`;
const NEW = `//! Greets.

/// A greeting for \`name\`, or for everybody.
pub fn greeting(name: Option<&str>) -> String {
    let name = name.unwrap_or("everybody");
    format!("Hello, {name}!")
}

fn main() {
    println!("{}", greeting(std::env::args().nth(1).as_deref()));
}
`;

const [COLUMNS, ROWS] = [80, 19];

const sandbox = new Sandbox();
try {
  const file = sandbox.file('main.rs', OLD);
  const setup = `{ cmd = { [[${process.env.GEMINI_COMPANION}]] }, layout = 'unified' }`;
  const config = writeConfig(sandbox, 'vim.o.termguicolors, vim.o.laststatus = true, 2', { setup });
  const editor = new Terminal(sandbox, [NEOVIM, '-u', config, '-i', 'NONE', 'main.rs'], {
    cwd: sandbox.project,
    columns: COLUMNS,
    rows: ROWS,
  });
  await editor.shows(/Greets/);
  const discovery = path.join(sandbox.tmp, 'gemini', 'ide');
  await until('Neovim starts a companion', () => fs.existsSync(discovery) && fs.readdirSync(discovery).length > 0);
  const client = await IdeClient.connect(sandbox);
  client.openDiff(file, NEW).catch(() => {}); // the picture decides nothing
  await editor.shows(/accepts[^]*unwrap_or/);
  const caption = "A proposal in one window: layout = 'unified'";
  const windows = [{ title: 'Neovim', screen: editor.coloredScreen(), columns: COLUMNS, rows: ROWS }];
  fs.writeFileSync(path.join(folder, 'unified.svg'), drawFrames([{ caption, windows, seconds: 1 }]));
  recordTexts(folder, 'unified', 'neovim', [editor.screen()]);
} finally {
  await sandbox.close();
}
