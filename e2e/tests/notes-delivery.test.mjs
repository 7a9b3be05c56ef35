// Tests that a comment whose confirmation is late or lost arrives once.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';

import { HookCli } from '../lib/hook-cli.mjs';
import { HookProxy } from '../lib/hook-proxy.mjs';
import { comment, commentOn, commentsIn } from '../lib/notes.mjs';
import { Window } from '../lib/window.mjs';

/** A window with the comment `1` on the file `a`, and a CLI whose hooks the proxy leads. */
async function open(t) {
  const window = await Window.open(t);
  const proxy = await HookProxy.start(window);
  const file = window.sandbox.file('a', 'one\n');
  return { window, proxy, file, cli: new HookCli(window.sandbox) };
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
      const notes = await promptsUntil(all, killed);
      await all.window.start();
      const again = await all.cli.prompt('and now');
      assert.deepEqual([...commentsIn(notes), ...commentsIn(again)], [String(id)]);
    }
  });
});
