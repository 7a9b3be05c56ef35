// Tests that the model of a real CLI gets the problems of a real IDE.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { breakAndAsk } from '../lib/extension.mjs';
import { Scene } from '../lib/ide-scene.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';

test('the model gets the problems of a closed file after its edit, and by a request', { skip }, async (t) => {
  const scene = new Scene();
  t.after(() => scene.close());
  await scene.open();
  const file = scene.sandbox.file('closed.json', '{}\n');
  const answers = await breakAndAsk(scene.sandbox, 'gemini', file);
  // Gemini CLI's model gets a hook's text with < and > as entities.
  const problem = `${file}:1:10: error: <value> expected, got '}' [JSON]`;
  for (const text of [answers.edit, answers.asked]) {
    const plain = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>');
    assert.ok(plain.includes(problem), text);
  }
});
