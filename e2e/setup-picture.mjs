// Draws the README's picture of `gemini-companion setup`: the terminal output of a real run, with
// an invented IDE and this machine's Neovim.
//
//   GEMINI_COMPANION=PROGRAM node setup-picture.mjs FILE.svg

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { installIde } from './lib/installation.mjs';
import { Sandbox } from './lib/sandbox.mjs';
import { drawTerminal } from './lib/terminal-picture.mjs';
import { Terminal } from './lib/terminal.mjs';

const PROGRAM = process.env.GEMINI_COMPANION;
/** The color of a line by its first word; a path has none. */
const COLORS = { would: '#79c0ff', done: '#7ee787', '': '#8b949e' };

const sandbox = new Sandbox();
try {
  const version = execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' }).split(' ')[1].trim();
  const args = ['setup', 'neovim', ...installIde(sandbox, version)];
  const env = { PATH: `${path.join(sandbox.home, '.local', 'bin')}:/usr/bin:/bin` };
  sandbox.folder('home', '.gemini');
  const terminal = new Terminal(sandbox, [PROGRAM, ...args], { cwd: sandbox.project, env });
  await terminal.shows(/Continue\? \[Y\/n\] *$/);
  const [plan] = terminal.screen().split('Continue?');
  terminal.press('Enter');
  await terminal.shows(/done {2}Gemini CLI[^]*\n\n/);
  // Doctor's output follows and would scroll the plan out of the window.
  const [done] = terminal.screen().split('\n\n');
  const shown = `${plan}${done.slice(done.indexOf('Continue?'))}`.replaceAll(sandbox.home, '~');
  const lines = ['$ gemini-companion setup', ...shown.split('\n')];
  const color = (line) => COLORS[line.slice(0, 5).trim()] ?? '#e6edf3';
  fs.writeFileSync(process.argv[2], drawTerminal(lines, color));
} finally {
  await sandbox.close();
}
