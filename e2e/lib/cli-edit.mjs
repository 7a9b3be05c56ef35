// Owns an edit that a CLI proposes in its terminal, and that waits in the editor.

import assert from 'node:assert/strict';
import fs from 'node:fs';

/**
 * Has a CLI propose `proposed` for a file that says `old`. `start(file)` starts it, up to its prompt;
 * it `asks` once the edit waits.
 */
export async function proposeEdit({ sandbox, editor }, start, asks) {
  const file = sandbox.file('a.txt', 'old\n');
  const terminal = await start(file);
  await terminal.enter('write it');
  await terminal.shows(asks);
  assert.equal((await editor.view(file)).newContent, 'proposed\n');
  return { editor, terminal, file, read: () => fs.readFileSync(file, 'utf8') };
}
