// Checks the file and the model's history after an acceptance, with the real core of Gemini CLI.
// `nvim-content.test.mjs` has the forms of files.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { replace, write } from '../lib/conversation.mjs';
import { runCore } from '../lib/gemini-core.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { openWindow } from '../lib/scene.mjs';
import { Window, endStreams, saved } from '../lib/window.mjs';

const OLD = 'one\ntwo\nthree\n';
const PROPOSED = 'one\nTWO\nthree\n';
/** Away from the edit, so that both can be had. */
const CHANGED = `zero\n${OLD}`;
const EDITED = `${PROPOSED}mine\n`;

const overwrite = (file) => write(file, PROPOSED);
const read = (file) => fs.readFileSync(file, 'utf8');

test('an edit that is accepted unchanged is made in the file as it is by then, after a restart', async (t) => {
  const window = await Window.open(t);
  const proxy = await Proxy.start(window.sandbox, window.companion);
  const file = window.sandbox.file('a.txt', OLD);
  const env = proxy.env;
  const end = runCore(window.sandbox, [replace(file)], { env });
  await Promise.race([window.editor.view(file), end]);
  await endStreams(window, proxy);
  fs.writeFileSync(file, CHANGED);
  window.editor.accept(file);
  await saved(window, file, '');
  await window.stop();
  await window.start();
  const { results } = await end;
  assert.match(results[0].output, /Successfully modified/);
  assert.equal(read(file), 'zero\none\nTWO\nthree\n');
});

/** The edits of one turn, each in a file of its own, whose user changes the file before accepting. */
const CASES = [
  {
    name: 'an unchanged edit is refused if its place has changed',
    tool: replace,
    changed: 'one\n2\nthree\n',
    says: /Could not find an exact match/,
    expected: 'one\n2\nthree\n',
  },
  {
    name: 'an unchanged text replaces the whole file',
    tool: overwrite,
    changed: CHANGED,
    expected: PROPOSED,
  },
  ...[replace, overwrite].flatMap((tool) => {
    const edited = { tool, text: EDITED, expected: EDITED };
    return [
      {
        ...edited,
        name: `an edited proposal of ${tool.name} is written as a whole`,
        changed: CHANGED,
        says: /mine/, // the model reads what the user has written
      },
      { ...edited, name: `an edited proposal of ${tool.name} creates a file that is gone` },
    ];
  }),
  {
    name: 'an emptied proposal is not written as it was proposed',
    tool: overwrite,
    changed: OLD,
    text: '',
    expected: '\n',
  },
];

test('an edit of a file that has changed is made by the CLI’s rules', async (t) => {
  const { sandbox, editor } = await openWindow(t);
  const files = CASES.map((_, index) => sandbox.file(`${index}.txt`, OLD));
  const end = runCore(
    sandbox,
    CASES.map(({ tool }, index) => tool(files[index])),
  );
  for (const [index, { changed, text }] of CASES.entries()) {
    await Promise.race([editor.view(files[index]), end]);
    if (changed === undefined) fs.rmSync(files[index]);
    else fs.writeFileSync(files[index], changed);
    editor.accept(files[index], text);
  }
  const { results } = await end;
  for (const [index, { name, says, expected }] of CASES.entries()) {
    const { error, output } = results[index];
    if (says) assert.match(error ?? output, says, name);
    assert.equal(read(files[index]), expected, name);
  }
});

test('two unchanged edits of a large file leave the model’s history small', async (t) => {
  const { sandbox, editor } = await openWindow(t);
  const line = (_, number) => `let value_${number} = compute(${number}, "some text here");\n`;
  const old = Array.from({ length: 1000 }, line).join('');
  const file = sandbox.file('a.txt', old);
  const calls = [7, 8].map((n) => replace(file, `value_${n} =`, `other_${n} =`));
  const end = runCore(sandbox, calls);
  for (const _ of calls) {
    await Promise.race([editor.view(file), end]);
    editor.accept(file);
  }
  const { history } = await end;
  assert.equal(read(file), old.replace('value_7 =', 'other_7 =').replace('value_8 =', 'other_8 ='));
  t.diagnostic(`${history} characters of history for a file of ${old.length}`);
  assert.ok(history < 5000, `${history} characters`);
});
