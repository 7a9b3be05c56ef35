// Tests the conversation around an edit where a part of it is missing or ends, with the real CLIs in a
// terminal: an old program, a companion that is killed, and a second CLI.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Companion } from '../lib/companion.mjs';
import {
  REASON,
  comment,
  commentOf,
  inPlaceOfResult,
  open,
  read,
  rejectTurn,
  replace,
  time,
  untilChecked,
  untilSaved,
  withPrompt,
} from '../lib/conversation.mjs';
import { Editor } from '../lib/editor.mjs';
import { startCli } from '../lib/extension.mjs';
import { until } from '../lib/inbox.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';

/** A hook of an old program. */
const OLD = `[ "$1" = hook ] && { echo "error: unrecognized subcommand 'hook'" >&2; exit 2; }`;

test('without hooks, because the program on the PATH is old, edits work, and a comment waits', { skip }, async (t) => {
  const steps = ({ a }) => [replace(a), replace(a), 'That was all.'];
  const window = await open(t, { a: 'one\ntwo\n' }, steps, { before: () => OLD });
  const { companion, editor, terminal, results, asked, file } = window;
  await rejectTurn(window, 'rename it', file.a);
  assert.equal(editor.reasons.get(file.a), 'never');
  companion.notify('comment/set', comment(file.a));
  await untilChecked(window);
  await terminal.enter('now');
  await editor.view(file.a);
  editor.accept(file.a);
  await terminal.shows(/That was all\./);
  assert.equal(read(file.a), 'one\nTWO\n');
  assert.ok(asked().includes('now'), 'the prompt has no context');
  assert.doesNotMatch(results().join('\n'), /seven|commented|hook|unrecognized/);
  await companion.caughtUp();
  const sent = companion.inbox.takeAll().map(({ method }) => method);
  assert.ok(!sent.includes('comment/delivered'), 'the comment waits');
});

describe('a companion that is killed', { skip, concurrency: 2 }, () => {
  const files = { a: 'one\ntwo\n' };

  test('before the user decides leaves the edit to the terminal', async (t) => {
    const steps = ({ a }) => [replace(a), 'That was all.'];
    const serve = ['--resume'];
    const window = await open(t, files, steps, { serve });
    const { sandbox, companion, editor, terminal, results, file } = window;
    await terminal.enter('rename it');
    await editor.view(file.a);
    companion.notify('comment/set', comment(file.a));
    await untilSaved(sandbox, comment(file.a));
    await companion.kill();
    const next = await Companion.start(sandbox, { args: serve });
    new Editor(next);
    // Comments of the last companion wait for a second, unless the editor sends them again.
    next.notify('comment/set', comment(file.a));
    await untilChecked({ companion: next, sandbox });
    await terminal.shows(/Apply this change\?/);
    terminal.press('Enter');
    await terminal.shows(/That was all\./);
    assert.match(results()[0], /Successfully modified/);
    assert.ok(results()[0].includes(commentOf('1')), results()[0]);
    assert.deepEqual((await next.next('comment/delivered')).params, { ids: ['1'] });
    assert.equal(read(file.a), 'one\nTWO\n');
  });

  test('before the hook after the edit leaves the file, and the next one sends the reason', async (t) => {
    const steps = ({ a }) => [replace(a), 'That was all.', 'That was all again.'];
    const serve = ['--resume'];
    const before = ({ companion: { pid } }) =>
      `[ "$2" = after-tool ] && kill -9 ${pid} && while kill -0 ${pid}; do sleep 0.01; done 2>&-`;
    const window = await open(t, files, steps, { serve, before });
    const { sandbox, companion, editor, terminal, results, asked, file } = window;
    await terminal.enter('rename it');
    await editor.view(file.a);
    assert.equal(editor.reasons.get(file.a), 'now');
    const untouched = [read(file.a), time(file.a)];
    editor.reject(file.a, REASON);
    await terminal.shows(/That was all\./);
    await companion.kill();
    assert.match(results()[0], /No changes to apply/i);
    assert.deepEqual([read(file.a), time(file.a)], untouched);
    new Editor(await Companion.start(sandbox, { args: serve }));
    await terminal.enter('and now');
    await terminal.shows(/That was all again\./);
    assert.equal(asked().at(-1), `and now${withPrompt('a')}`);
  });
});

test('two CLIs in one folder get their own reasons, and one gets the comment', { skip }, async (t) => {
  const steps = (path) => [replace(path), 'That was all.'];
  const files = { a: 'one\ntwo\n', b: 'one\ntwo\n' };
  const first = await open(t, files, ({ a }) => steps(a));
  const { sandbox, companion, editor, file } = first;
  // The same folders, but for the user's home and the terminal.
  const other = Sandbox.of(t);
  Object.assign(other, { project: sandbox.project, tmp: sandbox.tmp });
  const { env } = companion.ready;
  const second = await startCli(other, 'gemini', steps(file.b), { env, review: true });
  await companion.next('companion/clients');
  await first.terminal.enter('rename a');
  await second.terminal.enter('rename b');
  await editor.view(file.a);
  await editor.view(file.b);
  assert.deepEqual([...editor.reasons.values()], ['now', 'now']);
  companion.notify('comment/set', comment(file.a));
  await untilChecked(first);
  editor.reject(file.b, REASON);
  await second.terminal.shows(/That was all\./);
  editor.reject(file.a, 'Use another name.');
  await first.terminal.shows(/That was all\./);
  assert.equal(second.results()[0], inPlaceOfResult(file.b));
  assert.equal(first.results()[0], inPlaceOfResult(file.a).replace(REASON, 'Use another name.'));
  // It leaves without a reason, at the end of a turn.
  assert.deepEqual((await companion.next('comment/delivered')).params, { ids: ['1'] });
  const receivers = () =>
    [first, second].filter((cli) => [...cli.results(), ...cli.asked()].join('\n').includes(commentOf('1')));
  await until('a model gets the comment', () => receivers().length > 0);
  assert.equal(receivers().length, 1);
  assert.deepEqual([read(file.a), read(file.b)], [files.a, files.b]);
});
