// Tests the display of private files in a real IDE, and the project's switch that stops sharing.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe } from 'node:test';

import { Scene } from '../lib/ide-scene.mjs';
import { until } from '../lib/inbox.mjs';

const HIDDEN = 'Hidden from the CLI:';
const DONT_SHARE = 'Don’t share context for this project';
const SHARE = 'Share context for this project';

const isOpen = (file) => (files) => files.some(({ path }) => path === file);
const isNotOpen = (file) => (files) => !files.some(({ path }) => path === file);

describe('in a window', () => {
  const scene = new Scene();
  before(() => scene.open());
  after(() => scene.close());

  /** Opens the status bar's popup, and returns its texts. */
  const popup = async () => {
    const { statusBar } = await scene.ide.robot('look');
    // Beside the icon stands how many CLIs are connected, or how many proposals wait.
    const text = statusBar.find((text) => /^1$|^1 proposal$|to review$/.test(text));
    await scene.ide.click('text', { text });
    const open = ({ texts }) => texts.some((text) => [DONT_SHARE, SHARE].includes(text)) && texts;
    return scene.ide.until(open, 'the popup');
  };

  const closed = ({ texts }) => !texts.some((text) => [DONT_SHARE, SHARE].includes(text));

  const close = async () => {
    await scene.ide.display.press('Escape');
    await scene.ide.until(closed, 'the end of the popup');
  };

  scene.test('the popup shows that the file in front is private', async ({ sandbox, client }) => {
    const key = await scene.edit('keys/x.hid', 'a secret\n', {
      line: 1,
      character: 9,
      from: { line: 1, character: 3 },
    });
    await client.openFiles(([file]) => file?.path === key && file.selectedText === 'secret');
    assert.ok(!(await popup()).includes(HIDDEN));
    await close();
    // The IDE knows nothing of it: the file is written by another program.
    sandbox.file('keys/.aiexclude', '*.hid\n');
    await client.openFiles(isNotOpen(key));
    const texts = await popup();
    assert.equal(texts[texts.indexOf(HIDDEN) + 1], 'keys/x.hid', texts.join('\n'));
    await scene.picture('private-file');
    await close();
    const open = await scene.edit('keys/open.txt', 'a text\n');
    await client.openFiles(isOpen(open));
    assert.ok(!(await popup()).includes(HIDDEN));
    await close();
  });

  scene.test('a project that shares no context hides everything at once, and has edits reviewed', async () => {
    const { sandbox, client, ide } = scene;
    const file = await scene.edit('hidden.txt', 'old\n');
    await client.openFiles(isOpen(file));
    const before = await scene.propose(file, 'proposed before\n');
    await popup();
    await ide.click('text', { text: DONT_SHARE });
    await client.openFiles((files) => files.length === 0);
    await scene.accept(before.title);
    assert.equal((await before.decision).status, 'accepted', 'it has not restarted the server');
    const { title, decision } = await scene.propose(file, 'proposed\n');
    await scene.accept(title);
    assert.equal((await decision).status, 'accepted');
    const texts = await popup();
    assert.match(texts.join('\n'), /not shared with the CLIs of this project/);
    await scene.picture('hidden');
    await close();
    await ide.invoke('SaveAll');
    const kept = path.join(sandbox.project, '.idea', 'workspace.xml');
    const holds = () => fs.readFileSync(kept, 'utf8').includes('dev.companion.gemini.hide.context');
    await until('the switch in the workspace file', () => fs.existsSync(kept) && holds());
    await popup();
    await ide.click('text', { text: SHARE });
    await client.openFiles(isOpen(file));
  });
});
