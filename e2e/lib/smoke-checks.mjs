// Checks that a client and a companion work together, over any connection.

import assert from 'node:assert/strict';

import { REJECTED, accepted } from './decision.mjs';

/**
 * Checks all actions of the client and the editor with a file. `here` is its path for the client,
 * `there` for the editor.
 */
export async function assertWorks({ companion, editor, client }, { here, there }) {
  companion.notify('editor/focused', { path: there });
  companion.notify('editor/selection', { path: there, text: there });
  const [file] = await client.openFiles(([first]) => first?.selectedText);
  assert.deepEqual([file.path, file.selectedText], [here, there]);

  let decision = client.openDiff(here, `${here}\n`);
  assert.equal((await editor.view(there)).newContent, `${here}\n`);
  editor.accept(there, `${there}, changed\n`);
  assert.deepEqual(await decision, accepted(`${there}, changed\n`));

  decision = client.openDiff(here, 'proposed');
  await editor.view(there);
  editor.reject(there);
  assert.deepEqual(await decision, REJECTED);

  decision = client.openDiff(here, 'proposed');
  await editor.view(there);
  editor.edit(there, 'typed in the editor');
  await client.resolveDiffFromCli(here, 'accepted');
  assert.deepEqual(await decision, accepted('typed in the editor'));
  assert.equal(await editor.closed.next(), there);

  decision = client.openDiff(here, 'proposed');
  await editor.view(there);
  assert.equal(await client.closeDiff(here), '');
  assert.deepEqual(await decision, REJECTED);
  assert.equal(await editor.closed.next(), there);

  editor.refusal = `can't show ${there}`;
  await assert.rejects(client.openDiff(here, ''), { message: `can't show ${there}` });
  editor.refusal = undefined;
  assert.equal(await client.status(), 'connected');
}
