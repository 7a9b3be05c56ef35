// Tests in a real window the greeting, the menus that add files to the CLI's prompt, and how the user
// notices a proposal, its size and its single changes. There is no terminal here, so the name of a file
// that is added is on the clipboard.

import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';

import { REJECTED, accepted } from '../lib/decision.mjs';
import { Scene } from '../lib/ide-scene.mjs';

const ADD = 'Add to CLI Prompt';
const RIGHT = 3;

const OLD = 'one\ntwo\nthree\nfour\nfive\n';
const NEW = 'ONE\ntwo\nthree\nfour\nFIVE\nsix\n';

describe('in a window', () => {
  const scene = new Scene();
  before(() => scene.open());
  after(() => scene.close());

  /** Chooses the action in the menu that opens next, and waits for the name on the clipboard. */
  async function add(name) {
    await scene.ide.until(({ texts }) => texts.includes(ADD), `a menu with “${ADD}”`);
    await scene.ide.click('text', { text: ADD });
    const says = (text) => text.includes(`Copied ${name}.`);
    await scene.ide.until(({ texts }) => texts.some(says), `${name} on the clipboard`);
  }

  scene.test('the first CLI is greeted with three lines', async ({ ide }) => {
    const lines = [
      'Shared: open files, selection, problems',
      'You review the CLI’s edits in tabs; Ctrl+Enter accepts.',
      'Change this in the settings…',
    ];
    const isThere = ({ texts }) => lines.every((line) => texts.some((text) => text.includes(line)));
    await ide.until(isThere, 'the greeting, each line as a whole');
  });

  scene.test('the selected lines of an editor are added by its menu', async ({ ide }) => {
    await scene.edit('with blank.txt', 'one\ntwo\nthree\n', {
      line: 3,
      character: 1,
      from: { line: 1, character: 1 },
    });
    await ide.display.press('Menu');
    await add('@with\\ blank.txt (lines 1-2)');
  });

  scene.test('the file of a proposal is added by the menu of the diff', async (scene) => {
    const { sandbox, ide } = scene;
    const file = sandbox.file('src/proposed.txt', 'old\n');
    const { title, decision } = await scene.propose(file, 'new\n');
    await ide.click('proposal', { tab: title }, RIGHT);
    await add('@src/proposed.txt');
    await ide.invoke('Companion.RejectProposal', title);
    await decision;
  });

  scene.test('a folder is added by the menu of the project', async ({ ide }) => {
    await scene.leaveEditors();
    await ide.display.press('Home');
    await ide.display.press('Menu');
    await add('@./');
  });

  scene.test('the editor of the file leads to its proposal', async (scene) => {
    const file = await scene.edit('own.txt', OLD);
    const decision = scene.client.openDiff(file, NEW);
    const word = 'The CLI proposes changes to this file.';
    await scene.ide.until(({ texts }) => texts.includes(word), 'the banner');
    await scene.picture('own-editor');
    await scene.ide.click('text', { text: 'Open proposal' });
    await scene.proposal(file, ({ right }) => right === NEW);
    await scene.ide.until(({ texts }) => !texts.includes('Review'), 'no balloon');
    await scene.ide.until(({ texts }) => texts.some((text) => text.includes('+3 \u22122')), 'the numbers');
    await scene.picture('line-numbers');
    await scene.ide.click('text', { text: 'Reject' });
    await scene.ends(decision, REJECTED);
    await scene.ide.until(({ texts }) => !texts.includes(word), 'no banner');
  });

  scene.test('a key reverts the change at the caret', async (scene) => {
    const file = await scene.edit('revert.txt', OLD);
    const { title, decision } = await scene.propose(file, NEW);
    await scene.clickInto(title);
    await scene.ide.display.press('ctrl+Home');
    await scene.ide.display.press('ctrl+alt+z');
    const reverted = 'one\ntwo\nthree\nfour\nFIVE\nsix\n';
    await scene.proposal(file, ({ right }) => right === reverted);
    await scene.ide.until(({ texts }) => texts.some((text) => text.includes('+2 \u22121')), 'the numbers');
    await scene.picture('reverted-change');
    await scene.ide.display.press('ctrl+Return');
    await scene.ends(decision, accepted(reverted));
  });

  scene.test('F7 leads through the changes and on to the next proposal', async (scene) => {
    const other = await scene.connect();
    const [a, b] = [scene.sandbox.file('c.txt', OLD), scene.sandbox.file('d.txt', OLD)];
    const first = await scene.propose(a, NEW);
    const second = await scene.propose(b, NEW, other);
    await scene.turnTo(first.title);
    await scene.clickInto(first.title);
    await scene.ide.display.press('ctrl+Home');
    await scene.ide.display.press('F7');
    await scene.ide.display.press('F7');
    const hint = (text) => text.includes('Press F7 again to go to the next proposal');
    await scene.ide.until(({ texts }) => texts.some(hint), 'the hint');
    await scene.picture('next-change-hint');
    await scene.ide.display.press('F7');
    await scene.ide.tab(second.title, ({ isSelected }) => isSelected);
    await scene.chooseInList('Reject all\u2026');
    await scene.ide.until(({ windows }) => windows.length > 1, 'the question');
    await scene.picture('bulk-question');
    await scene.ide.click('text', { text: 'Reject 2' });
    assert.deepEqual(await first.decision, REJECTED);
    await scene.ends(second.decision, REJECTED);
    await other.close();
  });

  scene.test('in the unified viewer F7 does the same', async (scene) => {
    const other = await scene.connect();
    const [a, b] = [scene.sandbox.file('e.txt', OLD), scene.sandbox.file('f.txt', OLD)];
    const first = await scene.propose(a, NEW);
    const second = await scene.propose(b, NEW, other);
    await scene.turnTo(first.title);
    await scene.ide.click('text', { text: 'Side-by-side viewer' });
    await scene.ide.until(({ tableRows }) => tableRows.some((row) => row.startsWith('Unified viewer')), 'the viewers');
    await scene.ide.display.press('End', 'Return');
    await scene.ide.tab(first.title, ({ right }) => right?.startsWith('one\nONE\ntwo\n'));
    await scene.clickInto(first.title);
    await scene.ide.display.press('ctrl+Home', 'F7');
    await scene.ide.until(({ focus }) => focus?.line === 6, 'the caret at the second change');
    await scene.ide.display.press('F7');
    const hint = (text) => text.includes('Press F7 again to go to the next proposal');
    await scene.ide.until(({ texts }) => texts.some(hint), 'the hint');
    await scene.picture('next-change-unified');
    await scene.ide.display.press('F7');
    await scene.ide.tab(second.title, ({ isSelected }) => isSelected);
    for (const { title, decision } of [first, second]) {
      await scene.ide.invoke('Companion.RejectProposal', title);
      assert.deepEqual(await decision, REJECTED);
    }
    await scene.noProposal();
    await other.close();
  });
});
