// Uses comments, reasons and reverts at random with several CLIs, while the companion ends and
// messages get lost, and checks that each note reaches one model once.
//
// `COMPANION_FUZZ_SEED` selects the run. Without it a short run is always the same, and a long one
// another each time.

import test from 'node:test';

import { ConversationFuzz } from '../lib/conversation-fuzz.mjs';
import { randomOf } from '../lib/random.mjs';
import { Window } from '../lib/window.mjs';

const { COMPANION_FUZZ_SEED, COMPANION_TEST_LONG } = process.env;
const isLong = COMPANION_TEST_LONG === '1';
const SECONDS = isLong ? 600 : 20;

test('each note reaches one model once, whatever ends in the middle', async (t) => {
  const seed = Number(COMPANION_FUZZ_SEED ?? (isLong ? Date.now() % 1_000_000 : 1));
  t.diagnostic(`COMPANION_FUZZ_SEED=${seed}`);
  const window = await Window.open(t);
  const fuzz = new ConversationFuzz(window, randomOf(seed));
  try {
    await fuzz.start();
    const end = Date.now() + 1000 * SECONDS;
    while (Date.now() < end) await fuzz.step();
    await fuzz.finish();
  } catch (error) {
    t.diagnostic(`the last steps:\n${fuzz.log.slice(-40).join('\n')}`);
    t.diagnostic(`the log of the companion:\n${window.companion.log.slice(-4000)}`);
    throw error;
  }
  t.diagnostic(JSON.stringify(fuzz.counts));
});
