// Tests how Qwen Code writes an accepted edit whose file has changed. The IDE's warning before such
// an acceptance relies on this. `acceptance.test.mjs` tests the same with Gemini CLI.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

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

/** Each file, named after the tool of its edit and its state, with the accepted text. */
const FILES = {
  'edit-changed': PROPOSED,
  'write_file-changed': EDITED,
  'edit-gone': EDITED,
  'write_file-gone': EDITED,
};

test(
  'Qwen Code leaves a file alone that has changed meanwhile, and creates one that is gone only by write_file',
  { skip },
  async (t) => {
    const { sandbox, companion, editor } = await openWindow(t);
    qwenHome(sandbox);
    const names = Object.keys(FILES);
    const pathOf = (name) => path.join(sandbox.project, name);
    const steps = [
      ...names.map((name) => ({ name: 'read_file', args: { file_path: sandbox.file(name, OLD) } })),
      ...names.map((name) => {
        const [tool] = name.split('-');
        return { name: tool, args: { file_path: pathOf(name), ...TOOLS[tool] } };
      }),
      'That was all.',
    ];
    const { terminal, results } = await startCli(sandbox, 'qwen', steps, { review: true, by() {} });
    await companion.next('companion/clients');
    await terminal.enter('edit them');
    for (const name of names) {
      await terminal.shows(new RegExp(`${name}[^]*Apply this change\\?[^]*llow once`));
      assert.equal((await editor.view(pathOf(name))).newContent, PROPOSED);
      if (name.endsWith('gone')) fs.rmSync(pathOf(name));
      else fs.writeFileSync(pathOf(name), CHANGED);
      editor.accept(pathOf(name), FILES[name]);
    }
    await terminal.shows(/That was all\./);
    const now = names.map((name) => {
      const file = pathOf(name);
      return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
    });
    assert.deepEqual(now, [CHANGED, CHANGED, undefined, EDITED]);
    for (const result of results().slice(names.length, names.length + 2)) {
      assert.match(result, /has been modified since you last read it/);
      assert.doesNotMatch(result, /mine/, 'what the user wrote');
    }
  },
);
