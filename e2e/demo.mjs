// Owns the demonstration: Gemini CLI's own client, a companion and an imagined editor do the main
// job once, and what they say to each other is printed. The exit code tells whether it went well.

import assert from 'node:assert/strict';
import fs from 'node:fs';

import { Companion } from './lib/companion.mjs';
import { Editor } from './lib/editor.mjs';
import { IdeClient } from './lib/ide-client.mjs';
import { Sandbox } from './lib/sandbox.mjs';

const sandbox = new Sandbox();
const start = performance.now();

/** A value as one short line, without the token. */
function brief(value) {
  const text = JSON.stringify(value, (key, member) => {
    if (key === 'authToken') return '(hidden)';
    if (key === 'env') return Object.keys(member); // the token is among the values
    if (typeof member !== 'string') return member;
    const short = member.replaceAll(sandbox.root, '…');
    return short.length > 64 ? `${short.slice(0, 64)}… (${short.length} characters)` : short;
  });
  return text ?? '';
}

function say(from, to, what, value) {
  const time = (performance.now() - start).toFixed(0).padStart(5);
  console.log(`${time} ms  ${from.padStart(10)} → ${to.padEnd(10)}  ${what} ${brief(value)}`);
}

function title(text) {
  console.log(`\n${text}`);
}

/** Prints what goes between the editor (`in`) and the companion (`out`). */
function trace(direction, { id, method, params, result }) {
  const what = method ?? `(answer to request ${id})`;
  const request = method && id !== undefined ? `${what} (request ${id})` : what;
  if (direction === 'in') say('editor', 'companion', request, params ?? result);
  else say('companion', 'editor', request, params ?? result);
}

async function play() {
  const file = sandbox.file('src/greet.js', 'export const greet = () => "hello";\n');

  title('An editor opens a project, and starts a companion for it.');
  const companion = await Companion.start(sandbox, { trace });
  const editor = new Editor(companion);
  companion.notify('editor/focused', { path: file });
  companion.notify('editor/cursor', { path: file, line: 1, character: 14 });
  companion.notify('editor/selection', { path: file, text: 'greet' });

  title('Gemini CLI starts in the project. It finds the companion by the file in the temp folder.');
  const client = await IdeClient.start(sandbox);
  const status = await client.connect();
  say('Gemini CLI', 'user', 'status', { ...status, editor: await client.displayName() });
  assert.equal(status.status, 'connected');
  const openFiles = await client.openFiles(([active]) => active?.selectedText);
  say('companion', 'Gemini CLI', 'ide/contextUpdate', { openFiles });
  assert.deepEqual(openFiles[0].cursor, { line: 1, character: 14 });

  /** Has the client propose an edit, and the user decide about it; returns the client's answer. */
  async function review(newContent, decide) {
    say('Gemini CLI', 'companion', 'openDiff', { filePath: file, newContent });
    const decision = client.openDiff(file, newContent);
    await editor.view(file);
    decide();
    const answer = await decision;
    say('companion', 'Gemini CLI', `the edit was ${answer.status}`, answer);
    return answer;
  }

  title('The model proposes an edit. In the diff view the user changes it, and accepts.');
  const proposal = 'export const greet = (name) => `hello ${name}`;\n';
  const edited = 'export const greet = (name = "you") => `hello ${name}`;\n';
  const accepted = await review(proposal, () => editor.accept(file, edited));
  assert.deepEqual(accepted, { status: 'accepted', content: edited });

  title('The model proposes another edit. The user rejects it.');
  const rejected = await review('export {};\n'.repeat(100), () => editor.reject(file));
  assert.equal(rejected.status, 'rejected');

  title('The editor quits.');
  await client.disconnect();
  await companion.close();
  const left = fs.existsSync(companion.ready.discoveryFile);
  say('companion', 'user', 'exit', { code: 0, fileLeftBehind: left });
  assert.equal(left, false);
}

try {
  await play();
  title('Good: the client got the user’s own text of the first edit, and no for the second.');
} catch (error) {
  title(`Failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  await sandbox.close();
}
