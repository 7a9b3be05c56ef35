// Owns the ends that the monkey brings about and what is to be there afterwards: the project is
// closed, the IDE quits or is killed, and each is opened again.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { REJECTED } from './ide-scene.mjs';
import { until } from './inbox.mjs';

/** How long a client waits for its companion to come back, in ms, with a margin. */
const RETRY = 18_000;

/** Does what ends all proposals; there is a question if one was edited. Returns whether they end. */
async function leave(monkey, action) {
  const { ide } = monkey;
  await ide.robot('invoke', { action });
  if (![...monkey.waiting.values()].some((proposal) => monkey.isEdited(proposal))) return true;
  await ide.until(({ texts }) => texts.includes('Keep Open'), 'a question');
  const isKept = monkey.random(3) === 0;
  await ide.click('text', { text: isKept ? 'Keep Open' : 'Reject and Close' });
  if (isKept) await ide.until(({ texts }) => !texts.includes('Keep Open'), 'the end of the question');
  return !isKept;
}

function onDisk(file) {
  return fs.readFileSync(file, 'utf8');
}

/** Waits until all that was typed is on the disk. */
async function saved(monkey) {
  for (const file of monkey.files.keys()) {
    const what = `${JSON.stringify(monkey.text(file))} on the disk, in ${path.basename(file)}`;
    await until(what, () => onDisk(file) === monkey.text(file));
  }
}

/**
 * Nothing waits any more. Clients stay connected if nothing has taken more than the time for which
 * they wait; otherwise the user starts a CLI anew that has lost its connection.
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
  await saved(monkey);
  ide.opened.takeAll();
  await ide.robot('open project', { path: scene.sandbox.project });
  await ide.opened.next();
  await ide.display.activate(' - IntelliJ Platform$');
  await comeBack(monkey, begun);
}

async function quit(monkey) {
  const begun = Date.now();
  if (!(await leave(monkey, 'Exit'))) return;
  assert.equal(await monkey.ide.exited(), 0);
  await saved(monkey);
  await startAgain(monkey, begun);
}

/** What was saved stays; what was not may be gone, as in any editor. */
async function kill(monkey) {
  const { ide } = monkey;
  if (monkey.random(2) === 0) {
    await ide.robot('invoke', { action: 'SaveAll' });
    await saved(monkey);
  }
  const begun = Date.now();
  ide.kill();
  assert.equal(await ide.exited(), 'SIGKILL');
  for (const [file, texts] of monkey.files) {
    const text = onDisk(file);
    assert.ok(texts.includes(text), `${JSON.stringify(text)} in ${path.basename(file)}`);
    texts.push(text);
  }
  await startAgain(monkey, begun);
}

/** How often each is done, beside the other deeds. They take long. */
export const ENDS = {
  reopen: { weight: 6, play: reopen },
  quit: { weight: 4, play: quit },
  kill: { weight: 4, play: kill },
};
