// Tests that an editor learns whether a CLI gets an acceptance, and whether the CLI writes the text.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { HookCli } from '../lib/hook-cli.mjs';
import { openWindowWithClient } from '../lib/scene.mjs';

/** An acceptance of a proposal, with this text. */
async function accept(window, file, content) {
  const { decision } = await window.client.propose(window.editor, file, 'proposed\n');
  const { delivery } = await window.companion.request('diff/accepted', { filePath: file, content });
  return { delivery, decision };
}

const outcome = async ({ companion }) => {
  const { method, params } = await companion.inbox.next(({ method }) => /^diff\/(un)?written$/.test(method));
  return [method, params];
};

test('the user’s text is reported as written, however the CLI ends its lines', async (t) => {
  const window = await openWindowWithClient(t);
  const file = window.sandbox.file('a.txt', 'old\n');
  for (const written of ['\uFEFFmine\r\n', 'mine']) {
    fs.writeFileSync(file, 'old\n');
    const { delivery, decision } = await accept(window, file, 'mine\n');
    assert.equal(delivery, 'delivered');
    assert.equal((await decision).content, 'mine\n');
    fs.writeFileSync(file, written);
    assert.deepEqual(await outcome(window), ['diff/written', { filePath: file }]);
  }
});

test('the user’s text counts as written although a formatter has changed the file since', async (t) => {
  const window = await openWindowWithClient(t);
  const file = window.sandbox.file('a.txt', 'old\n');
  const { decision } = await accept(window, file, 'mine\n');
  await decision;
  fs.writeFileSync(file, 'Mine\n');
  const returnDisplay = { originalContent: 'old\n', newContent: 'mine\n' };
  const tool_response = { llmContent: 'ok', returnDisplay };
  await new HookCli(window.sandbox).after(file, { tool_name: 'write_file', tool_response });
  assert.deepEqual(await outcome(window), ['diff/written', { filePath: file }]);
});

test('the user’s text that the CLI does not write is reported once, and again when it is written', async (t) => {
  const window = await openWindowWithClient(t);
  const { sandbox, client, companion } = window;
  const [file, unchanged] = ['a.txt', 'b.txt'].map((name) => sandbox.file(name, 'old\n'));
  await accept(window, unchanged, 'proposed\n'); // the CLI itself says if it can't write its own text
  // An editor gives a text the line endings and the BOM of its file.
  const crlf = sandbox.file('c.txt', 'old\r\n');
  const rejected = await client.propose(window.editor, crlf, 'proposed\n');
  window.editor.edit(crlf, '\uFEFFproposed\r\n');
  await client.resolveDiffFromCli(crlf, 'rejected');
  await rejected.decision;
  await accept(window, file, 'mine\n');
  assert.deepEqual(await outcome(window), ['diff/unwritten', { filePath: file }]);
  fs.writeFileSync(file, 'mine\n');
  assert.deepEqual(await outcome(window), ['diff/written', { filePath: file }]);
  // A text that the CLI takes in its terminal is reported, too.
  const { decision } = await client.propose(window.editor, file, 'proposed\n');
  window.editor.edit(file, 'typed\n');
  await client.resolveDiffFromCli(file, 'accepted');
  await decision;
  fs.writeFileSync(file, 'typed\n');
  assert.deepEqual(await outcome(window), ['diff/written', { filePath: file }]);
  await companion.caughtUp();
});

test('an editor takes back an acceptance that the CLI has not got', async (t) => {
  const window = await openWindowWithClient(t);
  const { sandbox, client, companion } = window;
  const file = sandbox.file('a.txt', 'old\n');
  const { decision } = await client.propose(window.editor, file, 'proposed\n');
  client.signal('SIGKILL');
  await companion.inbox.next(({ method, params }) => method === 'companion/clients' && params.count === 0);
  const accepted = { filePath: file, content: 'proposed\n' };
  assert.deepEqual(await companion.request('diff/accepted', accepted), { delivery: 'queued' });
  assert.deepEqual(await companion.request('diff/accepted', accepted), { delivery: 'unknown' });
  const { filePath } = accepted;
  assert.deepEqual(await companion.request('diff/withdraw', { filePath }), { withdrawn: true });
  assert.deepEqual(await companion.request('diff/withdraw', { filePath }), { withdrawn: false });
});
