// Tests the installed Qwen Code in an ordinary terminal, with a scripted model.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { BY, startCli } from '../lib/extension.mjs';
import { works } from '../lib/mounted.mjs';
import { overwrites } from '../lib/qwen-code.mjs';
import { skipWithout } from '../lib/requirement.mjs';
import { openWindow } from '../lib/scene.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';

const read = (file) => fs.readFileSync(file, 'utf8');

/** A window, in which Qwen Code starts later. */
const open = (t) => openWindow(t, { args: ['--ide-display-name', 'Editor'] });

/** Starts the CLI without the extension and with these settings. */
async function start({ sandbox }, steps, settings, env) {
  const options = { env, by: BY.nothing, review: true, settings };
  const { terminal } = await startCli(sandbox, 'qwen', steps, options);
  return terminal;
}

describe('in any terminal', { skip }, () => {
  test('IDE mode is switched on by a command, the CLI knows the editor’s files, and its edits are decided in both', async (t) => {
    const window = await open(t);
    const { sandbox, companion, editor } = window;
    const names = ['changed', 'emptied', 'shell', 'allowed', 'rejected'];
    const [changed, emptied, shell, allowed, rejected] = names.map((name) =>
      sandbox.file(name, 'one\ntwo\n'),
    );
    const proposes = (file) => overwrites(file, 'proposed\n').slice(0, 2);
    const command = `sed -i 's/two/TWO/' ${shell}`;
    companion.notify('editor/focused', { path: changed });
    const steps = [
      ...[changed, emptied].flatMap(proposes),
      { name: 'read_file', args: { file_path: shell } },
      { name: 'run_shell_command', args: { command, is_background: false } },
      ...[allowed, rejected].flatMap(proposes),
    ];
    // It starts a second time, for more memory.
    const terminal = await start(window, steps, { ide: {} }, { QWEN_CODE_NO_RELAUNCH: undefined });
    await terminal.enter('/ide status');
    await terminal.shows(/Disconnected: IDE integration is currently disabled\./);
    await terminal.enter('/ide enable');
    await terminal.shows(/Connected to Editor/);
    await companion.next('companion/clients');
    await terminal.enter('/ide status');
    await terminal.shows(/✓ Connected to Editor\s+Open files:\s+- changed \(active\)/);

    await terminal.enter('edit them');
    assert.equal((await editor.view(changed)).newContent, 'proposed\n');
    editor.accept(changed, 'changed by the user\n');
    await terminal.shows(/✓ WriteFile[^]*\+ changed by the user/);
    assert.equal(read(changed), 'changed by the user\n');

    await editor.view(emptied);
    editor.accept(emptied, '');
    await editor.view(shell);
    assert.equal(read(emptied), '\n', 'an empty text would mean “unchanged” to the CLI');
    editor.accept(shell); // unchanged, where the CLI would write an empty text

    // The CLI does not wait for the answer to closeDiff, where Gemini CLI does.
    await editor.view(allowed);
    assert.equal(read(shell), 'one\nTWO\n', 'a command writes the proposal');
    await terminal.shows(/Writing to allowed[^]*Apply this change\?[^]*allow once/);
    editor.edit(allowed, 'typed in the view\n');
    terminal.press('Enter');
    assert.equal(await editor.closed.next(), allowed);

    await editor.view(rejected);
    assert.equal(read(allowed), 'proposed\n', 'the edit is the model’s');
    editor.reject(rejected);
    await terminal.shows(/- WriteFile Writing to rejected/);
    assert.equal(read(rejected), 'one\ntwo\n');
  });

  test('the CLI has no IDE mode while its tools run in a sandbox', async (t) => {
    const hasBwrap = works(['bwrap', '--ro-bind', '/', '/']);
    const noSandbox = skipWithout(!hasBwrap && 'bwrap does not work here');
    if (noSandbox) return t.skip(noSandbox);
    const executionSandbox = { filesystem: 'workspace-write', network: 'closed' };
    const terminal = await start(await open(t), [], { tools: { executionSandbox } });
    await terminal.enter('/ide status');
    await terminal.shows(/Unknown command: \/ide status/);
  });
});
