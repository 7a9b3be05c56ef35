// Tests the greeting in a real window, and the menus that add files to the CLI's prompt. There is
// no terminal here, so the name is on the clipboard.

import { after, before, describe } from 'node:test';

import { Scene } from '../lib/ide-scene.mjs';

const ADD = 'Add to CLI Prompt';
const RIGHT = 3;

describe('starting, in a window', () => {
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
});
