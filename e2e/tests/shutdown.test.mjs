// Tests the companion's end: it is quick, leaves nothing behind, and keeps nobody waiting.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { REJECTED } from '../lib/decision.mjs';
import { EventStream, Session } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { openWindowWithClient } from '../lib/scene.mjs';

const waysToStop = {
  'SIGTERM comes': (companion) => companion.signal('SIGTERM'),
  'SIGINT comes': (companion) => companion.signal('SIGINT'),
  'the editor closes stdin': (companion) => companion.closeStdin(),
};

/** Stops it, and asserts that it ends well and in time. */
async function assertStops(companion, stop) {
  const start = Date.now();
  stop(companion);
  assert.equal(await companion.exited(), 0);
  const took = Date.now() - start;
  // Two seconds are promised; a busy machine takes its time to start and end processes.
  assert.ok(took < 4000, `it took ${took} ms`);
  assert.equal(fs.existsSync(companion.ready.discoveryFiles.gemini), false);
}

for (const [name, stop] of Object.entries(waysToStop)) {
  test(`when ${name}, open edits are rejected, streams end in order, the file is removed`, async (t) => {
    const { sandbox, companion, editor, client } = await openWindowWithClient(t);
    const other = await IdeClient.connect(sandbox);
    const streams = [
      await (await Session.open(sandbox, companion)).stream(),
      await EventStream.open(sandbox, companion, '/events'),
    ];
    const [a, b] = [sandbox.file('a.txt'), sandbox.file('b.txt')];
    const decisions = [client.openDiff(a, 'text'), other.openDiff(b, 'text')];
    await editor.view(a);
    await editor.view(b);

    await assertStops(companion, stop);
    assert.deepEqual(await Promise.all(decisions), [REJECTED, REJECTED]);
    for (const stream of streams) assert.equal(await stream.ended(), 'end');
  });
}
