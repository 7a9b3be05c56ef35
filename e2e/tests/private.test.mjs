// Tests private files: clients get nothing about files that ignore files list, and nothing at all
// if the user wants that.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { UNCHANGED } from '../lib/decision.mjs';
import { problem } from '../lib/editor.mjs';
import { NOTHING, edit, hook } from '../lib/hook.mjs';
import { IdeClient, are } from '../lib/ide-client.mjs';
import { openWindow, openWindowWithClient } from '../lib/scene.mjs';

/** A window with a client that has a key file with a selection, and a text file, in its context. */
async function open(t, options) {
  const window = await openWindowWithClient(t, options);
  const text = window.sandbox.file('src/a.txt');
  const key = window.sandbox.file('src/x.hid');
  window.companion.notify('editor/focused', { path: text });
  window.companion.notify('editor/focused', { path: key });
  window.companion.notify('editor/selection', { path: key, text: 'the secret' });
  return { ...window, text, key };
}

test('what was shared of a file is taken back once an ignore file names it', async (t) => {
  for (const name of ['.geminiignore', 'src/.aiexclude', '.aiignore']) {
    const { sandbox, companion, client, text, key } = await open(t);
    const [shared] = await client.openFiles(are(key, text));
    assert.equal(shared.selectedText, 'the secret');
    // As editors save: by a rename over the old one.
    fs.renameSync(sandbox.file('new', '*.hid\n'), path.join(sandbox.project, name));
    const left = await client.openFiles(are(text));
    assert.ok(!JSON.stringify(left).includes('the secret'));
    const reasons = { [key]: 'An ignore file lists it.' };
    assert.deepEqual((await companion.next('companion/private')).params, { paths: [key], reasons });
    const later = await IdeClient.connect(sandbox);
    await later.openFiles(are(text));
    fs.rmSync(path.join(sandbox.project, name));
    await client.openFiles(are(key, text));
    assert.deepEqual((await companion.next('companion/private')).params, { paths: [], reasons: {} });
  }
});

test('no client gets the problems of a private file', async (t) => {
  const { sandbox, editor, client, text, key } = await open(t);
  sandbox.file('.aiexclude', '*.hid');
  await client.openFiles(are(text));
  editor.diagnose = () => [problem(1, 'of a secret')];
  const refused = await client.callTool('getDiagnostics', { filePath: key });
  assert.equal(refused.isError, true);
  assert.match(refused.content[0].text, /the file stays private/);
  const all = await client.callTool('getDiagnostics', {});
  assert.match(all.content[0].text, /a\.txt/);
  assert.doesNotMatch(JSON.stringify(all), /x\.hid/);
  assert.deepEqual(await hook(sandbox, 'before-tool', edit(key)), NOTHING);
  editor.diagnose = () => [problem(2, 'new'), problem(1, 'of a secret')];
  assert.deepEqual(await hook(sandbox, 'after-tool', edit(key)), NOTHING);
});

test('a line that is no rule is a warning with file and line, and nothing of it', async (t) => {
  const { companion, sandbox, client, text, key } = await open(t);
  sandbox.file('.geminiignore', '# keys\n[secret-name\n*.hid\n![z-a[:x:]]secret-name\n');
  await client.openFiles(are(text));
  await companion.logged(/\.geminiignore, line 4: not a valid rule/);
  assert.ok(!companion.log.includes('secret-name') && !companion.log.includes(key), companion.log);
});

test('turning sharing off hides everything at once, and edits are still reviewed', async (t) => {
  const { sandbox, companion, editor, client, text, key } = await open(t);
  await client.openFiles(are(key, text));
  const { decision: before } = await client.propose(editor, text, 'proposed before\n');
  companion.notify('workspace/shareContext', { share: false });
  await client.openFiles(are());
  editor.diagnose = () => [problem(1, 'a problem')];
  const refused = await client.callTool('getDiagnostics', {});
  assert.match(refused.content[0].text, /the user shares nothing of this project with CLIs/);
  assert.deepEqual(await hook(sandbox, 'before-tool', edit(text)), NOTHING);
  assert.deepEqual(await hook(sandbox, 'after-tool', edit(text)), NOTHING);
  editor.accept(text);
  assert.equal((await before).status, 'accepted');
  companion.notify('workspace/shareContext', { share: true });
  const [shared] = await client.openFiles(are(key, text));
  assert.equal(shared.selectedText, 'the secret');
});

test('a companion that starts without sharing sends nothing until it is turned on', async (t) => {
  const { sandbox, companion } = await openWindow(t, { args: ['--no-context'] });
  const file = sandbox.file('a.txt');
  companion.notify('editor/focused', { path: file });
  const client = await IdeClient.connect(sandbox);
  await client.openFiles((files) => (assert.deepEqual(files, []), true));
  companion.notify('workspace/shareContext', { share: true });
  await client.openFiles(are(file));
});

test('a file with secrets is private until an ignore file takes it back', async (t) => {
  const { sandbox, companion, editor, client } = await openWindowWithClient(t);
  const text = sandbox.file('a.txt');
  const env = sandbox.file('.env', 'TOKEN=secret\n');
  companion.notify('editor/focused', { path: text });
  companion.notify('editor/focused', { path: env });
  companion.notify('editor/selection', { path: env, text: 'TOKEN=secret' });
  const left = await client.openFiles(are(text));
  assert.ok(!JSON.stringify(left).includes('TOKEN'));
  const { paths, reasons } = (await companion.next('companion/private')).params;
  assert.deepEqual(paths, [env]);
  const how = 'To share it, add this line to .geminiignore: ';
  assert.ok(reasons[env].startsWith('It may contain environment variables'), reasons[env]);
  assert.ok(reasons[env].includes(how), reasons[env]);

  editor.diagnose = () => [problem(1, 'of a secret')];
  const refused = await client.callTool('getDiagnostics', { filePath: env });
  assert.match(refused.content[0].text, /the file stays private/);
  assert.deepEqual(await hook(sandbox, 'before-tool', edit(env)), NOTHING);
  const decision = client.openDiff(env, 'proposed\n');
  assert.equal((await editor.view(env)).private, true);
  editor.accept(env);
  assert.deepEqual(await decision, UNCHANGED);

  sandbox.file('.geminiignore', `${reasons[env].split(how)[1]}\n`);
  const [shared] = await client.openFiles(are(env, text));
  assert.equal(shared.selectedText, 'TOKEN=secret');
  const none = { paths: [], reasons: {} };
  assert.deepEqual((await companion.next('companion/private')).params, none);
  const problems = await client.callTool('getDiagnostics', { filePath: env });
  assert.match(problems.content[0].text, /of a secret/);
});
