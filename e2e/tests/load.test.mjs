// Tests the program's use of system resources: at the limit of file descriptors, and when idle. A test
// with thousands of peers is in rust/companion-server/tests/half_open.rs.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Session } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until, within } from '../lib/inbox.mjs';
import { openWindow, openWindowWithClient } from '../lib/scene.mjs';

// The measurements read /proc.
const options = { skip: process.platform !== 'linux' };

/** How many files and sockets the companion has open. */
function descriptors({ pid }) {
  return fs.readdirSync(`/proc/${pid}/fd`).length;
}

/** How often each of the companion's threads has gone to sleep, which is how often it was woken. */
function wakeUps({ pid }) {
  const count = (task) => {
    try {
      const status = fs.readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8');
      return /^voluntary_ctxt_switches:\s*(\d+)$/m.exec(status)[1];
    } catch {
      return 'it has just ended';
    }
  };
  const tasks = fs.readdirSync(`/proc/${pid}/task`);
  return tasks.map((task) => `${task}: ${count(task)}`).join(', ');
}

/** So many peers that connect, and stay until the test has ended. */
function gather(sandbox, { ready }, count) {
  const crowd = Array.from({ length: count }, () =>
    net.connect(ready.port, '127.0.0.1').on('error', () => {}),
  );
  sandbox.defer(() => crowd.forEach((socket) => socket.destroy()));
  return crowd;
}

test('without free descriptors, clients wait, and are served after others have ended', options, async (t) => {
  const limit = 64;
  const machine = { prefix: () => ['sh', '-c', `ulimit -n ${limit}; exec "$0" "$@"`] };
  const { sandbox, companion, client } = await openWindowWithClient(t, { machine });
  const before = descriptors(companion);
  const crowd = [];
  const { port, authToken } = companion.ready;
  const head = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${authToken}\r\n`;
  const come = (count) => {
    const more = gather(sandbox, companion, count);
    for (const socket of more) socket.write(`GET / HTTP/1.1\r\n${head}\r\n`);
    crowd.push(...more);
  };
  come(2 * limit);
  // Of several clients at once, one may be evicted for the next before it has sent its token.
  await until('no descriptor is left, and the log says so', () => {
    come(1);
    return companion.log.includes('could not accept a connection');
  });

  // Connected clients still get notifications, and a new client waits.
  const path = sandbox.file('a.txt');
  companion.notify('editor/focused', { path });
  await client.openFiles((files) => files[0]?.path === path);
  const waiting = Session.open(sandbox, companion);
  const first = await Promise.race([waiting.then(() => 'served'), sleep(1000, 'waiting')]);
  assert.equal(first, 'waiting');

  crowd.forEach((socket) => socket.destroy());
  await within(waiting, 'the client that waited');
  const late = await IdeClient.connect(sandbox);
  await late.openFiles((files) => files[0]?.path === path);
  await late.close();
  await until('no more descriptors are in use than before', () => descriptors(companion) <= before);
  assert.equal(companion.log.trim().split('\n').length, 1, companion.log);
});

// A sign of life every 20 s is all that a quiet server does; so there are seconds without any.
test('with a quiet client the processor may sleep', options, async (t) => {
  const { sandbox, companion } = await openWindow(t);
  await (await Session.open(sandbox, companion)).stream();
  // Its ignore files are watched.
  sandbox.file('src/.aiignore', '*.hid\n');
  companion.notify('editor/focused', { path: sandbox.file('src/x.hid') });
  await companion.next('companion/private');
  await until('three seconds without work', async () => {
    const before = wakeUps(companion);
    await sleep(3000);
    return before === wakeUps(companion);
  });
});
