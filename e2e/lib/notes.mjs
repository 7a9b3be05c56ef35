// Comments, reasons and reverts on their way to a model, with CLIs whose hooks the test runs.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { HookCli } from './hook-cli.mjs';
import { IdeClient } from './ide-client.mjs';
import { until } from './inbox.mjs';

/** A comment of the user on the first line of a file. */
export const commentOn = (file, id, more) => ({
  ...{ id: String(id), path: file, line: 1, endLine: 1, content: 'one', text: `remark ${id}` },
  ...more,
});

/** The files in which companions keep their state. */
function stateFiles({ sandbox }) {
  const folder = path.join(sandbox.home, '.local', 'state', 'companion-for-gemini-cli');
  const names = fs.readdirSync(folder, { recursive: true });
  return names.map((name) => path.join(folder, name)).filter((file) => fs.statSync(file).isFile());
}

/** Whether a text outlives the companion. */
export const isSaved = (window, text) =>
  stateFiles(window).some((file) => fs.readFileSync(file, 'utf8').includes(text));

/** Sets comments, and waits until the companion knows that their files may be shared. */
export async function comment(window, ...comments) {
  for (const one of comments) window.companion.notify('comment/set', one);
  const areSaved = () => comments.every(({ text }) => isSaved(window, JSON.stringify(text)));
  await until('the comments are saved', areSaved);
}

/** Whether a message to the editor refuses that comment. */
export const isRefused =
  (id) =>
  ({ method, params }) =>
    method === 'comment/refused' && params.id === id;

/** The numbers of the comments that a model gets with a text, in their order. */
export const commentsIn = (text) => [...text.matchAll(/remark (\w+)/g)].map(([, id]) => id);

/** All that a model gets at the moments when it may get notes. */
export const allNotes = async (hooks, other) =>
  [await hooks.after(other), await hooks.end(), await hooks.prompt('go')].join('\n');

/** Sends prompts until a model gets a note, and returns it. */
export async function firstNote(cli) {
  let note = '';
  await until('a note', async () => (note = await cli.prompt('go')) !== '');
  return note;
}

/** A CLI that is connected, or not, and runs hooks. */
export async function startCli({ sandbox }, session, { connected = true, env } = {}) {
  const client = await (connected ? IdeClient.connect : IdeClient.start)(sandbox, { env });
  return { client, hooks: new HookCli(sandbox, session, client) };
}

/** Begins an edit of a file, whose diff the editor shows. Returns the client's decision. */
export async function propose({ editor }, { client, hooks }, file, content = 'new\n') {
  await hooks.before(file);
  return client.propose(editor, file, content);
}

/** Makes the files of companions that have ended look as if these seconds had passed since. */
export function age(window, seconds) {
  const then = new Date(Date.now() - 1000 * seconds);
  const files = stateFiles(window);
  assert.ok(files.length > 0, 'there is a file');
  for (const file of files) fs.utimesSync(file, then, then);
}
