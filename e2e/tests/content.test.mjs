// Tests edits with any text, any size and any file name.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';

import { UNCHANGED } from '../lib/decision.mjs';
import { openWindowWithClient } from '../lib/scene.mjs';

/** Shows and accepts a proposal; `finish` makes the user's changes. */
async function review({ editor, client }, file, proposal, finish = (text) => `${text}!`) {
  const decision = client.openDiff(file, proposal);
  const { newContent } = await editor.view(file);
  editor.accept(file, finish(newContent));
  const { status, content } = await decision;
  assert.equal(status, 'accepted');
  return { shown: newContent, content };
}

test('20 MB go both ways whole', async (t) => {
  const window = await openWindowWithClient(t);
  const file = window.sandbox.file('large.txt');
  const line = 'é 文 😀 "quoted" \\ and plain text, for a line of some length\n';
  const proposal = line.repeat((20 << 20) / Buffer.byteLength(line));
  const { shown, content } = await review(window, file, proposal, (text) => `${text}typed`);
  assert.ok(shown === proposal, `${shown.length} of ${proposal.length} characters were shown`);
  assert.ok(content === `${proposal}typed`, `${content.length} characters came back`);
});

test('an edit that is larger than the limit fails and says so', async (t) => {
  const window = await openWindowWithClient(t, { args: ['--body-limit', '1'] });
  const { sandbox, client } = window;
  const file = sandbox.file('large.txt');
  await assert.rejects(
    client.openDiff(file, 'x'.repeat(1 << 20)),
    /Payload too large: the limit is 1048576 bytes/,
  );
  // The client drops its connection at every HTTP error. The user's `/ide enable` brings it back.
  assert.equal((await client.connect()).status, 'connected');
  assert.equal((await review(window, file, 'small')).content, 'small!');
});

test('all of Unicode goes both ways', async (t) => {
  const window = await openWindowWithClient(t);
  const file = window.sandbox.file('a.txt');
  const texts = [
    '\ufeffBOM\r\nCRLF\r\n',
    'NUL \u0000, escape \u001b[31m, DEL \u007f, line separators \u0085\u2028\u2029',
    '"quotes" \'single\' `back` \\ backslash \\u0041 \\n',
    '👩‍👩‍👧‍👦 𝕌𝕟𝕚 é e\u0301 مرحبا \u{10ffff} \uffff',
    '\ndata: {"jsonrpc":"2.0"}\n\nevent: message\n\n',
  ];
  for (const text of texts) {
    const { shown, content } = await review(window, file, text, (text) => `${text}${text}`);
    assert.equal(shown, text);
    assert.equal(content, `${text}${text}`);
  }
});

test('an empty proposal is shown and accepted, and one that is emptied is not unchanged', async (t) => {
  const window = await openWindowWithClient(t);
  const file = window.sandbox.file('a.txt', 'old\n');
  assert.deepEqual(await review(window, file, '', () => ''), { shown: '', content: '' });
  // An empty text would mean that to the client (tests/cli has it from the CLI).
  const emptied = await review(window, file, 'text', () => '');
  assert.deepEqual(emptied, { shown: 'text', content: '\n' });

  const { decision } = await window.client.propose(window.editor, file, '');
  await window.client.resolveDiffFromCli(file, 'accepted');
  assert.deepEqual(await decision, UNCHANGED);
});

test('files of any name are shown, and sent as open', async (t) => {
  const window = await openWindowWithClient(t);
  const { sandbox, companion, client } = window;
  const names = [
    'with a space',
    'é as one character',
    'e\u0301 as two',
    '文/件 😀',
    '100%',
    '%41%2f%00',
    `"double" 'single'`,
    'back\\slash',
    '#hash?query&a=b;c',
    'line\nbreak',
    '-dash',
    '.hidden',
  ];
  for (const name of names) {
    const file = sandbox.file(name);
    companion.notify('editor/focused', { path: file });
    await client.openFiles((files) => files[0]?.path === file);
    assert.equal((await review(window, file, name)).content, `${name}!`);
  }
});

test('a path is kept as it was written, and names the edit that way', async (t) => {
  const window = await openWindowWithClient(t);
  const { project } = window.sandbox;
  for (const file of [
    `${project}/./dir/..//a.txt`,
    `${project}/a.txt/`,
    path.parse(project).root,
  ]) {
    assert.equal((await review(window, file, 'text')).content, 'text!');
  }
});
