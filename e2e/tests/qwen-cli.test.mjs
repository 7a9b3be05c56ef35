// Tests the installed Qwen Code in an ordinary terminal, with a scripted model.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { proposeEdit } from '../lib/cli-edit.mjs';
import { Companion } from '../lib/companion.mjs';
import { Editor } from '../lib/editor.mjs';
import { works } from '../lib/mounted.mjs';
import { QWEN, environment, overwrites, prepare, qwenHome } from '../lib/qwen-code.mjs';
import { skipWithout } from '../lib/requirement.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { startModel } from '../lib/scripted-model.mjs';
import { noTerminal as skip, Terminal } from '../lib/terminal.mjs';

/** A window of a Qwen Code user with these settings. */
async function openWindow(t, settings) {
  const sandbox = Sandbox.of(t);
  prepare(qwenHome(sandbox), settings);
  const companion = await Companion.start(sandbox, { args: ['--ide-display-name', 'Editor'] });
  return { sandbox, companion, editor: new Editor(companion) };
}

/** Starts the CLI in the project, up to its prompt. */
async function startCli({ sandbox }, steps = []) {
  const env = environment(await startModel(sandbox, steps));
  const terminal = new Terminal(sandbox, [process.execPath, QWEN], { cwd: sandbox.project, env });
  await terminal.shows(/Type your message/);
  return terminal;
}

async function startProposal(t) {
  const window = await openWindow(t);
  const start = (file) => startCli(window, overwrites(file, 'proposed\n'));
  return proposeEdit(window, start, /Apply this change\?[^]*allow once/);
}

describe('in any terminal', { skip }, () => {
  test('the CLI shows the editor’s name and its open files', async (t) => {
    const window = await openWindow(t);
    const { sandbox, companion } = window;
    companion.notify('editor/focused', { path: sandbox.file('a.txt') });
    const terminal = await startCli(window);
    await companion.next('companion/sessions');
    await terminal.enter('/ide status');
    await terminal.shows(/✓ Connected to Editor\s+Open files:\s+- a\.txt \(active\)/);
  });

  test('the IDE mode is switched on by a command', async (t) => {
    const terminal = await startCli(await openWindow(t, { ide: {} }));
    await terminal.enter('/ide status');
    await terminal.shows(/Disconnected: IDE integration is currently disabled\./);
    await terminal.enter('/ide enable');
    await terminal.shows(/Connected to Editor/);
  });

  test('the CLI has no IDE mode while its tools run in a sandbox', async (t) => {
    const hasBwrap = works(['bwrap', '--ro-bind', '/', '/']);
    const noSandbox = skipWithout(!hasBwrap && 'bwrap does not work here');
    if (noSandbox) return t.skip(noSandbox);
    const executionSandbox = { filesystem: 'workspace-write', network: 'closed' };
    const terminal = await startCli(await openWindow(t, { tools: { executionSandbox } }));
    await terminal.enter('/ide status');
    await terminal.shows(/Unknown command: \/ide status/);
  });

  test('the CLI writes its edit with the user’s changes from the editor', async (t) => {
    const { editor, terminal, file, read } = await startProposal(t);
    editor.accept(file, 'changed by the user\n');
    await terminal.shows(/✓ WriteFile[^]*\+ changed by the user[^]*That was all\./);
    assert.equal(read(), 'changed by the user\n');
  });

  /** It would write an empty text. */
  test('a command that edits a file writes the proposal if it is accepted unchanged', async (t) => {
    const window = await openWindow(t);
    const file = window.sandbox.file('a.txt', 'one\ntwo\n');
    const command = `sed -i 's/two/TWO/' ${file}`;
    const terminal = await startCli(window, [
      { name: 'read_file', args: { file_path: file } },
      { name: 'run_shell_command', args: { command, is_background: false } },
      'That was all.',
    ]);
    await window.companion.next('companion/sessions');
    await terminal.enter('edit it');
    await window.editor.view(file);
    window.editor.accept(file);
    await terminal.shows(/That was all\./);
    assert.equal(fs.readFileSync(file, 'utf8'), 'one\nTWO\n');
  });

  test('the CLI does not write text that the user has deleted, not even all of it', async (t) => {
    const { editor, terminal, file, read } = await startProposal(t);
    editor.accept(file, '');
    await terminal.shows(/✓ WriteFile[^]*That was all\./);
    assert.equal(read(), '\n', 'an empty text would mean “unchanged” to the CLI');
  });

  test('the CLI does not change a file whose edit was rejected in the editor', async (t) => {
    const { editor, terminal, file, read } = await startProposal(t);
    editor.reject(file);
    await terminal.shows(/- WriteFile Writing to a\.txt/);
    assert.equal(read(), 'old\n');
  });

  // It does not wait for the answer to closeDiff, where Gemini CLI does.
  test('an edit that is allowed in the terminal is the model’s, and its view closes', async (t) => {
    const { editor, terminal, file, read } = await startProposal(t);
    editor.edit(file, 'typed in the view\n');
    terminal.press('Enter');
    assert.equal(await editor.closed.next(), file);
    await terminal.shows(/✓ WriteFile[^]*That was all\./);
    assert.equal(read(), 'proposed\n');
  });
});
