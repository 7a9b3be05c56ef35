// Plays the main job without an IDE: the real Gemini CLI in a terminal of Neovim, with a scripted
// model and a scripted user. It prints and draws each screen; the exit code shows success.
//
//   GEMINI_COMPANION=PROGRAM COMPANION_NEOVIM=PROGRAM node demo-quick.mjs PICTURES

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { prepareCli } from './lib/extension.mjs';
import { until } from './lib/inbox.mjs';
import { NEOVIM, writeConfig } from './lib/neovim.mjs';
import { Sandbox } from './lib/sandbox.mjs';
import { drawTerminal } from './lib/terminal-picture.mjs';
import { Terminal } from './lib/terminal.mjs';

const [pictures] = process.argv.slice(2);
const FILE = '{\n  "host": "localhost",\n  "port": 8080,\n  "timeoutSeconds": 30\n}\n';
const FIRST = FILE.replace('"localhost"', '"0.0.0.0"').replace('30', '0');
const REASON = 'Zero means no limit. Use 5 seconds.';
const PROPOSAL = FIRST.replace('0\n', '5\n');
const COMMENT = 'Is this port free?';
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
  const write = (content) => ({ name: 'write_file', args: { file_path: file, content } });
  const steps = [write(FIRST), write(PROPOSAL), 'That was all.'];
  const { command, env, heard } = await prepareCli(sandbox, 'gemini', steps, { review: true });
  // Neovim must not have these variables: it would take itself for a child of a CLI.
  const variables = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const program = path.join(sandbox.root, 'gemini');
  const script = ['#!/bin/sh', [...variables, ...command].join(' '), ''].join('\n');
  fs.writeFileSync(program, script, { mode: 0o755 });
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
  await terminal.shows(/The file as it is[^]*"timeoutSeconds": 0\n/);
  show(terminal, 'The user opens the proposal beside the file.');
  terminal.send('\\c');
  await terminal.shows(/Reason/);
  terminal.send(REASON);
  show(terminal, 'The user rejects it, and says why.');
  terminal.send('\r');
  await terminal.shows(/Apply this change\?[^]*|"timeoutSeconds": 5/);
  await until('the model hears the reason', () => heard().length > 0);
  console.log(`\nThe model hears: ${heard()[0]}`);
  assert.ok(heard()[0].endsWith(REASON));
  terminal.send('\x1c\x0e:GeminiCompanion show\r');
  await terminal.shows(/The file as it is[^]*"timeoutSeconds": 5\n/);
  show(terminal, 'The model goes on, and proposes the edit again.');
  terminal.send(':%s/ 5$/ 15/\r');
  await terminal.shows(/"timeoutSeconds": 15/);
  show(terminal, 'The user edits the proposal.');
  terminal.send('/port\r\\m');
  await terminal.shows(/Comment on line 3:/);
  terminal.send(`${COMMENT}\r`);
  await terminal.shows(/8080,.*Is this port/);
  show(terminal, 'The user comments on a line, and accepts the proposal with :w.');
  terminal.send(':w\r');
  await terminal.shows(/That was all\./);
  show(terminal, 'Gemini CLI has written the file with the user’s change. The model has the comment.');
  const [, result] = heard();
  console.log(`\nThe model hears: ${result.slice(result.indexOf('The user commented'))}`);
  assert.ok(result.endsWith(`- shop.json, line 3 (\`"port": 8080,\`): ${COMMENT}</hook_context>`), result);
  assert.equal(fs.readFileSync(file, 'utf8'), EDITED);
} finally {
  await sandbox.close();
}
