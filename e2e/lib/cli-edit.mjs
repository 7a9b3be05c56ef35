// Makes a CLI propose an edit in its terminal, and waits until the editor shows it.

import assert from 'node:assert/strict';
import fs from 'node:fs';

/**
 * Makes a CLI propose `proposed` for a file with the text `old`. `start(file)` starts the CLI up to
 * its prompt. `asks` is the pattern of the CLI's question once the edit waits.
 */
export async function proposeEdit({ sandbox, editor }, start, asks) {
  const file = sandbox.file('a.txt', 'old\n');
  const terminal = await start(file);
  await terminal.enter('write it');
  await terminal.shows(asks);
  assert.equal((await editor.view(file)).newContent, 'proposed\n');
  return { editor, terminal, file, read: () => fs.readFileSync(file, 'utf8') };
}
