// Tests that only the user's decision ends a proposal in a real window, not a change of its tab.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe } from 'node:test';

import { REJECTED, UNCHANGED, accepted } from '../lib/decision.mjs';
import { CONNECTED, Scene } from '../lib/ide-scene.mjs';

/** Waits until one proposal waits and has no tab. */
async function losesItsTab(scene) {
  await scene.status(`${CONNECTED}, 1 proposal waits for your review`);
  await scene.noProposal();
}

/** Goes back to the one proposal by the status bar, and accepts it as it is. */
async function comesBack(scene, { file, decision }, text) {
  await scene.chooseInList(path.basename(file));
  const { title } = await scene.proposal(file, ({ right }) => right === text);
  await scene.accept(title);
  await scene.ends(decision, accepted(text));
}

/** A proposal that the user has edited. */
async function edited(scene, name) {
  const file = scene.sandbox.file(name, 'old\n');
  const { title, decision } = await scene.propose(file, 'new\n');
  await scene.clickInto(title);
  await scene.ide.display.type('mine ');
  await scene.proposal(file, ({ right }) => right === 'mine new\n');
  return { file, title, decision };
}

/** Accepts the one proposal, which waits with a tab or without one. */
async function acceptWaiting(scene, proposal, text) {
  await scene.status(`${CONNECTED}, 1 proposal waits for your review`);
  const { tabs } = await scene.ide.robot('look');
  if (tabs.every(({ right }) => right === null)) return comesBack(scene, proposal, text);
  await scene.accept(proposal.title);
  await scene.ends(proposal.decision, accepted(text));
}

describe('a proposal in a window', () => {
  const scene = new Scene();
  before(() => scene.open());
  after(() => scene.close());

  scene.test('it waits while the user opens eleven files', async (scene) => {
    const first = await scene.propose(scene.sandbox.file('waits.txt', 'old\n'), 'new\n');
    for (let i = 1; i <= 11; i++) await scene.edit(`many ${i}.txt`, 'many\n');
    await scene.accept(first.title);
    await scene.ends(first.decision, UNCHANGED);
  });

  scene.test('Esc after an edit asks, and the edit stays', async (scene) => {
    const { display } = scene.ide;
    const { file, title, decision } = await edited(scene, 'esc.txt');
    await display.press('Escape');
    await scene.asks();
    await display.press('Escape'); // the answer that changes nothing
    await scene.proposal(file, ({ right }) => right === 'mine new\n');
    await scene.clickX(title);
    await scene.asks(); // or the click would be one on the banner, below the question
    await scene.ide.click('text', { text: 'Reject' });
    await scene.ends(decision, REJECTED);
    await scene.ide.click('text', { text: 'Show your edits' });
    const back = ({ tabs }) => tabs.find(({ title }) => title.includes('(your edits)'));
    await scene.ide.until(back, 'what was written');
  });

  scene.test('Esc out of a tool window, and once more, leaves it', async (scene) => {
    const { title, decision } = await scene.propose(scene.sandbox.file('seen.txt', 'old\n'), 'new\n');
    await scene.ide.display.press('Escape', 'Escape', 'Escape');
    await scene.ide.until(({ focus }) => focus?.editor === 'DIFF', 'the focus in the proposal');
    await scene.accept(title);
    await scene.ends(decision, UNCHANGED);
  });

  scene.test('the CLI gets the user’s edits although the IDE asks a question', async (scene) => {
    const { display } = scene.ide;
    const { file, decision } = await edited(scene, 'terminal.txt');
    await display.press('Escape');
    await scene.asks();
    await scene.client.resolveDiffFromCli(file, 'accepted');
    assert.deepEqual(await decision, accepted('mine new\n'));
    await display.press('Escape'); // the answer that changes nothing
    await scene.noProposal();
  });

  for (const [how, close] of [
    ['the X', (scene, tab) => scene.clickX(tab)],
    ['a middle click', ({ ide }, tab) => ide.click('tab', { tab }, 2)],
    ['the key that closes a tab', ({ ide }) => ide.display.press('ctrl+F4')],
  ]) {
    scene.test(`${how} rejects, and asks after an edit`, async (scene) => {
      const file = scene.sandbox.file('closed.txt', 'old\n');
      const { title, decision } = await scene.propose(file, 'new\n');
      await scene.clickInto(title);
      await close(scene, title);
      await scene.ends(decision, REJECTED);

      const second = await edited(scene, 'closed.txt');
      await close(scene, title);
      await scene.asks();
      await scene.ide.click('text', { text: 'Keep Editing' });
      await scene.proposal(file, ({ right }) => right === 'mine new\n');
      await scene.accept(title);
      await scene.ends(second.decision, accepted('mine new\n'));
    });
  }

  scene.test('closing all tabs leaves it, as the user left it', async (scene) => {
    const proposal = await edited(scene, 'all.txt');
    await scene.ide.invoke('CloseAllEditors', proposal.title);
    await losesItsTab(scene);
    await comesBack(scene, proposal, 'mine new\n');
  });

  for (const action of ['CloseAllEditorsButActive', 'CloseAllUnpinnedEditors']) {
    scene.test(`${action} leaves it`, async (scene) => {
      const proposal = await edited(scene, 'others.txt');
      await scene.edit('here.txt', 'here\n');
      await scene.ide.invoke(action);
      await scene.ide.until(
        ({ tabs }) => tabs.filter(({ right }) => right === null).length <= 1,
        'the end of the other tabs',
      );
      await acceptWaiting(scene, proposal, 'mine new\n');
    });
  }

  scene.test('closing what is unmodified leaves it, also when it was unpinned', async (scene) => {
    const { ide } = scene;
    await ide.robot('version control'); // without one the action is disabled
    const proposal = await edited(scene, 'unmodified.txt');
    await ide.click('tab', { tab: proposal.title }, 3);
    await ide.until(({ texts }) => texts.includes('Unpin Tab'), 'the menu of the tab');
    await ide.click('text', { text: 'Unpin Tab' });
    const here = path.basename(await scene.edit('here.txt', 'here\n'));
    await ide.invoke('CloseAllUnmodifiedEditors');
    await ide.until(({ tabs }) => tabs.every(({ title }) => title !== here), `the end of ${here}`);
    await acceptWaiting(scene, proposal, 'mine new\n');
  });

  scene.test('it stays when one of its tabs is closed in a split', async (scene) => {
    const { ide } = scene;
    const { file, title, decision } = await edited(scene, 'split.txt');
    await ide.invoke('SplitVertically', title);
    const count = (wanted) =>
      ide.until(
        ({ tabs }) => tabs.filter(({ right }) => right === 'mine new\n').length === wanted,
        `${wanted} tabs`,
      );
    await count(2);
    await ide.display.press('ctrl+F4');
    await count(1);
    await ide.invoke('SplitVertically', title);
    await count(2);
    await ide.invoke('UnsplitAll', title);
    await count(1);
    await ide.invoke('SplitVertically', title);
    await count(2);
    await scene.client.resolveDiffFromCli(file, 'rejected');
    await scene.ends(decision, REJECTED);
  });

  scene.test('it waits when its window is closed', async (scene) => {
    const proposal = await edited(scene, 'window.txt');
    await scene.ide.robot('detach', { tab: proposal.title });
    await scene.ide.until(({ windows }) => windows.length > 1, 'a window of its own');
    await scene.proposal(proposal.file);
    await scene.ide.robot('close window', { tab: proposal.title });
    await losesItsTab(scene);
    await comesBack(scene, proposal, 'mine new\n');
  });

  scene.test('it ends by the client in a window of its own', async (scene) => {
    const { title, decision, file } = await edited(scene, 'away.txt');
    await scene.ide.robot('detach', { tab: title });
    await scene.ide.until(({ windows }) => windows.length > 1, 'a window of its own');
    await scene.client.resolveDiffFromCli(file, 'rejected');
    await scene.ends(decision, REJECTED);
  });

  scene.test('a user who types in it keeps the focus when its file is deleted', async (scene) => {
    const { ide } = scene;
    const { file, decision } = await edited(scene, 'going.txt');
    await ide.robot('delete', { path: file });
    const says = ({ banners }) => banners.flat().some((text) => text.includes('deleted meanwhile'));
    const { title } = await scene.proposal(file, says);
    await ide.until(({ focus }) => focus?.editor === 'DIFF', 'the focus in the proposal');
    await ide.display.type('on ');
    await scene.proposal(file, ({ right }) => right === 'mine on new\n');
    await scene.accept(title);
    await scene.asks();
    await ide.click('text', { text: 'Accept Anyway' });
    await scene.ends(decision, accepted('mine on new\n'));
  });

  scene.test('a key for another editor never reaches one of 200 proposals', async (scene) => {
    const { client, ide } = scene;
    const file = await scene.edit('typing.txt', '');
    const text = '0123456789'.repeat(150);
    let isTyping = true;
    const typing = ide.display.type(text).finally(() => (isTyping = false));
    let count = 0;
    while (count < 200 || isTyping) {
      const proposed = scene.sandbox.file(`many ${count++ % 10}.txt`, 'old\n');
      const decision = client.openDiff(proposed, 'new\n');
      await ide.until(({ statusBar }) => statusBar.includes('CLI: 1 to review'), 'the proposal');
      await client.resolveDiffFromCli(proposed, 'rejected');
      await decision;
      // Until then the status bar still counts this one, as if the next were there already.
      await scene.status(CONNECTED);
    }
    await typing;
    await ide.untilRobot(['text of file', { path: file }], (now) => now === text, 'all keys');
  });

  scene.test('a question keeps a project with an edited proposal open', async (scene) => {
    const { file, title, decision } = await edited(scene, 'project.txt');
    await scene.ide.invoke('CloseProject');
    await scene.asks();
    await scene.ide.click('text', { text: 'Keep Open' });
    await scene.proposal(file, ({ right }) => right === 'mine new\n');
    await scene.accept(title);
    await scene.ends(decision, accepted('mine new\n'));
  });
});
