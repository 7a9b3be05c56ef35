// Tests the companion's end: it is quick, leaves nothing behind, and keeps nobody waiting.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import { once } from 'node:events';
import test from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { REJECTED } from '../lib/decision.mjs';
import { EventStream, Session } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { openWindowWithClient } from '../lib/scene.mjs';

const waysToStop = {
  'SIGTERM comes': (companion) => companion.signal('SIGTERM'),
  'SIGINT comes': (companion) => companion.signal('SIGINT'),
  'the editor closes stdin': (companion) => companion.closeStdin(),
};

/** Stops it, and asserts that it ends well and in time. */
async function assertStops(companion, stop = waysToStop['the editor closes stdin']) {
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

test('an edit that the editor has not shown yet is rejected, too', async (t) => {
  const sandbox = Sandbox.of(t);
  const companion = await Companion.start(sandbox);
  const client = await IdeClient.connect(sandbox);
  const decision = client.openDiff(sandbox.file('a.txt'), 'text');
  await companion.next('diff/open');
  await assertStops(companion);
  assert.deepEqual(await decision, REJECTED);
});

test('a client that does not read does not hold up the end', async (t) => {
  const { sandbox, companion, editor } = await openWindowWithClient(t);
  const { port, authToken } = companion.ready;
  const session = await Session.open(sandbox, companion);
  const socket = net.connect(port, '127.0.0.1').on('error', () => {});
  sandbox.defer(() => socket.destroy());
  await once(socket, 'connect');
  assert.equal((await companion.next('companion/sessions')).params.count, 1);
  socket
    .pause()
    .write(
      [
        'GET /mcp HTTP/1.1',
        `Host: 127.0.0.1:${port}`,
        `Authorization: Bearer ${authToken}`,
        `mcp-session-id: ${session.headers['mcp-session-id']}`,
        '\r\n',
      ].join('\r\n'),
    );
  assert.equal((await companion.next('companion/sessions')).params.count, 2);
  const filePath = sandbox.file('a.txt');
  await session.callTool('openDiff', { filePath, newContent: '' });
  editor.accept(filePath, 'x'.repeat(20 << 20));
  await companion.caughtUp();
  await assertStops(companion);
});
