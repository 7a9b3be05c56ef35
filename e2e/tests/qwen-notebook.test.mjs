// Tests that an edit of a notebook by Qwen Code's own tool is listed, and rejected with a reason.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

import { look, open, read } from '../lib/conversation.mjs';
import { until } from '../lib/inbox.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';

const cell = { cell_type: 'code', id: 'c1', execution_count: null, metadata: {}, outputs: [] };
const notebook = (source) =>
  JSON.stringify({ cells: [{ ...cell, source }], metadata: {}, nbformat: 4, nbformat_minor: 5 });
const edit = (notebook_path) => ({
  name: 'notebook_edit',
  args: { notebook_path, cell_id: 'c1', new_source: 'x = 7\n' },
});

/** Qwen Code, which edits a notebook at the prompt `edit it`. */
const openNotebook = (t) =>
  open(
    t,
    { 'n.ipynb': notebook(['x = 1\n']) },
    (file) => [look(file['n.ipynb']), edit(file['n.ipynb']), 'It is done.', 'It is all right.'],
    { name: 'qwen' },
  );

test('an accepted edit of a notebook is in the list of changes', { skip }, async (t) => {
  const { companion, editor, terminal, sandbox, file } = await openNotebook(t);
  const path = file['n.ipynb'];
  await terminal.enter('edit it');
  await editor.view(path);
  editor.accept(path);
  await terminal.shows(/It is done\./);
  assert.match(read(path), /x = 7/);
  const env = sandbox.env(companion.ready.env);
  const changes = () =>
    execFileSync(process.env.GEMINI_COMPANION, ['changes'], { cwd: sandbox.project, env, encoding: 'utf8' });
  await until('it is listed', () => /changed +n\.ipynb/.test(changes()));
});

test('the reason of a rejected edit comes with the next prompt', { skip }, async (t) => {
  const { editor, terminal, asked, file } = await openNotebook(t);
  const path = file['n.ipynb'];
  const before = read(path);
  await terminal.enter('edit it');
  await editor.view(path);
  editor.reject(path, 'Use seven.');
  await terminal.shows(/- NotebookEdit/);
  assert.equal(read(path), before);
  await terminal.enter('and now');
  await terminal.shows(/and now[^]*It is done\./);
  assert.match(asked().at(-1), /rejected your last edit of n\.ipynb,.*Use seven\./);
});
