// Tests that the user's words wait for a model however long nobody is there: no CLI, no editor, and
// another port.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import { once } from 'node:events';
import { describe, test } from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { untilSaved } from '../lib/conversation.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import {
  age,
  comment,
  firstNote,
  propose,
  commentOn,
  commentsIn,
  startCli,
} from '../lib/notes.mjs';
import { Window } from '../lib/window.mjs';

/** Restarts a companion after its end and these seconds. */
async function restartAfter(window, end, seconds, ...args) {
  await window[end]();
  age(window, seconds);
  await window.start(...args);
}

const HOURS = 3600;

/** The ends of a companion, and the seconds that nobody is there. */
const PAUSES = [
  ['kill', 45],
  ['stop', 9 * HOURS],
];

describe('after a pause', { concurrency: 3 }, () => {
  for (const [end, seconds] of PAUSES) {
    test(`of ${seconds} s behind ${end}, a comment is delivered once`, async (t) => {
      const window = await Window.open(t);
      const file = window.sandbox.file('a', 'one\n');
      await comment(window, commentOn(file, 1), commentOn(file, 2));
      await restartAfter(window, end, seconds);
      const cli = new HookCli(window.sandbox);
      // The editor may take a comment back first.
      assert.deepEqual(commentsIn(await firstNote(cli)), ['1', '2']);
      const { params } = await window.companion.next('comment/pending');
      assert.deepEqual(params.comments.map(({ id }) => id), ['1', '2']);
      await restartAfter(window, end, seconds);
      assert.equal(await cli.prompt('go on'), '');
    });

    test(`of ${seconds} s behind ${end}, a reason is delivered once`, async (t) => {
      const window = await Window.open(t);
      const file = window.sandbox.file('a', 'one\n');
      const cli = await startCli(window, 'a');
      const { decision } = await propose(window, cli, `${file}-new`);
      window.editor.reject(`${file}-new`, 'not so');
      await decision;
      await cli.client.close();
      await restartAfter(window, end, seconds);
      // The same session in another process, as with `--resume`.
      const again = new HookCli(window.sandbox, 'a');
      assert.match(await again.prompt('go'), /rejected your last edit of a-new.*not so/);
      await restartAfter(window, end, seconds);
      assert.equal(await again.prompt('go on'), '');
    });

    test(`of ${seconds} s behind ${end}, a revert is reported once`, async (t) => {
      const window = await Window.open(t);
      const file = window.sandbox.file('a', 'one\n');
      const cli = new HookCli(window.sandbox);
      await cli.prompt('change it');
      await cli.write(file, 'two\n');
      const { session, prompt } = (await window.companion.next('cli/changed')).params;
      fs.writeFileSync(file, 'one\n');
      window.companion.notify('cli/reverted', { session, prompt, paths: [file] });
      await untilSaved(window.sandbox, { text: '"revert"' });
      await restartAfter(window, end, seconds);
      assert.match(await cli.prompt('go'), /The user reverted your changes to a\./);
      await restartAfter(window, end, seconds);
      assert.equal(await cli.prompt('go on'), '');
    });

    test(`of ${seconds} s behind ${end}, a delivered comment is known`, async (t) => {
      const window = await Window.open(t);
      const file = window.sandbox.file('a', 'one\n');
      await comment(window, commentOn(file, 1));
      const cli = new HookCli(window.sandbox);
      assert.deepEqual(commentsIn(await cli.prompt('go')), ['1']);
      await restartAfter(window, end, seconds);
      // An editor that was killed, too, may not know it.
      window.companion.notify('comment/set', commentOn(file, 1));
      assert.deepEqual((await window.companion.next('comment/delivered')).params.ids, ['1']);
      assert.equal(await cli.prompt('go on'), '');
    });
  }
});

/** Starts a process that stands for an editor. */
function sleeper({ sandbox }) {
  const process = spawn('sleep', ['600'], { stdio: 'ignore' });
  sandbox.defer(() => process.kill());
  return process;
}

describe('a comment is delivered', { concurrency: 3 }, () => {
  const restarts = {
    'with another port': () => ['--port', '0'],
    'without the review of edits': () => ['--no-review'],
  };
  for (const [how, args] of Object.entries(restarts)) {
    test(`by a companion that starts again ${how}`, async (t) => {
      const window = await Window.open(t);
      const file = window.sandbox.file('a', 'one\n');
      await comment(window, commentOn(file, 1));
      await window.kill();
      await window.start(...args());
      assert.deepEqual(commentsIn(await firstNote(new HookCli(window.sandbox))), ['1']);
      const { params } = await window.companion.next('comment/pending');
      assert.deepEqual(params.comments.map(({ id }) => id), ['1']);
    });
  }

  test('by a companion whose port was taken meanwhile', async (t) => {
    const window = await Window.open(t);
    const file = window.sandbox.file('a', 'one\n');
    await comment(window, commentOn(file, 1));
    const { port } = window.companion.ready;
    await window.kill();
    const other = net.createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    window.sandbox.defer(() => other.close());
    await window.start();
    assert.notEqual(window.companion.ready.port, port);
    assert.deepEqual(commentsIn(await firstNote(new HookCli(window.sandbox))), ['1']);
  });

  test('although another process has got the id of its editor', async (t) => {
    const window = await Window.open(t);
    const [editor, other, next] = [1, 2, 3].map(() => String(sleeper(window).pid));
    await window.stop();
    await window.start('--ide-pid', editor);
    await comment(window, commentOn(window.sandbox.file('a', 'one\n'), 1));
    await window.kill();
    const state = window.states().find((file) => fs.readFileSync(file, 'utf8').includes('remark 1'));
    const left = fs.readFileSync(state, 'utf8');
    const reused = left.replace(`"idePid":${editor},`, `"idePid":${other},`);
    assert.notEqual(reused, left);
    fs.writeFileSync(state, reused);
    age(window, 45);
    await window.start('--ide-pid', next);
    const { params } = await window.companion.next('comment/pending');
    assert.deepEqual(params.comments.map(({ id }) => id), ['1']);
    assert.deepEqual(commentsIn(await firstNote(new HookCli(window.sandbox))), ['1']);
  });

  test('though another project was opened in the meantime', async (t) => {
    const window = await Window.open(t);
    const file = window.sandbox.file('a', 'one\n');
    await comment(window, commentOn(file, 1));
    await window.stop();
    age(window, 9 * HOURS);
    const project = window.sandbox.folder('other');
    const options = { args: ['--resume'], workspace: [project] };
    await (await Companion.start(window.sandbox, options)).close();
    await window.start();
    assert.deepEqual(commentsIn(await firstNote(new HookCli(window.sandbox))), ['1']);
  });
});

test('the token does not outlive its clients, though comments do', async (t) => {
  const window = await Window.open(t);
  const { authToken } = window.companion.ready;
  await comment(window, commentOn(window.sandbox.file('a', 'one\n'), 1));
  await restartAfter(window, 'kill', 45);
  assert.notEqual(window.companion.ready.authToken, authToken);
  assert.ok(!window.state().includes(authToken), 'the old token is deleted');
});
