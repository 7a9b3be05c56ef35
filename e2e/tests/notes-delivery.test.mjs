// Tests that what the user does with a comment or a revert holds while the note is under way to a
// model, and that a note whose confirmation is late or lost arrives once.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';

import { HookCli } from '../lib/hook-cli.mjs';
import { HookProxy } from '../lib/hook-proxy.mjs';
import { comment, propose, commentOn, commentsIn, startCli } from '../lib/notes.mjs';
import { Window } from '../lib/window.mjs';

/** A window with the comment `1` on the file `a`, and a CLI whose hooks the proxy leads. */
async function open(t) {
  const window = await Window.open(t);
  const proxy = await HookProxy.start(window);
  const file = window.sandbox.file('a', 'one\n');
  return { window, proxy, file, cli: new HookCli(window.sandbox) };
}

/** Sends a notification of the editor, which the companion has read by the end. */
async function notify({ companion }, method, params) {
  companion.notify(method, params);
  await companion.caughtUp();
}

/**
 * Sends prompts until `acted` is over, because a comment of the last process waits for a moment, and on a
 * busy machine a hook may end without an answer. Returns the text for the model.
 */
async function promptsUntil({ proxy, cli }, acted) {
  let isOver = false;
  const end = acted.finally(() => (isOver = true));
  let notes = '';
  while (!isOver) notes += await cli.prompt('go', proxy.env);
  await end;
  return notes;
}

/**
 * Runs the hook of a prompt. `act(confirm)` runs when the companion has answered, before the hook
 * confirms that. Then the confirmation arrives or is lost. Returns the text for the model.
 */
async function whileUnderWay(all, isConfirmed, act) {
  const acted = all.proxy.onAck(async (forward) => {
    await act(forward);
    return isConfirmed ? forward() : undefined;
  });
  all.proxy.losesAcks = !isConfirmed;
  return promptsUntil(all, acted);
}

/** Sends prompts until an unconfirmed delivery is due again. Returns all that the model gets. */
async function allPrompts({ cli }) {
  const notes = [];
  // A delivery waits for its confirmation for 3 s.
  for (const end = Date.now() + 6000; Date.now() < end; await sleep(250)) {
    notes.push(await cli.prompt('and now'));
  }
  return notes.filter(Boolean).join('\n');
}

/** The time in ms after which a hook prints its answer without a reply to the confirmation. */
const PATIENCE = 2000;

/**
 * Ends the companion while a confirmation is on its way, and passes that on once the next companion has
 * a delivery of its own. Returns the comments that the models get, and the time until the confirmation
 * was answered.
 */
async function confirmToNext(t) {
  const all = await open(t);
  await comment(all.window, commentOn(all.file, 1));
  const other = new HookCli(all.window.sandbox, 'b');
  const begun = await HookProxy.start(all.window);
  let answer;
  let took;
  const byOther = [];
  const delayed = all.proxy.onAck(async (forward) => {
    const start = Date.now();
    await all.window.kill();
    await all.window.start();
    const second = begun.onAck(async () => {
      answer = await forward();
    });
    // The new process waits for its editor before it delivers a comment.
    while (answer === undefined) byOther.push(...commentsIn(await other.prompt('go', begun.env)));
    await second;
    took = Date.now() - start;
    return answer;
  });
  const comments = commentsIn(await promptsUntil(all, delayed));
  comments.push(...byOther, ...commentsIn(await allPrompts(all)));
  return { comments, took };
}

const DELIVERED = ({ method }) => method === 'comment/delivered';

describe('a comment under way', { concurrency: 4 }, () => {
  test('that is removed arrives neither before nor after a restart', async (t) => {
    const all = await open(t);
    await comment(all.window, commentOn(all.file, 1), commentOn(all.file, 2));
    await whileUnderWay(all, false, () => notify(all.window, 'comment/removed', { id: '1' }));
    await all.window.kill();
    await all.window.start();
    assert.deepEqual(commentsIn(await allPrompts(all)), ['2']);
  });

  test('that gets another text arrives with that text', async (t) => {
    const all = await open(t);
    await comment(all.window, commentOn(all.file, 1));
    const changed = commentOn(all.file, 1, { text: 'remark changed' });
    await whileUnderWay(all, false, () => notify(all.window, 'comment/set', changed));
    assert.deepEqual(commentsIn(await allPrompts(all)), ['changed']);
  });

  test('that gets another text after the confirmation is sent with that text, too', async (t) => {
    const all = await open(t);
    await comment(all.window, commentOn(all.file, 1));
    const changed = commentOn(all.file, 1, { text: 'remark changed' });
    // The hook has not printed the old text yet, and no longer can be stopped.
    const notes = await whileUnderWay(all, true, async (confirm) => {
      await confirm();
      await notify(all.window, 'comment/set', changed);
    });
    assert.deepEqual(commentsIn(notes), ['1']);
    assert.deepEqual(commentsIn(await allPrompts(all)), ['changed']);
  });

  test('whose line moves arrives once, with a confirmation', async (t) => {
    const all = await open(t);
    await comment(all.window, commentOn(all.file, 1));
    const moved = commentOn(all.file, 1, { line: 7, endLine: 7 });
    const notes = await whileUnderWay(all, true, () => notify(all.window, 'comment/set', moved));
    assert.deepEqual(commentsIn(notes), ['1']);
    assert.deepEqual((await all.window.companion.inbox.next(DELIVERED)).params.ids, ['1']);
    assert.equal(await allPrompts(all), '');
  });

  for (const [how, change] of [
    ['whose line moves', { line: 7, endLine: 7 }],
    ['that the editor sends again', {}],
  ]) {
    test(`${how} arrives once, without a confirmation`, async (t) => {
      const all = await open(t);
      await comment(all.window, commentOn(all.file, 1));
      const moved = commentOn(all.file, 1, change);
      const notes = await whileUnderWay(all, false, () => notify(all.window, 'comment/set', moved));
      assert.equal(notes, '');
      const later = await allPrompts(all);
      assert.deepEqual(commentsIn(later), ['1']);
      if (change.line) assert.match(later, /line 7/);
    });
  }

  test('arrives once if the editor sends it again after a restart', async (t) => {
    const all = await open(t);
    await comment(all.window, commentOn(all.file, 1));
    await all.window.kill();
    await all.window.start();
    const again = () => notify(all.window, 'comment/set', commentOn(all.file, 1));
    await whileUnderWay(all, false, again);
    assert.deepEqual(commentsIn(await allPrompts(all)), ['1']);
  });

  test('and delivered arrives with the text that the editor sends after a restart', async (t) => {
    const all = await open(t);
    await comment(all.window, commentOn(all.file, 1));
    assert.deepEqual(commentsIn(await all.cli.prompt('go')), ['1']);
    await all.window.kill();
    await all.window.start();
    // The editor had not received the delivery, and the user changed the comment meanwhile.
    await notify(all.window, 'comment/set', commentOn(all.file, 1, { text: 'remark changed' }));
    assert.deepEqual(commentsIn(await allPrompts(all)), ['changed']);
    await notify(all.window, 'comment/set', commentOn(all.file, 1, { text: 'remark changed' }));
    assert.equal(await allPrompts(all), '');
  });
});

test('a revert under way that is undone is not sent', async (t) => {
  const all = await open(t);
  await all.cli.prompt('change it');
  await all.cli.write(all.file, 'two\n');
  const { session, prompt } = (await all.window.companion.next('cli/changed')).params;
  const key = { session, prompt, paths: [all.file] };
  fs.writeFileSync(all.file, 'one\n');
  await notify(all.window, 'cli/reverted', key);
  await whileUnderWay(all, false, () => {
    fs.writeFileSync(all.file, 'two\n');
    return notify(all.window, 'cli/revertUndone', key);
  });
  assert.doesNotMatch(await allPrompts(all), /reverted/);
});

describe('a confirmation', { concurrency: 4 }, () => {
  test('that is answered late counts, so the model gets the comment', async (t) => {
    const all = await open(t);
    await comment(all.window, commentOn(all.file, 1));
    const delayed = all.proxy.onAck(async (forward) => {
      const reply = await forward();
      await sleep(500);
      return reply;
    });
    const notes = await promptsUntil(all, delayed);
    assert.deepEqual((await all.window.companion.inbox.next(DELIVERED)).params.ids, ['1']);
    assert.deepEqual(commentsIn(notes), ['1']);
    assert.equal(await allPrompts(all), '');
  });

  test('of an end of a turn that is answered late counts, too', async (t) => {
    const all = await open(t);
    await comment(all.window, commentOn(all.file, 1));
    let isOver = false;
    const delayed = all.proxy.onAck(async (forward) => {
      const reply = await forward();
      await sleep(450);
      return reply;
    });
    void delayed.then(() => (isOver = true));
    let notes = '';
    // On a busy machine a hook may end without an answer.
    while (!isOver) notes += await all.cli.end({}, all.proxy.env);
    assert.deepEqual((await all.window.companion.inbox.next(DELIVERED)).params.ids, ['1']);
    assert.deepEqual(commentsIn(notes), ['1']);
  });

  test('after the comment was given to another CLI is refused', async (t) => {
    const all = await open(t);
    await comment(all.window, commentOn(all.file, 1));
    let confirm;
    const notes = await whileUnderWay(all, false, (forward) => {
      confirm = forward;
    });
    const other = new HookCli(all.window.sandbox, 'b');
    assert.deepEqual([notes, commentsIn(await allPrompts({ cli: other }))], ['', ['1']]);
    const { status } = await confirm();
    assert.ok(status >= 400, `${status}`);
  });

  test('of the last process is not taken for one of this process', async (t) => {
    let outcome;
    do outcome = await confirmToNext(t);
    while (outcome.took >= PATIENCE);
    assert.deepEqual(outcome.comments, ['1']);
  });

  test('that was answered is on the disk', async (t) => {
    const all = await open(t);
    for (let id = 1; id <= 12; id++) {
      await comment(all.window, commentOn(all.file, id));
      const killed = all.proxy.onAck(async (forward) => {
        const reply = await forward();
        await all.window.kill();
        return reply;
      });
      const notes = await all.cli.prompt('go', all.proxy.env);
      await killed;
      await all.window.start();
      const again = await all.cli.prompt('and now');
      assert.deepEqual([...commentsIn(notes), ...commentsIn(again)], [String(id)]);
    }
  });
});

test('a reason under way arrives once, whatever happens to its hook', async (t) => {
  const all = await open(t);
  const cli = await startCli(all.window, 'a');
  const { decision } = await propose(all.window, cli, `${all.file}-new`);
  all.window.editor.reject(`${all.file}-new`, 'not so');
  await decision;
  assert.equal(await whileUnderWay({ ...all, cli: cli.hooks }, false, () => {}), '');
  const notes = await allPrompts({ cli: cli.hooks });
  assert.equal(notes.match(/not so/g).length, 1);
});
