// Tests the reports to the editor about Qwen Code's changes, with the real CLI in a terminal, where nobody is
// asked. `nvim-changes.test.mjs` tests the same with Gemini CLI.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { edit, look, open, write } from '../lib/conversation.mjs';
import { run as runProgram } from '../lib/doctor.mjs';
import { noTerminal } from '../lib/terminal.mjs';

const run = (command) => ({
  name: 'run_shell_command',
  args: { command, description: 'x', is_background: false },
});

/** Waits for the changes of a prompt, by its first line: names and kinds of files. */
async function changed({ companion }, title, files) {
  const wanted = JSON.stringify(Object.entries(files).sort());
  const listOf = ({ files: found }) =>
    JSON.stringify(found.map(({ path: of, kind }) => [path.basename(of), kind]).sort());
  const isIt = ({ method, params }) =>
    method === 'cli/changed' && params.title === title && listOf(params) === wanted;
  return (await companion.inbox.next(isIt)).params;
}

const keyOf = ({ session, prompt }) => ({ session, prompt });

const texts = ({ companion }, { session, prompt }, file) =>
  companion.request('cli/texts', { session, prompt, path: file });

test('the changes of Qwen Code are listed and reverted as well', { skip: noTerminal }, async (t) => {
  const steps = ({ a, crlf }) => [
    look(a),
    look(crlf),
    edit(a, 'one', 'ONE'),
    edit(a, 'two', 'TWO'),
    edit(crlf, 'one', 'ONE'),
    write(`${a}-new`, 'new\n'),
    'That was the first.',
    run(`printf 'by the shell\\n' > b; rm ${a}-new crlf`),
    'That was the second.',
    'That was the third.',
    run('printf new > b; false'),
    'That was the fourth.',
  ];
  const files = { a: 'one\ntwo\n', b: 'b\n', crlf: '\uFEFFone\r\n' };
  // It asks nothing.
  const options = { name: 'qwen', review: false, yolo: true };
  const window = await open(t, files, steps, options);
  const { companion, terminal, asked, file } = window;
  companion.notify('editor/opened', { path: file.b });
  await terminal.enter('Change a');
  await terminal.shows(/That was the first\./);
  const expected = { a: 'changed', crlf: 'changed', 'a-new': 'created' };
  const first = await changed(window, 'Change a', expected);
  const both = { before: 'one\ntwo\n', after: 'ONE\nTWO\n' };
  assert.deepEqual(await texts(window, first, file.a), both);
  assert.equal((await texts(window, first, file.crlf)).before, files.crlf, 'the bytes of the file');
  assert.deepEqual(await texts(window, first, `${file.a}-new`), { after: 'new\n' });

  await terminal.enter('Run it');
  await terminal.shows(/That was the second\./);
  const begun = (await companion.next('cli/command')).params;
  assert.deepEqual([begun.title, begun.running], ['Run it', true]);
  const deleted = { 'a-new': 'deleted', crlf: 'deleted' };
  const second = await changed(window, 'Run it', { b: 'changed', ...deleted });
  assert.equal((await texts(window, second, file.crlf)).after, undefined);
  const { before: content } = await texts(window, second, file.b);
  assert.equal(content, 'b\n');

  // A script gets the same list.
  const listed = await runProgram(window.sandbox, ['changes', '--json']);
  const { prompts } = JSON.parse(listed.stdout);
  for (const [index, { title, files: of }] of [first, second].entries()) {
    const found = prompts[index].files.map(({ relativePath, diff, ...rest }) => rest);
    assert.deepEqual([prompts[index].title, found], [title, of]);
  }
  const diffs = prompts[0].files.map(({ diff }) => diff).join('');
  assert.match(diffs, /^-one\n-two\n\+ONE\n\+TWO\n--- a\/crlf$/m);

  fs.writeFileSync(file.b, content);
  companion.notify('cli/reverted', { ...keyOf(second), paths: [file.b] });
  await terminal.enter('And now');
  await terminal.shows(/That was the third\./);
  assert.match(asked().join('\n'), /The user reverted your changes to b\. Read/);

  // A command fails after it has changed a file.
  companion.inbox.takeAll();
  await terminal.enter('Run another');
  await terminal.shows(/That was the fourth\./);
  await changed(window, 'Run another', { b: 'changed' });
  assert.equal((await companion.next('cli/command')).params.running, true);
  assert.equal((await companion.next('cli/command')).params.running, false);
});
