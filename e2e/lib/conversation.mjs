// Starts a CLI with the extension, and knows the words that its model gets of the user.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { pathWith, startCli } from './extension.mjs';
import { until } from './inbox.mjs';
import { isSaved } from './notes.mjs';
import { openWindow } from './scene.mjs';

export const REASON = 'Use the name <seven>, please.';

export const replace = (file_path, old_string = 'two', new_string = 'TWO') => ({
  name: 'replace',
  args: { file_path, old_string, new_string, instruction: 'rename it' },
});
/** The same as a call of Qwen Code. */
export const edit = (...args) => ({ ...replace(...args), name: 'edit' });
export const look = (file_path) => ({ name: 'read_file', args: { file_path } });
export const write = (file_path, content = 'other\n') => ({
  name: 'write_file',
  args: { file_path, content },
});
export const shell = (command) => ({
  name: 'run_shell_command',
  args: { command, description: 'x' },
});

export const read = (file) => fs.readFileSync(file, 'latin1');
export const time = (file) => fs.statSync(file).mtimeMs;

/**
 * A CLI with the extension, at its prompt. `files` are the texts of the project's files by their
 * names; `steps` returns the model's answers for the paths. `before(window)` is a shell script that
 * runs before each hook.
 */
export async function open(t, files, steps, options = {}) {
  const { serve, name = 'gemini', before, ...others } = options;
  const window = await openWindow(t, { args: serve });
  const { sandbox, companion } = window;
  const paths = Object.entries(files).map(([name, text]) => [name, sandbox.file(name, text)]);
  const file = Object.fromEntries(paths);
  const all = { env: companion.ready.env, review: true, ...others };
  if (before) all.PATH = pathWith(wrap(sandbox, before(window)));
  const cli = await startCli(sandbox, name, steps(file), all);
  await companion.next('companion/clients');
  return { ...window, ...cli, file };
}

/** Makes a program for the hooks that runs a shell script first. Returns its folder. */
function wrap(sandbox, script) {
  const folder = sandbox.folder('wrapped');
  const program = path.resolve(process.env.GEMINI_COMPANION);
  const text = `#!/bin/sh\n${script}\nexec '${program}' "$@"\n`;
  fs.writeFileSync(path.join(folder, 'gemini-companion'), text, { mode: 0o755 });
  return folder;
}

/** The reason as the model gets it in place of the result. */
export const inPlaceOfResult = (file, reason = REASON) =>
  `The user rejected this edit of ${file}, and the file was not changed. ` +
  `The user's reason: ${reason}`;

/** The reason as the model gets it with a prompt. */
export const withPrompt = (name, reason = REASON) =>
  `<hook_context>The user rejected your last edit of ${name}, and the file was not changed. ` +
  `The user's reason: ${reason.replace('<', '&lt;').replace('>', '&gt;')}</hook_context>`;

/** Rejects the edit of a prompt that ends the CLI's turn. */
export async function rejectTurn({ terminal, editor }, prompt, path) {
  await terminal.enter(prompt);
  await editor.view(path);
  editor.reject(path, REASON);
  await terminal.shows(new RegExp(`${prompt}[^]*Request cancelled`));
}

export const comment = (path, id = '1') => ({
  ...{ id, path, line: 2, endLine: 2, content: 'two', text: `rename it ${id}` },
});
export const commentOf = (id) => commentsOf([id]);

export const commentsOf = (ids) =>
  ['The user commented on these lines:', ...ids.map((id) => `- a, line 2 (\`two\`): rename it ${id}`)].join('\n');

/** Waits until the companion knows that the files of the last comments may be shared. */
export async function untilChecked({ companion, sandbox }) {
  companion.notify('comment/set', comment(`${sandbox.home}/outside`, 'outside'));
  const { params } = await companion.next('comment/refused');
  assert.match(params.reason, /lies outside of the workspace/);
}

/** Waits until a text of a note outlives its companion, which saves its state a moment later. */
export const untilSaved = (sandbox, { text }) =>
  until('the note is saved', () => isSaved({ sandbox }, text));
