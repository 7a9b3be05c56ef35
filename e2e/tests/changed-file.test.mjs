// Tests how Qwen Code writes an accepted edit whose file has changed. The IDE's warning before such
// an acceptance relies on this. `acceptance.test.mjs` tests the same with Gemini CLI.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { startCli } from '../lib/extension.mjs';
import { qwenHome } from '../lib/qwen-code.mjs';
import { openWindow } from '../lib/scene.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';

const OLD = 'one\ntwo\nthree\n';
const PROPOSED = 'one\nTWO\nthree\n';
/** Away from the edit, so that both could be had. */
const CHANGED = `${OLD}four, by hand\n`;
const EDITED = `${PROPOSED}mine\n`;

const TOOLS = {
  write_file: { content: PROPOSED },
  edit: { old_string: 'two', new_string: 'TWO' },
};

/** Makes Qwen Code propose an edit, which is accepted as `text` after the file is `changed` or gone. */
async function accept(t, tool, changed, text) {
  const { sandbox, companion, editor } = await openWindow(t);
  qwenHome(sandbox);
  const file = sandbox.file('a.txt', OLD);
  const steps = [
    { name: 'read_file', args: { file_path: file } },
    { name: tool, args: { file_path: file, ...TOOLS[tool] } },
    'That was all.',
  ];
  const { terminal, results } = await startCli(sandbox, 'qwen', steps, { review: true, by() {} });
  await companion.next('companion/sessions');
  await terminal.enter('edit it');
  await terminal.shows(/Apply this change\?[^]*llow once/);
  assert.equal((await editor.view(file)).newContent, PROPOSED);
  if (changed === undefined) fs.rmSync(file);
  else fs.writeFileSync(file, changed);
  editor.accept(file, text);
  await terminal.shows(/That was all\./);
  return { now: fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined, result: results().at(-1) };
}

describe('a file that has changed meanwhile', { skip }, () => {
  for (const [tool, how, text] of [
    ['edit', 'as it came', PROPOSED],
    ['write_file', 'as edited', EDITED],
  ]) {
    test(`is left alone by Qwen Code’s ${tool}, accepted ${how}`, async (t) => {
      const { now, result } = await accept(t, tool, CHANGED, text);
      assert.equal(now, CHANGED);
      assert.match(result, /has been modified since you last read it/);
      assert.doesNotMatch(result, /mine/, 'what the user wrote');
    });
  }

  for (const [tool, expected] of [
    ['write_file', EDITED],
    ['edit', undefined],
  ]) {
    test(`and is gone is ${expected ? 'created' : 'left alone'} by Qwen Code’s ${tool}`, async (t) => {
      assert.equal((await accept(t, tool, undefined, EDITED)).now, expected);
    });
  }
});
