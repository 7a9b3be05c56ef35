// Tests that clients do not notice a restart of `serve --resume`, however it ended. A client whose
// stream has ended reconnects after 20 s, so the scenarios run concurrently.

import assert from 'node:assert/strict';
import test from 'node:test';

import { accepted } from '../lib/decision.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { Window, endStreams, propose, saved } from '../lib/window.mjs';

test('a client does not notice', { concurrency: true }, async (t) => {
  const scenarios = {
    async 'that it was restarted three times in a row, once with other settings'(t) {
      const window = await Window.open(t);
      const client = await window.connect();
      for (const settings of [[], ['--body-limit', '8', '--untrusted'], []]) {
        await window.stop();
        await window.start(...settings);
      }
      await window.assertGoesOn(client);
    },

    async 'that it was killed after the user decided and before it could send the decision'(t) {
      const window = await Window.open(t);
      const proxy = await Proxy.start(window.sandbox, window.companion);
      const client = await window.connect(proxy.env);
      const { file, decision } = await propose(window, client, 'decided.txt');
      await endStreams(window, proxy);
      const text = 'all of it “ünïcode”\n'.repeat(5000);
      window.editor.accept(file, text);
      await saved(window, file, text);
      await window.kill();
      await window.start();
      assert.deepEqual(await decision, accepted(text));
      await window.assertGoesOn(client);
    },

    async 'that it was killed after it had sent the decision, when it asks before it is back'(t) {
      const window = await Window.open(t);
      const proxy = await Proxy.start(window.sandbox, window.companion);
      const client = await window.connect(proxy.env);
      const { file, decision } = await propose(window, client, 'twice.txt');
      // The client's answer to the ping behind the decision. It reaches the next companion after all else.
      const pong = proxy.hold('POST');
      window.editor.accept(file, 'first');
      assert.deepEqual(await decision, accepted('first'));
      await saved(window, file, 'first');
      await window.kill();
      await window.start();
      pong.then((answer) => setTimeout(answer, 30_000).unref());
      const { decision: next } = await client.propose(window.editor, file, 'another');
      window.editor.accept(file, 'the answer');
      assert.deepEqual(await next, accepted('the answer'));
      await window.assertGoesOn(client);
    },
  };
  await Promise.all(Object.entries(scenarios).map(([name, run]) => t.test(name, run)));
});
