// Tests that a hook does its work whatever texts its event has: halves of surrogate pairs, which
// Gemini CLI makes when it cuts a line of a file, null, and fields of another type.

import assert from 'node:assert/strict';
import test from 'node:test';

import { commentOf, comment as onLine, open as openCli } from '../lib/conversation.mjs';
import { hook } from '../lib/hook.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import { comment, commentOn, commentsIn } from '../lib/notes.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';
import { Window } from '../lib/window.mjs';

const HALF = 'a \ud83d b';

/** Events with which a model gets a comment, by their difference from an ordinary one. */
const EVENTS = {
  'a prompt with a high half': ['before-agent', 'BeforeAgent', { prompt: HALF }],
  'a prompt that is null': ['before-agent', 'BeforeAgent', { prompt: null }],
  'no prompt': ['before-agent', 'BeforeAgent', {}],
  'a prompt of parts': ['before-agent', 'BeforeAgent', { prompt: [{ text: 'go' }] }],
  'a half in an unknown name': ['before-agent', 'BeforeAgent', { prompt: 'go', [HALF]: 1 }],
  'an answer with a half': ['after-agent', 'AfterAgent', { prompt: HALF, prompt_response: HALF }],
  'null for an end': ['after-agent', 'AfterAgent', { stop_hook_active: null, prompt: null }],
  'a tool without a name': ['after-tool', 'AfterTool', { tool_name: null }],
  'a tool whose input is a text': ['after-tool', 'AfterTool', { tool_input: HALF }],
  'a tool whose path is a number': [
    ...['after-tool', 'AfterTool'],
    { tool_name: 'mcp_x_y', tool_input: { file_path: 7 } },
  ],
  'a tool whose path has a half': [
    ...['after-tool', 'AfterTool'],
    { tool_name: 'write_file', tool_input: { file_path: HALF, content: HALF } },
  ],
  'a tool whose result is a text': ['after-tool', 'AfterTool', { tool_response: HALF }],
  'a tool whose texts have halves': [
    ...['after-tool', 'AfterTool'],
    { tool_response: { returnDisplay: { originalContent: HALF, newContent: `${HALF}\n` } } },
  ],
  'a tool whose display is null': [
    ...['after-tool', 'AfterTool'],
    { tool_response: { llmContent: null, returnDisplay: null, error: null } },
  ],
  'a folder that is a number': ['after-tool', 'AfterTool', { cwd: 7, tool_name: 'x' }],
  'a prompt of Qwen Code with a half': ['before-agent', 'UserPromptSubmit', { prompt: HALF }],
  'an end of Qwen Code with null': ['after-agent', 'Stop', { stop_hook_active: null }],
};

test('a comment reaches the model with', async (t) => {
  const window = await Window.open(t);
  const file = window.sandbox.file('a', 'one\n');
  let id = 0;
  const assertDelivered = async (moment, event) => {
    await comment(window, commentOn(file, ++id));
    const { stdout } = await hook(window.sandbox, moment, event);
    assert.deepEqual(commentsIn(stdout), [String(id)], stdout);
  };
  for (const [what, [moment, hook_event_name, more]] of Object.entries(EVENTS)) {
    const event = JSON.stringify({ session_id: 'a', hook_event_name, ...more });
    await t.test(what, () => assertDelivered(moment, event));
  }
  await t.test('bytes that are no UTF-8', () => {
    const event = JSON.stringify({ session_id: 'a', hook_event_name: 'BeforeAgent', prompt: '@' });
    return assertDelivered('before-agent', Buffer.from(event.replace('@', '\xff'), 'latin1'));
  });
});

test('the changes of a prompt with a half are its own', async (t) => {
  const window = await Window.open(t);
  const file = window.sandbox.file('a', 'one\n');
  const cli = new HookCli(window.sandbox);
  await cli.prompt('the first');
  await cli.prompt(`the second ${HALF}`);
  await cli.write(file, 'two\n');
  const { title, files } = (await window.companion.next('cli/changed')).params;
  assert.equal(title, 'the second a \ufffd b');
  assert.deepEqual(files.map(({ path, kind }) => [path, kind]), [[file, 'changed']]);
});

test('an unsaved file is reported with a prompt that has a half, but none that is private or outside', async (t) => {
  const window = await Window.open(t);
  const { sandbox, editor } = window;
  sandbox.file('.aiexclude', '*.key\n');
  const files = ['a', 'b.key'].map((name) => sandbox.file(name, 'one\n'));
  editor.unsaved = [...files, `${sandbox.home}/outside`];
  const note = await new HookCli(sandbox).prompt(HALF);
  assert.match(note, /not saved, so the disk has an older text: a$/);
});

test('a question with a half, or without a text, reaches the editor', async (t) => {
  const window = await Window.open(t);
  for (const message of [HALF, null]) {
    const event = { session_id: 'a', hook_event_name: 'Notification', message, details: null };
    await hook(window.sandbox, 'notification', JSON.stringify(event));
    const { params } = await window.companion.next('cli/waiting');
    assert.equal(params.message, message === null ? '' : 'a \ufffd b');
  }
});

test('a question and the end of a turn name their CLI', async (t) => {
  const window = await Window.open(t);
  const [one, two] = ['one', 'two'].map((session) => new HookCli(window.sandbox, session));
  const sessionOf = async (method) => (await window.companion.next(method)).params.session;
  for (const cli of [one, two]) await cli.prompt('go');
  await one.run('notification', { hook_event_name: 'Notification', message: 'Run ls?' });
  assert.equal(await sessionOf('cli/waiting'), 'one');
  const file = window.sandbox.file('a');
  await two.after(file);
  await one.after(file, { tool_name: 'read_file' });
  await window.companion.caughtUp();
  const sent = window.companion.inbox.takeAll().map(({ method }) => method);
  assert.ok(!sent.includes('cli/answered'), 'another tool runs beside the question');
  await one.after(file);
  assert.equal(await sessionOf('cli/answered'), 'one');
  await two.end();
  assert.equal(await sessionOf('cli/finished'), 'two');
  await one.end();
  assert.equal(await sessionOf('cli/finished'), 'one');
});

// The CLI cuts a line after 2000 UTF-16 units.
test('the events of Gemini CLI for a prompt with half an emoji arrive', { skip }, async (t) => {
  const files = { a: `one\ntwo\n${'x'.repeat(1999)}😀\n` };
  const window = await openCli(t, files, () => ['That was all.', 'That was all again.']);
  const { companion, terminal, asked, file } = window;
  companion.notify('comment/set', onLine(file.a));
  // A word behind the file closes the list of files, which takes the Enter key.
  await terminal.enter('Explain @a please');
  await terminal.shows(/That was all\./);
  await companion.next('cli/finished');
  await companion.next('comment/delivered');
  assert.ok(asked().join('\n').includes(commentOf('1')), asked().join('\n'));
});
