// Implements the endings of the monkey, and checks the state afterwards. It closes the project,
// quits or kills the IDE, and opens each again.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { REJECTED } from './decision.mjs';
import { until } from './inbox.mjs';

/** The time that a client waits for its companion to restart, in ms, with a margin. */
const RETRY = 18_000;

/** Runs an action that ends all proposals; the IDE asks if one was edited. Returns whether they end. */
async function leave(monkey, action) {
  const { ide } = monkey;
  await ide.invoke(action);
  if (![...monkey.waiting.values()].some((proposal) => monkey.isEdited(proposal))) return true;
  await ide.until(({ texts }) => texts.includes('Keep Open'), 'a question');
  const isKept = monkey.random(3) === 0;
  await ide.click('text', { text: isKept ? 'Keep Open' : 'Close Anyway' });
  if (isKept) await ide.until(({ texts }) => !texts.includes('Keep Open'), 'the end of the question');
  return !isKept;
}

/**
 * Expects that no proposal waits. A client stays connected if the restart took less time than the
 * client waits; otherwise the user restarts the CLI.
 */
async function comeBack(monkey, begun) {
  const { ide, clients, scene } = monkey;
  const isInTime = Date.now() < begun + RETRY;
  const gone = [...monkey.waiting.values()];
  monkey.waiting.clear();
  const connected = `${clients.length} CLIs connected`;
  await until(connected, async () => {
    for (const [i, client] of clients.entries()) {
      if ((await client.status()) !== 'disconnected') continue;
      assert.ok(!isInTime, 'a client has lost its connection');
      await client.close();
      clients[i] = await scene.connect();
    }
    const { statusBar } = await ide.robot('look');
    return statusBar.some((text) => text.includes(connected));
  });
  for (const { client, decision } of gone) {
    if (clients.includes(client)) assert.deepEqual(await decision, REJECTED);
  }
}

async function startAgain(monkey, begun) {
  await monkey.scene.openIde({ display: monkey.ide.display });
  await comeBack(monkey, begun);
}

async function reopen(monkey) {
  const { ide, scene } = monkey;
  const begun = Date.now();
  if (!(await leave(monkey, 'CloseProject'))) return;
  await ide.until(({ projects }) => projects.length === 0, 'the end of the project');
  await monkey.saved();
  ide.opened.takeAll();
  await ide.robot('open project', { path: scene.sandbox.project });
  await ide.opened.next();
  await ide.activate();
  await comeBack(monkey, begun);
}

async function quit(monkey) {
  const begun = Date.now();
  if (!(await leave(monkey, 'Exit'))) return;
  assert.equal(await monkey.ide.exited(), 0);
  await monkey.saved();
  await startAgain(monkey, begun);
}

/** Expects that saved text stays. Unsaved text may be lost, as in any editor. */
async function kill(monkey) {
  const { ide } = monkey;
  if (monkey.random(2) === 0) {
    await ide.invoke('SaveAll');
    await monkey.saved();
  }
  const begun = Date.now();
  ide.kill();
  assert.equal(await ide.exited(), 'SIGKILL');
  for (const [file, texts] of monkey.files) {
    const text = fs.readFileSync(file, 'utf8');
    assert.ok(texts.includes(text), `${JSON.stringify(text)} in ${path.basename(file)}`);
    texts.push(text);
  }
  await startAgain(monkey, begun);
}

/** The weight of each ending among the actions. Endings take long. */
export const ENDS = {
  reopen: { weight: 6, play: reopen },
  quit: { weight: 4, play: quit },
  kill: { weight: 4, play: kill },
};
