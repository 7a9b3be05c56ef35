// Tests the life of a proposal: it shows, changes, and ends once, by the user or by the CLI.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { REJECTED, UNCHANGED, accepted } from '../lib/decision.mjs';
import { Editor } from '../lib/editor.mjs';
import { Session } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { QWEN_CLIENT, qwenHome } from '../lib/qwen-code.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { openWindowWithClient } from '../lib/scene.mjs';

/** What each client gets of an edit that its user accepts unchanged. Gemini CLI makes such an edit itself. */
const CLIENTS = [
  ['Gemini CLI', undefined, () => UNCHANGED],
  ['Qwen Code', QWEN_CLIENT, accepted],
];

for (const [name, module, acceptedUnchanged] of CLIENTS) {
  test(`${name} gets each decision once, and the user’s text`, async (t) => {
    const sandbox = Sandbox.of(t);
    qwenHome(sandbox);
    const editor = new Editor(await Companion.start(sandbox));
    const client = await IdeClient.connect(sandbox, { module });
    const file = sandbox.file('a.txt', 'old\n');
    const proposal = { private: false, cli: 1 };
    for (const [decide, expected, isClosed] of [
      [() => editor.accept(file, 'changed by the user\n'), accepted('changed by the user\n')],
      [() => editor.accept(file), acceptedUnchanged('proposed\n')],
      [() => editor.accept(file, ''), accepted('\n')],
      [() => editor.reject(file), REJECTED],
      [() => client.resolveDiffFromCli(file, 'rejected'), REJECTED, true],
      [() => client.resolveDiffFromCli(file, 'accepted'), accepted('typed 😀\n'), true],
      [async () => assert.equal(await client.closeDiff(file), 'typed 😀\n'), REJECTED, true],
    ]) {
      const decision = client.openDiff(file, 'proposed\n');
      const view = { filePath: file, kind: 'change', ...proposal, newContent: 'proposed\n' };
      assert.deepEqual(await editor.view(file), view);
      if (isClosed) editor.edit(file, 'typed 😀\n');
      await decide();
      assert.deepEqual(await decision, expected);
      if (isClosed) assert.equal(await editor.closed.next(), file);
    }
    assert.equal(await client.closeDiff(file), undefined, 'there is nothing left to close');
    assert.equal(fs.readFileSync(file, 'utf8'), 'old\n', 'it is the CLI that writes the file');
    const created = path.join(sandbox.project, 'new', 'file.txt');
    const newContent = 'proposed\r\n\tno newline at the end';
    const decision = client.openDiff(created, newContent);
    const view = { filePath: created, kind: 'create', ...proposal, newContent };
    assert.deepEqual(await editor.view(created), view);
    editor.accept(created);
    assert.deepEqual(await decision, acceptedUnchanged(newContent));
    assert.equal(await client.status(), 'connected');
  });
}

/** If the client learns too late that its proposal has ended, it does not open another one. */
test('a disconnect closes the client’s view, and its edits are reviewed after it reconnects', async (t) => {
  const { sandbox, editor, client } = await openWindowWithClient(t);
  const file = sandbox.file('a.txt');
  for (let round = 0; round < 50; round++) {
    const { decision } = await client.propose(editor, file, `proposed ${round}\n`);
    await client.disconnect();
    assert.equal(await editor.closed.next(), file);
    assert.deepEqual(await decision, REJECTED);
    await client.connect();
  }
});

test('a script accepts no edit outside of the workspace, the user does', async (t) => {
  const { sandbox, companion, editor, client } = await openWindowWithClient(t);
  const outside = path.join(sandbox.folder('other'), 'a.txt');
  fs.writeFileSync(outside, 'old\n');
  const link = path.join(sandbox.project, 'link');
  fs.symlinkSync(outside, link);
  const script = await Session.open(sandbox, companion);
  for (const file of [outside, link, `${sandbox.project}/../other/new.txt`]) {
    const { decision } = await client.propose(editor, file, 'proposed\n');
    const { isError, content } = await script.callTool('acceptDiff', { filePath: file });
    assert.equal(isError, true);
    assert.match(content[0].text, /^acceptDiff: .* outside of the workspace; accept it in the editor$/);
    assert.equal(fs.readFileSync(outside, 'utf8'), 'old\n');
    editor.accept(file, 'by the user\n');
    assert.deepEqual(await decision, accepted('by the user\n'));
  }

  // The folders that count are those that are open now.
  companion.notify('workspace/folders', { paths: [sandbox.project, path.dirname(outside)] });
  await script.callTool('openDiff', { filePath: outside, newContent: 'proposed\n' });
  const { isError } = await script.callTool('acceptDiff', { filePath: outside });
  assert.ok(!isError);
  assert.equal(fs.readFileSync(outside, 'utf8'), 'proposed\n');
});
