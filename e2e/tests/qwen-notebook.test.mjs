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
const edit = (notebook_path, new_source) => ({
  name: 'notebook_edit',
  args: { notebook_path, cell_id: 'c1', new_source },
});

test('an accepted edit of a notebook is listed, and the reason of a rejected one comes with the next prompt', { skip }, async (t) => {
  const files = { 'n.ipynb': notebook(['x = 1\n']) };
  const steps = ({ 'n.ipynb': path }) => [
    look(path),
    edit(path, 'x = 7\n'),
    'It is done.',
    look(path),
    edit(path, 'x = 8\n'),
    'It is all right.',
  ];
  const window = await open(t, files, steps, { name: 'qwen' });
  const { companion, editor, terminal, asked, sandbox, file } = window;
  const path = file['n.ipynb'];
  await terminal.enter('edit it');
  await editor.view(path);
  editor.accept(path);
  await terminal.shows(/It is done\./);
  const accepted = read(path);
  assert.match(accepted, /x = 7/);
  const env = sandbox.env(companion.ready.env);
  const changes = () =>
    execFileSync(process.env.GEMINI_COMPANION, ['changes'], { cwd: sandbox.project, env, encoding: 'utf8' });
  await until('it is listed', () => /changed +n\.ipynb/.test(changes()));

  await terminal.enter('another time');
  await editor.view(path);
  editor.reject(path, 'Use seven.');
  await terminal.shows(/- NotebookEdit/);
  assert.equal(read(path), accepted);
  await terminal.enter('and now');
  await terminal.shows(/It is all right\./);
  assert.match(asked().at(-1), /rejected your last edit of n\.ipynb,.*Use seven\./);
});
