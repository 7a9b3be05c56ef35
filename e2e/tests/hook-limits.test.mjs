// Tests the hooks at limits: files that are none, large texts, and the end of the companion.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { HookCli } from '../lib/hook-cli.mjs';
import { until } from '../lib/inbox.mjs';
import { suspend } from '../lib/suspend.mjs';
import { propose, commentOn, commentsIn, startCli } from '../lib/notes.mjs';
import { openWindow } from '../lib/scene.mjs';
import { Window } from '../lib/window.mjs';

/** Replaces a file by a FIFO and back, as fast as it can. */
const FLIP = `
const fs = require('node:fs');
const [, file, plain, fifo] = process.argv;
for (;;) {
  for (const source of [fifo, plain]) {
    fs.linkSync(source, file + '.next');
    fs.renameSync(file + '.next', file);
  }
}
`;

/** Flips the file `name` of the project while `act` runs. At the end it is a file with `text`. */
async function flip({ sandbox, editor }, name, text, act) {
  editor.diagnose = () => []; // this editor would read the file
  const [plain, fifo] = ['plain', 'fifo'].map((file) => path.join(sandbox.folder('flip'), file));
  fs.writeFileSync(plain, text);
  execFileSync('mkfifo', [fifo]);
  const file = path.join(sandbox.project, name);
  const flipping = spawn(process.execPath, ['-e', FLIP, file, plain, fifo]);
  const end = once(flipping, 'exit');
  try {
    await act(file);
  } finally {
    flipping.kill('SIGKILL');
    await end;
  }
  fs.rmSync(file);
  fs.writeFileSync(file, text);
  return file;
}

describe('a file that becomes a FIFO', { concurrency: 2 }, () => {
  test('does not stop the look at other files', async (t) => {
    const window = await openWindow(t);
    const cli = new HookCli(window.sandbox);
    await flip(window, 'a', 'one\n', async (file) => {
      const looks = async () => {
        for (const end = Date.now() + 4_000; Date.now() < end; ) await cli.before(file);
      };
      await Promise.all(Array.from({ length: 6 }, looks));
    });
    const other = window.sandbox.file('b', 'old\n');
    await cli.prompt('change it');
    await cli.write(other, 'new\n');
    const { session, prompt, files } = (await window.companion.next('cli/changed')).params;
    assert.equal(files[0].revertible, true);
    const texts = await window.companion.request('cli/texts', { session, prompt, path: other });
    assert.deepEqual(texts, { before: 'old\n', after: 'new\n' });
  });

  test('makes no other file private, as an ignore file', async (t) => {
    const window = await Window.open(t);
    const { companion, sandbox } = window;
    const file = sandbox.file('a', 'one\n');
    await flip(window, '.aiexclude', 'nothing\n', async () => {
      for (const end = Date.now() + 4_000; Date.now() < end; ) {
        companion.notify('comment/set', commentOn(file, 1));
        await companion.caughtUp();
        await new HookCli(sandbox).before(file);
      }
    });
    // Comments wait while the rules change.
    companion.notify('comment/set', commentOn(file, 2));
    const cli = new HookCli(sandbox);
    await until('the model gets the comment', async () =>
      commentsIn(await cli.prompt('go')).includes('2'),
    );
  });
});

test('the memory of changes stays within its limit and a half', async (t) => {
  const { companion, sandbox } = await openWindow(t);
  /** The peak of the memory of the companion, in MB. */
  const peak = () =>
    Number(/VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${companion.pid}/status`, 'utf8'))[1]) / 1024;
  const before = peak();
  const cli = new HookCli(sandbox);
  const file = sandbox.file('a', '');
  const size = 15 << 20;
  for (let number = 0; number < 24; number++) {
    fs.writeFileSync(file, `${number}\n`.repeat(size / `${number}\n`.length));
    await cli.prompt('change it');
    await cli.write(file, `${number}: ${'x\n'.repeat(size / 2 - 8)}`);
  }
  const grown = peak() - before;
  assert.ok(grown <= 96, `${grown} MB`);
});

test('the companion ends in time while a reason waits for a suspended CLI', async (t) => {
  const window = await Window.open(t);
  const { companion, editor, sandbox } = window;
  const file = sandbox.file('a', 'one\n');
  const cli = await startCli(window, 'a');
  await propose(window, cli, file);
  assert.equal(editor.reasons.get(file), 'now');
  await suspend(cli.client.pid);
  sandbox.defer(() => cli.client.signal('SIGCONT'));
  editor.reject(file, 'not so');
  await companion.caughtUp();
  await window.stop();
  assert.doesNotMatch(window.log, /did not stop in time/);
  cli.client.signal('SIGCONT');
  await window.start();
  assert.match(await cli.hooks.prompt('go'), /rejected your last edit of a,.*not so/);
});
