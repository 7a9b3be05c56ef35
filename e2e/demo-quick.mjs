// Plays the main job without an IDE: the real Gemini CLI in one terminal, Neovim in another, a
// scripted model and a scripted user. It prints and draws each step; the exit code shows success.
//
//   GEMINI_COMPANION=PROGRAM COMPANION_NEOVIM=PROGRAM node demo-quick.mjs PICTURES [SCREENSHOTS]
//
// SCREENSHOTS gets the recording and the picture of Neovim for the documents.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { prepareCli } from './lib/extension.mjs';
import { until } from './lib/inbox.mjs';
import { NEOVIM, writeConfig } from './lib/neovim.mjs';
import { recordTexts } from './lib/picture-texts.mjs';
import { Sandbox } from './lib/sandbox.mjs';
import { drawFrames } from './lib/terminal-picture.mjs';
import { Terminal } from './lib/terminal.mjs';

const [pictures, screenshots] = process.argv.slice(2);
const FILE = '{\n  "host": "localhost",\n  "port": 8080,\n  "timeoutSeconds": 30\n}\n';
const FIRST = FILE.replace('"localhost"', '"0.0.0.0"').replace('30', '0');
const REASON = 'Zero means no limit. Use 5 seconds.';
const PROPOSAL = FIRST.replace('0\n', '5\n');
const COMMENT = 'Is this port free?';
const EDITED = PROPOSAL.replace('5\n', '15\n');
const README = '# Coffee shop\n\nThe shop listens on 0.0.0.0:443.\n';
const COLUMNS = 100;
const [EDITOR_ROWS, CLI_ROWS] = [16, 20];

const sandbox = new Sandbox();
const frames = [];
let editor;
let cli;

/** Hides parts of the CLI's screen that are not about the review. */
function useQuietScreen(file) {
  const settings = JSON.parse(fs.readFileSync(file, 'utf8'));
  const hidden = { hideBanner: true, hideTips: true, hideFooter: true, showShortcutsHint: false };
  settings.ui = { ...settings.ui, ...hidden };
  fs.writeFileSync(file, JSON.stringify(settings));
}

/** Prints both screens, and keeps them as a frame of the recording. */
function show(caption, seconds) {
  // Neovim marks lines after the end of a text by a tilde.
  const lines = (terminal) => terminal.screen().split('\n').filter((line) => !/^~[ │~]*$/.test(line));
  const print = (title, terminal) => `  ┌ ${title}\n${lines(terminal).map((line) => `  │ ${line}`).join('\n')}`;
  console.log(`\n${caption}\n${print('Neovim', editor)}\n${print('Gemini CLI', cli)}`);
  const window = (title, terminal, rows) => ({ title, screen: terminal.coloredScreen(), columns: COLUMNS, rows });
  const windows = [window('Neovim', editor, EDITOR_ROWS), window('gemini', cli, CLI_ROWS)];
  frames.push({ caption, seconds, windows, shown: editor.screen() });
}

/** Types into Neovim, and shows the text while it grows. */
async function type(text, caption, seconds) {
  const words = text.split(/(?<= )/);
  for (const [index, word] of words.entries()) {
    editor.send(word);
    const typed = words.slice(0, index + 1).join('').trimEnd();
    await editor.shows(typed.slice(-30));
    show(caption, seconds / words.length);
  }
}

/** Writes the frames as pictures, and for the documents as a recording and a picture. */
function write() {
  fs.mkdirSync(pictures, { recursive: true });
  frames.forEach((frame, index) => {
    fs.writeFileSync(path.join(pictures, `quick-${index + 1}.svg`), drawFrames([frame]));
  });
  if (!screenshots) return;
  fs.writeFileSync(path.join(screenshots, 'review.svg'), drawFrames(frames));
  recordTexts(screenshots, 'review', 'neovim', frames.map(({ shown }) => shown));
  const proposal = frames.find(({ shown }) => /"timeoutSeconds": 0\n?/.test(shown));
  const still = { ...proposal, windows: proposal.windows.slice(0, 1) };
  fs.writeFileSync(path.join(screenshots, 'neovim.svg'), drawFrames([still]));
  recordTexts(screenshots, 'neovim', 'neovim', [proposal.shown]);
}

try {
  const file = sandbox.file('shop.json', FILE);
  const write_file = (file_path, content) => ({ name: 'write_file', args: { file_path, content } });
  const readme = path.join(sandbox.project, 'README.md');
  const steps = [
    write_file(file, FIRST),
    write_file(file, PROPOSAL),
    'The shop listens on all addresses. Port 8080 is free.',
    [write_file(readme, README), write_file(file, EDITED.replace('8080', '443'))],
    'The shop has a README, and listens on 443.',
  ];
  const { command, env, results } = await prepareCli(sandbox, 'gemini', steps, { review: true });
  useQuietScreen(path.join(sandbox.home, '.gemini', 'settings.json'));
  const config = writeConfig(sandbox, `vim.o.statusline = ' %t %m'; vim.o.termguicolors = true; vim.o.hlsearch = false`);
  editor = new Terminal(sandbox, [NEOVIM, '-u', config, '-i', 'NONE', 'shop.json'], {
    cwd: sandbox.project,
    name: 'editor',
    columns: COLUMNS,
    rows: EDITOR_ROWS,
  });
  await editor.shows(/"timeoutSeconds": 30/);
  const discovery = path.join(sandbox.tmp, 'gemini', 'ide');
  await until('Neovim starts a companion', () => fs.existsSync(discovery) && fs.readdirSync(discovery).length > 0);
  cli = new Terminal(sandbox, command, {
    cwd: sandbox.project,
    env: { ...env, COLORTERM: 'truecolor' },
    name: 'cli',
    columns: COLUMNS,
    rows: CLI_ROWS,
  });
  await cli.shows(/1 open file [^]*Type your message/);
  await cli.type('listen on all addresses');
  await cli.shows(/^(?![^]*Executing Hook)/);
  show('Gemini CLI sees the open file in Neovim. Ask it for an edit.', 2.5);
  await cli.submit();
  await cli.shows(/"timeoutSeconds": 0[^]*Apply this change\?/);
  await editor.shows(/"timeoutSeconds": 0\n/);
  show('The proposed edit opens in Neovim.', 3);

  editor.send('\\c');
  await editor.shows(/Reason/);
  await type(REASON, 'Reject it, and say why: \\c', 2.5);
  editor.send('\r');
  await until('the model gets the reason', () => results().length > 0);
  console.log(`\nThe model gets: ${results()[0]}`);
  assert.ok(results()[0].endsWith(REASON));
  await editor.shows(/"timeoutSeconds": 5\n/);
  await cli.shows(/"timeoutSeconds": 5[^]*Apply this change\?/);
  show('Gemini CLI carries on, without a new prompt, and proposes 5 seconds.', 3);

  editor.send(':%s/ 5$/ 15/\r');
  await editor.shows(/"timeoutSeconds": 15/);
  show('Change the proposal as you like.', 2);
  editor.send('/port\r\\m');
  await editor.shows(/Comment on line 3:/);
  await type(COMMENT, 'Comment on a line: \\m', 1.5);
  editor.send('\r');
  await editor.shows(/8080,.*Is this port/);
  show('The model gets the comment with the result of its edit.', 2);
  editor.send(':w\r');
  await cli.shows(/^(?![^]*Executing Hook)[^]*The shop listens/);
  await editor.shows(/"timeoutSeconds": 15/);
  show('Accept with :w. Gemini CLI writes the file with your change.', 2.5);
  const [, result] = results();
  console.log(`\nThe model gets: ${result.slice(result.indexOf('The user commented'))}`);
  assert.ok(result.endsWith(`- shop.json, line 3 (\`"port": 8080,\`): ${COMMENT}</hook_context>`), result);
  assert.equal(fs.readFileSync(file, 'utf8'), EDITED);

  cli.press('C-y');
  await cli.shows(/YOLO/);
  await cli.enter('use the usual port');
  await cli.shows(/^(?![^]*Executing Hook)[^]*The shop has a README/);
  await editor.shows(/443/);
  show('In YOLO mode Gemini CLI changes files without a question.', 2.5);
  editor.send(':GeminiCompanion changes\r');
  await editor.shows(/README\.md.*\+3/);
  show('Neovim lists the edits of the prompt …', 3);
  editor.send(':GeminiCompanion revert prompt\r');
  await editor.shows(/Revert all 2 files\?/);
  show('… and reverts them, after a question.', 2);
  editor.send('A');
  await editor.shows(/reverted[^]*"port": 8080|"port": 8080[^]*reverted/);
  show('… and reverts them, after a question.', 3);
  assert.equal(fs.readFileSync(file, 'utf8'), EDITED);
  assert.ok(!fs.existsSync(readme));
} finally {
  await sandbox.close();
}
write();
