// Tests Qwen Code beside Gemini CLI in a real window: the real client connects, and its edit is
// reviewed.

import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';

import { REJECTED, accepted } from '../lib/decision.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { Scene } from '../lib/ide-scene.mjs';
import { until } from '../lib/inbox.mjs';
import { QWEN_CLIENT, locks, qwenHome } from '../lib/qwen-code.mjs';

describe('in a window', () => {
  const scene = new Scene();
  before(() => scene.open());
  after(() => scene.close());

  scene.test('Qwen Code and Gemini CLI each have their edits reviewed', async (scene) => {
    const { ide, sandbox, client } = scene;
    const home = qwenHome(sandbox);
    await until('the file is there', () => locks(home).length === 1);
    const qwen = await IdeClient.connect(sandbox, { module: QWEN_CLIENT });
    await scene.status('Companion for Gemini CLI: 2 CLIs connected');

    const file = await scene.edit('qwen.txt', 'one\ntwo\n', {
      line: 2,
      character: 4,
      from: { line: 2, character: 1 },
    });
    const [active] = await qwen.openFiles(([open]) => open?.selectedText === 'two');
    assert.equal(active.path, file);

    const { title, tab, decision } = await scene.propose(file, 'one\ntwo!\n', qwen);
    assert.equal(tab.left, 'one\ntwo\n');
    await ide.robot('write proposal', { tab: title, text: 'one\nby the user\n' });
    await scene.accept(title);
    await scene.ends(decision, accepted('one\nby the user\n'));

    const other = await scene.propose(sandbox.file('gemini.txt', 'old\n'), 'new\n', client);
    await scene.clickX(other.title);
    assert.deepEqual(await other.decision, REJECTED);
    await qwen.close();
  });
});
