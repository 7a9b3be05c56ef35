// Plays the main job without an IDE: the real Gemini CLI in a terminal of Neovim, with a scripted
// model and a scripted user. It prints and draws each screen; the exit code shows success.
//
//   GEMINI_COMPANION=PROGRAM COMPANION_NEOVIM=PROGRAM node demo-quick.mjs PICTURES

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { ENVIRONMENT, GEMINI, prepare, writes } from './lib/gemini-cli.mjs';
import { until } from './lib/inbox.mjs';
import { NEOVIM, writeConfig } from './lib/neovim.mjs';
import { Sandbox } from './lib/sandbox.mjs';
import { drawTerminal } from './lib/terminal-picture.mjs';
import { Terminal } from './lib/terminal.mjs';

const [pictures] = process.argv.slice(2);
const FILE = '{\n  "host": "localhost",\n  "port": 8080,\n  "timeoutSeconds": 30\n}\n';
const PROPOSAL = FILE.replace('"localhost"', '"0.0.0.0"').replace('30', '5');
const EDITED = PROPOSAL.replace('5\n', '15\n');

const sandbox = new Sandbox();
let count = 0;

/** Prints the screen, and draws it as a picture. */
function show(terminal, title) {
  const picture = path.join(pictures, `quick-${++count}.svg`);
  // Neovim marks lines after the end of a text by a tilde.
  const lines = terminal.screen().split('\n').filter((line) => !/^~[ │~]*$/.test(line));
  console.log(`\n${title}   (${picture})\n${lines.map((line) => `  │ ${line}`).join('\n')}`);
  fs.writeFileSync(picture, drawTerminal(lines));
}

try {
  fs.mkdirSync(pictures, { recursive: true });
  const file = sandbox.file('shop.json', FILE);
  const script = path.join(sandbox.root, 'replies.jsonl');
  prepare(sandbox.home, script, writes(file, PROPOSAL));
  // Neovim must not have these variables: it would take itself for a child of a CLI.
  const variables = Object.entries({ ...ENVIRONMENT, REMOTE_CONTAINERS: '1' })
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
  const program = path.join(sandbox.root, 'gemini');
  const command = `${process.execPath} ${GEMINI} --fake-responses-non-strict ${script}`;
  fs.writeFileSync(program, `#!/bin/sh\n${variables} ${command}\n`, { mode: 0o755 });
  const config = writeConfig(sandbox, 'vim.o.laststatus = 2');
  const terminal = new Terminal(sandbox, [NEOVIM, '-u', config, '-i', 'NONE', file], {
    cwd: sandbox.project,
  });
  await terminal.shows(/"timeoutSeconds": 30/);
  const discovery = path.join(sandbox.tmp, 'gemini', 'ide');
  await until('Neovim starts a companion', () => fs.existsSync(discovery) && fs.readdirSync(discovery).length > 0);
  terminal.send(`:botright 28split | terminal ${program}\ri`);
  await terminal.shows(/1 open file [^]*Type your message/);
  await terminal.enter('listen on all addresses');
  await terminal.shows(/Apply this change\?/);
  show(terminal, 'Gemini CLI proposes an edit. Neovim announces it, and keeps the focus in the terminal.');

  terminal.send('\x1c\x0e:GeminiCompanion show\r');
  await terminal.shows(/"timeoutSeconds": 5\n?/);
  show(terminal, 'The user opens the proposal beside the file.');
  terminal.send(':%s/ 5$/ 15/\r');
  await terminal.shows(/"timeoutSeconds": 15/);
  show(terminal, 'The user edits the proposal, and accepts it with :w.');
  terminal.send(':w\r');
  await terminal.shows(/That was all\./);
  show(terminal, 'Gemini CLI has written the file with the user’s change.');
  assert.equal(fs.readFileSync(file, 'utf8'), EDITED);
} finally {
  await sandbox.close();
}
