// Tests in a window that proposals stay open, with the user's edits, when the server restarts.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe } from 'node:test';

import { REJECTED, accepted } from '../lib/decision.mjs';
import { Scene, WAITING } from '../lib/ide-scene.mjs';

describe('a restart of the server', () => {
  const scene = new Scene();
  before(() => scene.open());
  after(() => scene.close());

  /** A client proposes an edit, and the user types in it. */
  async function proposeEdited(name, client = scene.client) {
    const file = scene.sandbox.file(name, 'old\n');
    const { title, decision } = await scene.propose(file, 'new\n', client);
    await scene.clickInto(title);
    await scene.ide.display.type('mine ');
    await isShown(file);
    return { file, title, decision };
  }

  /** Waits for the next server: the client has no stream yet. */
  const restarted = () =>
    scene.ide.until(({ statusBar }) => statusBar.some((text) => text.startsWith(WAITING)), WAITING);

  const isShown = (file) => scene.proposal(file, ({ right }) => right === 'mine new\n');

  /** The CLI gets the text, and writes it: it may have no stream when the user accepts. */
  async function getsAndWrites({ file, decision }, text) {
    assert.deepEqual(await decision, accepted(text));
    fs.writeFileSync(file, text);
    await scene.noProposal();
  }

  /** Changes a setting by its mnemonic and by typing. */
  async function changeSetting(name, mnemonic, text) {
    const { ide } = scene;
    await ide.invoke('Companion.OpenSettings');
    const isInDialog = ({ texts, focus }) =>
      texts.includes('Log level:') && focus?.component !== undefined && focus.editor === undefined;
    await ide.until(isInDialog, 'the focus in the settings');
    await ide.display.press(mnemonic);
    await ide.until(({ focus }) => focus?.name?.startsWith(name), `the focus in ${name}`);
    if (text) await ide.display.type(text);
    await ide.display.press('Return');
    await ide.until(({ windows }) => windows.length === 1, 'the end of the settings');
  }

  scene.test('keeps an edited proposal, which the CLI gets then', async ({ ide, client }) => {
    const proposal = await proposeEdited('restarted.txt');
    const { file, title } = proposal;
    await ide.invoke('Companion.RestartServer');
    await restarted();
    const tab = await isShown(file);
    assert.equal(tab.title, title);
    await ide.display.type('too ');
    await scene.proposal(file, ({ right }) => right === 'mine too new\n');
    await scene.picture('restarted');
    await scene.accept(title);
    await getsAndWrites(proposal, 'mine too new\n');
    assert.equal(await client.status(), 'connected');
  });

  scene.test('carries out a decision that the user makes meanwhile', async ({ ide }) => {
    const proposal = await proposeEdited('meanwhile.txt');
    await ide.invoke('Companion.RestartServer');
    await scene.accept(proposal.title);
    await scene.picture('meanwhile');
    await getsAndWrites(proposal, 'mine new\n');
  });

  scene.test('for a setting keeps the proposals of all CLIs', async ({ client }) => {
    const other = await scene.connect();
    const closed = await proposeEdited('closed.txt');
    const kept = await proposeEdited('kept.txt', other);
    await changeSetting('Largest request', 'alt+l', '1');
    await restarted();
    await scene.turnTo(closed.title);
    await isShown(closed.file);
    assert.equal(await client.closeDiff(closed.file), 'mine new\n', 'for an answer in the terminal');
    await scene.turnTo(kept.title);
    await isShown(kept.file);
    await scene.accept(kept.title);
    await getsAndWrites(kept, 'mine new\n');
    await other.close();
  });

  scene.test('without the review rejects a proposal, and offers the text', async ({ ide }) => {
    const { decision } = await proposeEdited('rejected.txt');
    await changeSetting('Review edits', 'alt+r');
    assert.deepEqual(await decision, REJECTED);
    await ide.until(({ texts }) => texts.includes('Show your edits'), 'the offer');
    await scene.noProposal();
    await ide.click('text', { text: 'Show your edits' });
    const back = ({ tabs }) => tabs.some(({ title }) => title === 'rejected.txt (your edits)');
    await ide.until(back, 'the text');
  });
});
