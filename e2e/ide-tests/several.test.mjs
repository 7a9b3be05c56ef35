// Tests several proposals in a real window: navigation, the list, and bulk decisions; and Qwen Code beside
// Gemini CLI.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe } from 'node:test';

import { REJECTED, UNCHANGED, accepted } from '../lib/decision.mjs';
import { runCore } from '../lib/gemini-core.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { Scene } from '../lib/ide-scene.mjs';
import { until } from '../lib/inbox.mjs';
import { QWEN_CLIENT, locks, qwenHome } from '../lib/qwen-code.mjs';

describe('in a window', () => {
  const scene = new Scene();
  before(() => scene.open());
  after(() => scene.close());

  /** Proposals of as many clients, each for a file of that name; the last one shows. */
  async function proposeAll(...names) {
    const proposals = [];
    for (const name of names) {
      const client = proposals.length === 0 ? scene.client : await scene.connect();
      const file = scene.sandbox.file(name, 'old\n');
      proposals.push({ ...(await scene.propose(file, `new ${name}\n`, client)), file, client });
    }
    return proposals;
  }

  /** The user rejects each in its CLI. */
  async function endByClient(proposals) {
    for (const { client, file, decision } of proposals) {
      await client.resolveDiffFromCli(file, 'rejected');
      assert.deepEqual(await decision, REJECTED);
    }
  }

  async function leave(proposals) {
    for (const { client } of proposals) if (client !== scene.client) await client.close();
    await scene.noProposal();
  }

  const isInFront = ({ title }) =>
    scene.ide.until(
      ({ tabs, focus }) =>
        focus?.editor === 'DIFF' && tabs.some((tab) => tab.isSelected && tab.title === title),
      `the focus in ${title}`,
    );

  /** Waits for a proposal, and returns the text of its banner. */
  async function banner({ title }) {
    await scene.turnTo(title);
    return (await scene.ide.tab(title)).banners.flat()[0];
  }

  const waits = async (proposal) => {
    const { tabs } = await scene.ide.robot('look');
    return tabs.some(({ title }) => title === proposal.title);
  };

  const begin = (action) => scene.ide.invoke(`Companion.${action}`);

  const asks = (text) =>
    scene.ide.until(
      ({ windows, texts }) => windows.length > 1 && texts.some((shown) => shown.includes(text)),
      `the question: ${text}`,
    );

  scene.test('keys lead from each to the next, from an editor too', async () => {
    const proposals = await proposeAll('a.txt', 'b.txt', 'c.txt');
    const [a, b, c] = proposals;
    assert.match(await banner(b), /^2 of 3: CLI \d+ proposes to change b\.txt\./);
    await scene.clickInto(a.title);
    await scene.ide.display.press('alt+shift+Next');
    await isInFront(b);
    await scene.ide.display.press('alt+shift+Prior', 'alt+shift+Prior');
    await isInFront(c);
    // Each comes before the focus that the one before has asked for.
    for (const next of [a, b, c, a, b, c, a, b, c]) {
      await scene.ide.display.press(...Array(4).fill('alt+shift+Next'));
      await isInFront(next);
    }
    await scene.edit('other.txt', 'text\n');
    await scene.ide.display.press('alt+shift+Next');
    await isInFront(a);
    await scene.ide.click('text', { text: 'Next' });
    await isInFront(b);
    await endByClient(proposals);
    await leave(proposals);
  });

  scene.test('after a decision the next proposal is in front, and a held key does not decide it', async () => {
    const proposals = await proposeAll('a.txt', 'b.txt', 'c.txt');
    const [a, b, c] = proposals;
    await scene.clickInto(a.title);
    await scene.ide.display.press('ctrl+Return', 'ctrl+Return', 'ctrl+Return');
    assert.deepEqual(await a.decision, UNCHANGED);
    await isInFront(b);
    assert.equal(await waits(b), true);
    await scene.ide.click('text', { text: 'Next' });
    await isInFront(c);
    await scene.ide.invoke('Companion.RejectProposal', c.title);
    assert.deepEqual(await c.decision, REJECTED);
    await isInFront(b);
    await scene.ide.invoke('Companion.AcceptProposal', b.title);
    assert.deepEqual(await b.decision, UNCHANGED);
    await leave(proposals);
  });

  const CLOSINGS = {
    'a key that is held': () => {
      const isClosed = ({ tabs }) => tabs.every(({ right }) => right === null);
      return scene.ide.display.hold('ctrl+F4', () => scene.ide.until(isClosed, 'no tab'));
    },
    'the second of two clicks': ({ title }) => scene.clickX(title, 2),
  };
  for (const [what, close] of Object.entries(CLOSINGS)) {
    scene.test(`${what} rejects no other proposal`, async () => {
      const proposals = await proposeAll('a.txt', 'b.txt', 'c.txt');
      const [a, ...others] = proposals;
      await scene.clickInto(a.title);
      await close(a);
      assert.deepEqual(await a.decision, REJECTED);
      const isShown = ({ statusBar }) => statusBar.some((text) => text.includes('2 proposals wait'));
      await scene.ide.until(isShown, 'two that wait');
      await endByClient(others);
      await leave(proposals);
    });
  }

  scene.test('where there is room for one tab, each comes to the front in turn', async () => {
    await scene.ide.robot('tab limit', { count: 1 });
    const proposals = await proposeAll('a.txt', 'b.txt', 'c.txt');
    const [a, b, c] = proposals;
    await scene.edit('other.txt', 'text\n');
    await scene.ide.display.press('alt+shift+Next');
    await isInFront(a);
    await scene.accept(a.title);
    assert.deepEqual(await a.decision, UNCHANGED);
    await isInFront(b);
    await scene.ide.display.press('alt+shift+Prior');
    await isInFront(c);
    await begin('RejectAllProposals');
    await asks('Reject 2 proposals?');
    await scene.ide.click('text', { text: 'Reject 2' });
    assert.deepEqual(await b.decision, REJECTED);
    assert.deepEqual(await c.decision, REJECTED);
    await leave(proposals);
    await scene.ide.robot('tab limit', { count: 10 });
  });

  scene.test('in a split the way leads through all, and all are accepted in both halves', async () => {
    const proposals = await proposeAll('a.txt', 'b.txt', 'c.txt');
    const [a, b, c] = proposals;
    await scene.clickInto(b.title);
    await scene.ide.invoke('SplitVertically', b.title);
    await scene.ide.until(
      ({ tabs }) => tabs.filter(({ title }) => title === b.title).length === 2,
      'the split',
    );
    await scene.ide.display.press('alt+shift+Next');
    await isInFront(c);
    await scene.ide.display.press('alt+shift+Next');
    await isInFront(a);
    await scene.ide.robot('write proposal', { tab: b.title, text: 'mine\n' });
    await begin('AcceptAllProposals');
    await asks('Accept 3 proposals?');
    await scene.ide.click('text', { text: 'Accept 3' });
    assert.deepEqual(await a.decision, UNCHANGED);
    assert.deepEqual(await b.decision, accepted('mine\n'));
    assert.deepEqual(await c.decision, UNCHANGED);
    await leave(proposals);
  });

  scene.test('the list shows the CLI of each proposal, and decides one from another place', async () => {
    const proposals = await proposeAll('a.txt', 'b.txt');
    const [a, b] = proposals;
    const other = await scene.edit('other.txt', 'text\n');
    await scene.ide.click('text', { text: 'CLI: 2 to review' });
    const { texts } = await scene.ide.until(
      ({ texts }) => texts.includes('Open proposals:'),
      'the list',
    );
    const clis = texts.filter((text) => /^CLI \d+$/.test(text));
    assert.equal(new Set(clis).size, 2, `${clis}`);
    await scene.picture('list');
    await scene.ide.click('text', { text: 'Reject' });
    assert.deepEqual(await b.decision, REJECTED, 'the last one in the list');
    await scene.ide.until(({ focus }) => focus?.path === other, 'the focus where it was');
    assert.match(await banner(a), /^The CLI proposes to change a\.txt\./);
    await scene.accept(a.title);
    assert.deepEqual(await a.decision, UNCHANGED);
    await leave(proposals);
  });

  scene.test('a bulk acceptance accepts all proposals that waited at the question, also without a tab', async () => {
    const proposals = await proposeAll('a.txt', 'b.txt', 'c.txt');
    const [a, b, c] = proposals;
    await scene.ide.robot('write proposal', { tab: b.title, text: 'mine\n' });
    const hidden = await scene.connect();
    await scene.edit('other.txt', 'text\n');
    const file = scene.sandbox.file('hidden.txt', 'old\n');
    const decision = hidden.openDiff(file, 'new\n');
    await scene.ide.until(({ statusBar }) => statusBar.includes('CLI: 4 to review'), 'the fourth');
    await begin('AcceptAllProposals');
    await asks('Accept 4 proposals?');
    const late = await scene.connect();
    const lateFile = scene.sandbox.file('late.txt', 'old\n');
    const lateDecision = late.openDiff(lateFile, 'late\n');
    await scene.picture('accept all');
    await scene.ide.click('text', { text: 'Accept 4' });
    assert.deepEqual(await a.decision, UNCHANGED);
    assert.deepEqual(await b.decision, accepted('mine\n'));
    assert.deepEqual(await c.decision, UNCHANGED);
    assert.deepEqual(await decision, UNCHANGED);
    await scene.ide.until(({ statusBar }) => statusBar.includes('CLI: 1 to review'), 'the late one');
    await scene.chooseInList('late.txt');
    const { title } = await scene.proposal(lateFile);
    await scene.accept(title);
    assert.deepEqual(await lateDecision, UNCHANGED);
    await hidden.close();
    await late.close();
    await leave(proposals);
  });

  scene.test('a changed file causes a remark, a diff and a question', async () => {
    const [proposal] = await proposeAll('changed.txt');
    const { title, file } = proposal;
    fs.writeFileSync(file, 'by another program\n');
    await scene.turnTo(title);
    await scene.ide.invoke('Synchronize');
    await scene.ide.tab(title, ({ banners }) => /It has changed meanwhile/.test(banners.flat()[0]));
    await scene.picture('changed');
    await scene.ide.click('text', { text: 'Show changes' });
    const isShown = ({ texts }) => texts.includes('When the proposal was created');
    await scene.ide.until(isShown, 'what has changed');
    await scene.picture('what changed');
    await scene.ide.display.press('Escape');
    await scene.ide.until((look) => !isShown(look), 'its end');
    await scene.accept(title);
    await asks(`${path.basename(file)} changed after this proposal was created`);
    await scene.picture('accept anyway');
    await scene.ide.click('text', { text: 'Keep Editing' });
    await scene.ide.until(({ windows }) => windows.length === 1, 'the end of the question');
    await scene.accept(title);
    await asks('Gemini CLI keeps the changes if its tool is Edit');
    await scene.ide.click('text', { text: 'Accept Anyway' });
    assert.deepEqual(await proposal.decision, UNCHANGED);
    await leave([proposal]);
  });

  scene.test('an unchanged edit is applied to the file’s current text', async () => {
    const file = scene.sandbox.file('merged.txt', 'one\ntwo\n');
    const args = { file_path: file, instruction: '', old_string: 'two', new_string: 'TWO' };
    const end = runCore(scene.sandbox, [{ name: 'replace', args }]);
    // The focus is in an editor, so the proposal has no tab yet.
    const waits = scene.ide.until(({ texts }) => texts.includes('Review'), 'a proposal that waits');
    await Promise.race([waits, end]);
    await scene.ide.click('text', { text: 'Review' });
    const { title } = await scene.proposal(file);
    fs.writeFileSync(file, 'zero\none\ntwo\n');
    await scene.ide.invoke('Synchronize');
    await scene.ide.tab(title, ({ banners }) => /It has changed meanwhile/.test(banners.flat()[0]));
    await scene.accept(title);
    await asks('Gemini CLI keeps the changes if its tool is Edit');
    await scene.ide.click('text', { text: 'Accept Anyway' });
    const { results } = await end;
    assert.match(results[0].output, /Successfully modified/);
    assert.equal(fs.readFileSync(file, 'utf8'), 'zero\none\nTWO\n');
    await scene.noProposal();
  });

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
