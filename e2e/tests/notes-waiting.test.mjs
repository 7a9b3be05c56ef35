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
import { until } from '../lib/inbox.mjs';
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

describe('after a pause', { concurrency: 2 }, () => {
  for (const [end, seconds] of [
    ['kill', 45],
    ['stop', 9 * HOURS],
  ]) {
    test(`of ${seconds} s behind ${end}, each note is delivered once`, async (t) => {
      const window = await Window.open(t);
      const file = window.sandbox.file('a', 'one\n');
      const cli = await startCli(window, 'a');
      await comment(window, commentOn(file, 1));
      assert.deepEqual(commentsIn(await cli.hooks.prompt('change it')), ['1']);
      await cli.hooks.write(file, 'two\n');
      const { session, prompt } = (await window.companion.next('cli/changed')).params;
      fs.writeFileSync(file, 'one\n');
      const { decision } = await propose(window, cli, `${file}-new`);
      window.editor.reject(`${file}-new`, 'not so');
      await decision;
      window.companion.notify('cli/reverted', { session, prompt, paths: [file] });
      await untilSaved(window.sandbox, { text: '"revert"' });
      await comment(window, commentOn(file, 2), commentOn(file, 3));
      await cli.client.close();

      await restartAfter(window, end, seconds);
      // An editor that was killed, too, may not know that the first one was delivered.
      window.companion.notify('comment/set', commentOn(file, 1));
      assert.deepEqual((await window.companion.next('comment/delivered')).params.ids, ['1']);
      // The same session in another process, as with `--resume`.
      const again = new HookCli(window.sandbox, 'a');
      let notes = '';
      // The editor may take a comment back first.
      await until('the comments', async () => (notes += await again.prompt('go')).includes('remark'));
      assert.deepEqual(commentsIn(notes), ['2', '3']);
      assert.match(notes, /rejected your last edit of a-new.*not so/);
      assert.match(notes, /The user reverted your changes to a\./);
      const { params } = await window.companion.next('comment/pending');
      assert.deepEqual(params.comments.map(({ id }) => id), ['2', '3']);
      await restartAfter(window, end, seconds);
      assert.equal(await again.prompt('go on'), '');
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
  test('by a companion that starts again with another port', async (t) => {
    const window = await Window.open(t);
    const file = window.sandbox.file('a', 'one\n');
    await comment(window, commentOn(file, 1));
    await window.kill();
    await window.start('--port', '0');
    assert.deepEqual(commentsIn(await firstNote(new HookCli(window.sandbox))), ['1']);
    const { params } = await window.companion.next('comment/pending');
    assert.deepEqual(params.comments.map(({ id }) => id), ['1']);
  });

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
