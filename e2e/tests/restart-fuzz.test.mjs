// Restarts and kills `serve --resume` at random, and checks that several clients, which share
// files, receive each their own decisions exactly once.
//
// `COMPANION_SOAK_SECONDS` is the duration, `COMPANION_SOAK_SEED` selects the run. `npm test` ends a
// file after 15 minutes; `node --test` does not.

import test from 'node:test';

import { randomOf } from '../lib/random.mjs';
import { RestartFuzz } from '../lib/restart-fuzz.mjs';
import { Window } from '../lib/window.mjs';

const { COMPANION_SOAK_SECONDS, COMPANION_SOAK_SEED } = process.env;

test('clients that share files receive their own decisions, however often the companion ends', async (t) => {
  const seed = Number(COMPANION_SOAK_SEED ?? Date.now() % 1_000_000);
  t.diagnostic(`COMPANION_SOAK_SEED=${seed}`);
  const window = await Window.open(t);
  const fuzz = new RestartFuzz(window, randomOf(seed));
  await fuzz.start();
  const end = Date.now() + 1000 * Number(COMPANION_SOAK_SECONDS ?? 0);
  // So many steps take a few seconds.
  for (let steps = 0; steps < 1000 || Date.now() < end; steps++) await fuzz.step();
  await fuzz.finish();
  t.diagnostic(JSON.stringify(fuzz.counts));
});
