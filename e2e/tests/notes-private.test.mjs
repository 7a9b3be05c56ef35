// Tests that no note names a file, or has a line of it, that became private after the user wrote
// the note.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { HookCli } from '../lib/hook-cli.mjs';
import { HookProxy } from '../lib/hook-proxy.mjs';
import { until } from '../lib/inbox.mjs';
import {
  allNotes,
  comment,
  firstNote,
  isRefused,
  isSaved,
  propose,
  commentOn,
  commentsIn,
  startCli,
} from '../lib/notes.mjs';
import { Window } from '../lib/window.mjs';

const SECRET = 'TOP SECRET line';

/** A window with comments on a file that becomes private, and on another one. */
async function open(t) {
  const window = await Window.open(t);
  const secret = window.sandbox.file('secret.txt', `${SECRET}\n`);
  const other = window.sandbox.file('other.txt', 'one\n');
  const hooks = new HookCli(window.sandbox);
  return { window, secret, other, hooks };
}

/** Makes a file private, as the companion knows by the end. */
async function hide({ window, secret }) {
  const { companion, sandbox } = window;
  companion.notify('editor/focused', { path: secret });
  sandbox.file('.aiexclude', 'secret*\n');
  await companion.inbox.next(
    ({ method, params }) => method === 'companion/private' && params.paths.includes(secret),
  );
}

describe('a file that became private', { concurrency: 3 }, () => {
  test('is in no comment of the last process', async (t) => {
    const all = await open(t);
    const { window, secret, other, hooks } = all;
    await comment(window, commentOn(secret, 'hidden', { content: SECRET }), commentOn(other, 2));
    await window.kill();
    window.sandbox.file('.aiexclude', 'secret*\n');
    await window.start();
    const notes = `${await firstNote(hooks)}\n${await allNotes(hooks, other)}`;
    assert.deepEqual(commentsIn(notes), ['2']);
    assert.doesNotMatch(notes, /SECRET|secret/);
  });

  test('is in no comment that a hook did not confirm', async (t) => {
    const all = await open(t);
    const { window, secret, other, hooks } = all;
    await comment(window, commentOn(secret, 'hidden', { content: SECRET }));
    const proxy = await HookProxy.start(window);
    proxy.losesAcks = true;
    assert.equal(await hooks.prompt('go', proxy.env), '');
    await hide(all);
    await comment(window, commentOn(other, 2));
    let notes = '';
    // The first comment is due again within some seconds.
    for (const end = Date.now() + 5000; Date.now() < end; ) notes += await allNotes(hooks, other);
    assert.deepEqual(commentsIn(notes), ['2']);
  });

  test('is in no reason', async (t) => {
    const all = await open(t);
    const { window, secret } = all;
    const cli = await startCli(window, 'a');
    const file = `${secret}-new`;
    const { decision } = await propose(window, cli, file);
    window.editor.reject(file, 'not so');
    await decision;
    await hide(all);
    assert.doesNotMatch(await cli.hooks.prompt('go'), /secret/);
  });

  test('is in no reason at once', async (t) => {
    const all = await open(t);
    const { window, secret } = all;
    const cli = await startCli(window, 'a');
    const { decision } = await propose(window, cli, secret);
    await hide(all);
    window.editor.reject(secret, 'not so');
    const { content } = await decision;
    assert.ok(!content?.includes(SECRET), 'the client gets no text of the file');
  });

  test('is in no revert', async (t) => {
    const all = await open(t);
    const { window, secret, hooks } = all;
    await hooks.prompt('change it');
    await hooks.write(secret, 'two\n');
    const { session, prompt } = (await window.companion.next('cli/changed')).params;
    fs.writeFileSync(secret, `${SECRET}\n`);
    window.companion.notify('cli/reverted', { session, prompt, paths: [secret] });
    await hide(all);
    assert.doesNotMatch(await hooks.prompt('go'), /secret/);
  });
});

test('a file of a folder that was closed is in no comment', async (t) => {
  const { window, other, hooks } = await open(t);
  const folder = window.sandbox.folder('second');
  const file = `${folder}/secret.txt`;
  fs.writeFileSync(file, `${SECRET}\n`);
  const paths = [window.sandbox.project, folder];
  window.companion.notify('workspace/folders', { paths });
  await comment(window, commentOn(file, 'hidden', { content: SECRET }), commentOn(other, 2));
  window.companion.notify('workspace/folders', { paths: paths.slice(0, 1) });
  await window.companion.caughtUp();
  const notes = await allNotes(hooks, other);
  assert.deepEqual(commentsIn(notes), ['2']);
  assert.doesNotMatch(notes, /SECRET/);
});

test('a project that shares no context gives no note to a CLI', async (t) => {
  const { window, secret, other, hooks } = await open(t);
  await comment(window, commentOn(secret, 1));
  window.companion.notify('workspace/shareContext', { share: false });
  await window.companion.caughtUp();
  assert.doesNotMatch(await allNotes(hooks, other), /remark/);
  window.companion.notify('workspace/shareContext', { share: true });
  await window.companion.caughtUp();
  assert.deepEqual(commentsIn(await allNotes(hooks, other)), ['1']);
});

test('a project that shares no context keeps no new comment, and its earlier ones', async (t) => {
  const { window, other, hooks } = await open(t);
  await comment(window, commentOn(other, 'kept'), commentOn(other, 'rewritten'), commentOn(other, 'moved'));
  await window.kill();
  await window.start('--no-context');
  const { companion } = window;
  companion.notify('comment/set', commentOn(other, 'kept', { line: 2, endLine: 2 }));
  companion.notify('comment/set', commentOn(window.sandbox.file('b.txt', 'one\n'), 'moved'));
  companion.notify('comment/set', commentOn(other, 'rewritten', { text: SECRET }));
  companion.notify('comment/set', commentOn(other, 'new', { text: SECRET }));
  for (const id of ['rewritten', 'new']) {
    const { params } = await companion.inbox.next(isRefused(id));
    assert.match(params.reason, /the project shares nothing with its CLIs\.$/);
  }
  const isUpToDate = () => isSaved(window, 'remark kept') && !isSaved(window, 'remark rewritten');
  await until('the disk has only the earlier comment', isUpToDate);
  assert.ok(!isSaved(window, SECRET));
  companion.notify('workspace/shareContext', { share: true });
  await companion.caughtUp();
  assert.deepEqual(commentsIn(await firstNote(hooks)).sort(), ['kept', 'moved']);
});
