// Plays random actions in a real window to find unexpected failures. A failure prints the seed for
// COMPANION_MONKEY_SEED, and a short script for COMPANION_MONKEY_SCRIPT.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { IS_INSTALLED } from '../lib/ide.mjs';
import { Monkey } from '../lib/monkey.mjs';
import { ACTIONS } from '../lib/monkey-actions.mjs';
import { ENDS } from '../lib/monkey-ends.mjs';
import { randomOf } from '../lib/random.mjs';

const { COMPANION_MONKEY_SCRIPT: SCRIPT, COMPANION_MONKEY_SEED, COMPANION_TEST_LONG } = process.env;
const SEED = COMPANION_MONKEY_SEED ?? '1';
const IS_LONG = COMPANION_TEST_LONG === '1';
const MINUTES = IS_LONG ? 30 : 1;

const isWanted = IS_LONG || IS_INSTALLED || SCRIPT || COMPANION_MONKEY_SEED;
const skip = !isWanted && 'it plays in long tests, in installed IDEs, and with a seed or a script';

/** The part of a game with expected growth; afterwards nothing grows. */
const WARM_UP = 0.25;

/** Caches of the platform fill, and its threads come and go. */
const SLACK = 10;

/**
 * How many the platform keeps: all notifications, the files of 150 places seen and 150 edited, and
 * some tabs that are gone, with up to six links each: those that had the focus last, were painted
 * last or were about to have a tooltip. The actions, keys and border of a link stay with it.
 */
const KEPT = [
  [/\.ProposalBanner\$(Link$|\$Lambda)|\.KeyboardAccess\$/, 6 * SLACK],
  [/\.(ProposalNotices|NoticesKt)\$\$Lambda/, Infinity],
  [/\.(ProposalFile|TabFile\$Type)$|\.ProposalService\$add\$file\$1$/, 300],
  [/\.ChangeRevert(\$|$)/, 100],
];

/** Each revert that the user can undo. The platform keeps up to 100 for each file. */
const REVERT = 'dev.companion.gemini.changes.ChangeRevert$Report';

/** Stay with each such revert, of one file of one prompt. */
const KEPT_BY_REVERT = /\.(PromptKey|ChangeRow)$/;

async function inWindow(play) {
  const monkey = new Monkey();
  try {
    await monkey.begin();
    await play(monkey);
  } catch (error) {
    await monkey.giveUp(error);
    throw error;
  }
  await monkey.scene.close();
}

async function game(monkey, t) {
  const begun = Date.now();
  const isBefore = (part) => Date.now() < begun + part * MINUTES * 60_000;
  const random = randomOf(Number(SEED));
  // A process that started late would hide growth.
  const early = IS_LONG ? { ...ACTIONS, ...ENDS } : ACTIONS;
  const late = IS_LONG ? { ...ACTIONS, reopen: ENDS.reopen } : ACTIONS;
  while (isBefore(WARM_UP)) await monkey.play(random(1_000_000), early);
  const before = await monkey.tidy();
  while (isBefore(1)) await monkey.play(random(1_000_000), late);
  const after = await monkey.tidy();

  // What other platforms keep is not known.
  if (IS_INSTALLED) return t.diagnostic(`${before.threads} threads, then ${after.threads}`);
  assert.ok(after.threads <= before.threads + SLACK, `${before.threads} threads, ${after.threads}`);
  const reverts = after.objects.get(REVERT) ?? 0;
  for (const [name, count] of after.objects) {
    const former = before.objects.get(name) ?? 0;
    const byRevert = KEPT_BY_REVERT.test(name) ? reverts : 0;
    const [, kept] = KEPT.find(([kind]) => kind.test(name)) ?? [undefined, byRevert];
    assert.ok(count <= former + kept + SLACK, `${former} objects of ${name}, then ${count}`);
  }
}

/** Plays a script again, without steps that are impossible after removed steps. */
async function replay(monkey, script) {
  for (const step of script) {
    const [name, seed] = step.split(':');
    await monkey.step(name, Number(seed));
  }
  await monkey.tidy();
}

/** The shortest end of a script that goes wrong as well, in a window of its own each time. */
async function shortest(script) {
  for (let length = 1; length < script.length; length *= 2) {
    const end = script.slice(-length);
    const isWrong = await inWindow((monkey) => replay(monkey, end)).then(
      () => false,
      () => true,
    );
    if (isWrong) return end;
  }
  return script;
}

test(`a monkey plays for ${MINUTES} min with the seed ${SEED}`, { skip }, async (t) => {
  let script = [];
  const play = SCRIPT ? (monkey) => replay(monkey, SCRIPT.split(' ')) : game;
  try {
    await inWindow(async (monkey) => {
      script = monkey.script;
      await play(monkey, t);
      t.diagnostic(`${script.length} steps`);
    });
  } catch (error) {
    // Immediately, because the user may interrupt the search.
    console.log(`seed ${SEED}, ${script.length} steps: ${error.message}`);
    const short = SCRIPT ? script : await shortest(script);
    error.message = `seed ${SEED}, script: ${short.join(' ')}\n${error.message}`;
    throw error;
  }
});
