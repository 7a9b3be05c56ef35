// Tests that the models of the real CLIs get the problems of a real IDE.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { breakAndAsk } from '../lib/extension.mjs';
import { Scene } from '../lib/ide-scene.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';

/** Makes the model of a CLI break a file; it gets the problems after its edit and by a request. */
async function assertGetsProblems(t, name, make) {
  const scene = new Scene();
  t.after(() => scene.close());
  await scene.open();
  const file = await make(scene);
  const answers = await breakAndAsk(scene.sandbox, name, file);
  // Gemini CLI's model gets a hook's text with < and > as entities.
  const problem = `${file}:1:10: error: <value> expected, got '}' [JSON]`;
  for (const text of [answers.edit, answers.asked]) {
    const plain = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>');
    assert.ok(plain.includes(problem), text);
  }
}

test("Gemini CLI's model gets the problems of a closed file", { skip }, (t) =>
  assertGetsProblems(t, 'gemini', ({ sandbox }) => sandbox.file('closed.json', '{}\n')));

test("Qwen Code's model gets the problems of an open file", { skip }, (t) =>
  assertGetsProblems(t, 'qwen', (scene) => scene.edit('open.json', '{}\n')));
