// Tests the extension in the real CLIs: their models get the editor's problems.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { BROKEN, BY, NAMES, breakAndAsk, pathWith, startCli } from '../lib/extension.mjs';
import { skipWithout } from '../lib/requirement.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { openWindow } from '../lib/scene.mjs';
import { noTerminal } from '../lib/terminal.mjs';

/** Where `cargo xtask test` has packed it as for a release. */
const ARCHIVES = process.env.COMPANION_EXTENSION;
const noArchives = skipWithout(!ARCHIVES && 'COMPANION_EXTENSION is not set');

/** Makes the model of a CLI break a file, and asserts that it gets the problems both times. */
async function assertGetsProblems(t, name, options) {
  const { sandbox } = await openWindow(t);
  const file = sandbox.file('a.json', '{}\n');
  const { edit, asked } = await breakAndAsk(sandbox, name, file, options);
  const problem = `${file}:1:1: error: a value is expected [JSON]`;
  const note = `<hook_context>The user's editor shows these problems after the edit:\n${problem}`;
  assert.ok(edit.includes(name === 'gemini' ? note : problem), edit);
  assert.ok(asked.includes(problem), asked);
}

test('the extension checks the edit with the user’s changes', { skip: noTerminal }, async (t) => {
  const { sandbox, companion, editor } = await openWindow(t);
  const file = path.join(sandbox.project, 'a.json');
  const call = { name: 'write_file', args: { file_path: file, content: '{}\n' } };
  const options = { env: companion.ready.env, review: true };
  const { terminal, results } = await startCli(sandbox, 'gemini', [call, 'That was all.'], options);
  await companion.next('companion/clients');
  await terminal.enter('write it');
  await editor.view(file);
  editor.accept(file, BROKEN);
  await terminal.shows(/That was all\./);
  assert.equal(fs.readFileSync(file, 'utf8'), BROKEN);
  assert.match(results()[0], /<hook_context>[^]*a\.json:1:1: error: a value is expected/);
});

for (const name of NAMES) {
  describe(`the extension in ${name}`, { skip: noTerminal }, () => {
    test('is installed from a release', { skip: noArchives }, (t) =>
      assertGetsProblems(t, name, { by: BY.archive(path.join(ARCHIVES, 'linux.gemini-companion.zip')) }));

    test('is installed by setup, and runs a program outside of PATH', (t) =>
      assertGetsProblems(t, name, { by: BY.setup, PATH: pathWith() }));

    test('an edit is as ever where the program is not installed, or older than the extension', async (t) => {
      const sandbox = Sandbox.of(t);
      const folder = sandbox.folder('older');
      const files = ['a.json', 'b.json'].map((name) => path.join(sandbox.project, name));
      const calls = files.map((file_path) => ({
        name: 'write_file',
        args: { file_path, content: BROKEN },
      }));
      const steps = [calls[0], 'That was the first.', calls[1], 'That was the second.'];
      const { terminal, results } = await startCli(sandbox, name, steps, { PATH: pathWith(folder) });
      await terminal.enter('write it');
      await terminal.shows(/That was the first\./);
      assert.equal(fs.readFileSync(files[0], 'utf8'), BROKEN);
      assert.doesNotMatch(results()[0], /hook|blocked|not found/);
      assert.doesNotMatch(terminal.screen(), /blocked|not found|failed/);

      const script = "#!/bin/sh\necho \"error: unrecognized subcommand '$1'\" >&2\nexit 2\n";
      fs.writeFileSync(path.join(folder, 'gemini-companion'), script, { mode: 0o755 });
      await terminal.enter('write another');
      await terminal.shows(/That was the second\./);
      assert.equal(fs.readFileSync(files[1], 'utf8'), BROKEN);
      assert.doesNotMatch(results()[1], /hook|blocked|unrecognized/);
    });
  });
}
