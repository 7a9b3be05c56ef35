// Tests how the CLIs write an accepted edit whose file has changed. The IDE's warning before such
// an acceptance relies on this.

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

const replacement = { old_string: 'two', new_string: 'TWO' };
const TOOLS = {
  gemini: {
    write_file: { content: PROPOSED },
    replace: { ...replacement, instruction: 'say it louder' },
  },
  qwen: { write_file: { content: PROPOSED }, edit: replacement },
};

/** Makes the CLI propose an edit, which is accepted as `text` after the file is `changed` or gone. */
async function accept(t, name, tool, changed, text) {
  const { sandbox, companion, editor } = await openWindow(t);
  qwenHome(sandbox);
  const file = sandbox.file('a.txt', OLD);
  const steps = [
    { name: 'read_file', args: { file_path: file } },
    { name: tool, args: { file_path: file, ...TOOLS[name][tool] } },
    'That was all.',
  ];
  const { terminal, heard } = await startCli(sandbox, name, steps, { review: true, by() {} });
  await companion.next('companion/sessions');
  await terminal.enter('edit it');
  await terminal.shows(/Apply this change\?[^]*llow once/);
  assert.equal((await editor.view(file)).newContent, PROPOSED);
  if (changed === undefined) fs.rmSync(file);
  else fs.writeFileSync(file, changed);
  editor.accept(file, text);
  await terminal.shows(/That was all\./);
  return { now: fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined, heard: heard().at(-1) };
}

describe('a file that has changed meanwhile', { skip }, () => {
  for (const [how, text] of [
    ['as it came', PROPOSED],
    ['as edited', EDITED],
  ]) {
    for (const tool of Object.keys(TOOLS.gemini)) {
      const isMerged = tool === 'replace' && text === PROPOSED;
      const what = isMerged ? 'keeps the change with' : 'is written as a whole by';
      test(`${what} Gemini CLI’s ${tool}, accepted ${how}`, async (t) => {
        const { now } = await accept(t, 'gemini', tool, CHANGED, text);
        assert.equal(now, isMerged ? `${PROPOSED}four, by hand\n` : text);
      });
    }
    for (const tool of Object.keys(TOOLS.qwen)) {
      test(`is left alone by Qwen Code’s ${tool}, accepted ${how}`, async (t) => {
        const { now, heard } = await accept(t, 'qwen', tool, CHANGED, text);
        assert.equal(now, CHANGED);
        assert.match(heard, /has been modified since you last read it/);
        assert.doesNotMatch(heard, /mine/, 'what the user wrote');
      });
    }
  }

  test('and is gone is created by all but Qwen Code’s edit', async (t) => {
    for (const [name, tools] of Object.entries(TOOLS)) {
      for (const tool of Object.keys(tools)) {
        await t.test(`${name} ${tool}`, async (t) => {
          const { now } = await accept(t, name, tool, undefined, EDITED);
          assert.equal(now, tool === 'edit' ? undefined : EDITED);
        });
      }
    }
  });
});
