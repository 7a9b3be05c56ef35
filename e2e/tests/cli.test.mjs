// Tests the installed Gemini CLI in a terminal of the editor, with a scripted model.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { bridgeEnv, byDiscovery } from '../lib/bridge.mjs';
import { write } from '../lib/conversation.mjs';
import { BY, startCli } from '../lib/extension.mjs';
import { openWindow } from '../lib/scene.mjs';
import { noTerminal } from '../lib/terminal.mjs';

const read = (file) => fs.readFileSync(file, 'utf8');

/** Starts the CLI without the extension. */
async function start({ sandbox }, env, steps) {
  const options = { env, by: BY.nothing, review: true };
  const { terminal } = await startCli(sandbox, 'gemini', steps, options);
  return terminal;
}

describe('in a terminal of the editor', { skip: noTerminal }, () => {
  test('the CLI shows the editor and its files, and its edits are decided in both', async (t) => {
    const window = await openWindow(t, { args: ['--ide-display-name', 'Editor under Test'] });
    const { sandbox, companion, editor } = window;
    const [rejected, allowed] = ['rejected', 'allowed'].map((name) => sandbox.file(name, 'old\n'));
    const edits = [rejected, allowed].map((file) => write(file, 'proposed\n'));
    companion.notify('editor/focused', { path: rejected });
    const terminal = await start(window, companion.ready.env, [...edits, 'That was all.']);
    await terminal.shows(/1 open file /);
    await terminal.enter('/ide status');
    await terminal.shows(/🟢 Connected to Editor under Test/);

    await terminal.enter('write it');
    await terminal.shows(/Apply this change\?[^]*Allow once/);
    assert.equal((await editor.view(rejected)).newContent, 'proposed\n');
    editor.reject(rejected);
    await terminal.shows(/rejected → Rejected[^]*Request cancelled\./);
    assert.equal(read(rejected), 'old\n');

    await terminal.enter('write another');
    await terminal.shows(/Apply this change\?[^]*Allow once/);
    await editor.view(allowed);
    editor.edit(allowed, 'typed in the view\n');
    terminal.press('Enter');
    assert.equal(await editor.closed.next(), allowed);
    await terminal.shows(/allowed → Accepted[^]*That was all\./);
    assert.equal(read(allowed), 'typed in the view\n');
  });
});

describe('over a bridge', { skip: noTerminal }, () => {
  test('whose companion has ended, the CLI writes an edit that is allowed in the terminal', async (t) => {
    const window = await openWindow(t);
    const { sandbox, companion } = window;
    const file = sandbox.file('a.txt', 'old\n');
    companion.notify('editor/focused', { path: file });
    const bridge = bridgeEnv(sandbox, [...byDiscovery(sandbox), '--wait', '1']);
    const env = { ...bridge, TERMINAL_EMULATOR: 'JetBrains-JediTerm' }; // the other mark is tmux's own
    const terminal = await start(window, env, [write(file, 'proposed\n'), 'That was all.']);
    await terminal.shows(/1 open file /);
    await companion.kill();
    await terminal.shows(/^(?![^]*1 open file )/); // by then the bridge waits for none any more
    await terminal.enter('write it');
    await terminal.shows(/Apply this change\?[^]*Allow once/);
    terminal.press('Enter');
    await terminal.shows(/a\.txt → Accepted[^]*That was all\./);
    assert.equal(read(file), 'proposed\n');
  });
});
