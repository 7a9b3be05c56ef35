// Tests in a real window that the keyboard alone reaches each action of the plugin, and loses no text.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';

import { REJECTED, UNCHANGED } from '../lib/decision.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import { beforeEdit } from '../lib/hook.mjs';
import { until } from '../lib/inbox.mjs';
import { Scene } from '../lib/ide-scene.mjs';

const scene = new Scene();
before(() => scene.open());
after(() => scene.close());

class Keys {
  constructor(scene) {
    this.scene = scene;
  }

  /** The owner of the focus, by its identity and its name, as a screen reader says it. */
  async focused() {
    const { focus } = await this.scene.ide.robot('look');
    return { id: focus?.id, name: focus?.name ?? focus?.component ?? 'an editor' };
  }

  reach(name) {
    return until(`the focus in ${name}`, async () => (await this.focused()).name.startsWith(name));
  }

  /** Presses a key, and waits until the focus has moved. Returns its new owner. */
  async move(key) {
    const former = await this.focused();
    await this.scene.ide.display.press(key);
    let now;
    await until(`the focus after ${former.name}`, async () => {
      now = await this.focused();
      return now.id !== former.id;
    });
    return now;
  }

  /** Moves the focus until it has been everywhere or on `last`, and returns the names on the way. */
  async walk(key, last) {
    const owners = [await this.focused()];
    while (owners.at(-1).name !== last) {
      const owner = await this.move(key);
      if (owners.some(({ id }) => id === owner.id)) break;
      owners.push(owner);
    }
    return owners.map(({ name }) => name);
  }
}

const keys = new Keys(scene);

/** Fails unless each of `wanted` is the beginning of one of `names`. */
function assertReached(names, wanted) {
  for (const name of wanted) {
    assert.ok(names.some((one) => one.startsWith(name)), `${name} in ${names.join(' | ')}`);
  }
}

const shows = (text) => scene.ide.until(({ texts }) => texts.some((shown) => shown.includes(text)), text);

scene.test('Esc keeps the text of a comment, and there is one field for the lines', async () => {
  await scene.edit('c.txt', 'one\ntwo\nthree\n', { line: 2 });
  const title = 'Comment for the CLI on Line 2';
  await scene.ide.display.press('ctrl+alt+shift+m');
  await shows(title);
  await keys.reach('Comment for the CLI');
  await scene.ide.display.type('Why two?');
  await shows('Why two?');
  await scene.picture('comment-by-keyboard');
  assert.deepEqual(await keys.walk('Tab'), ['Comment for the CLI', 'Send']);
  await scene.ide.display.press('Escape');
  await scene.ide.until(({ texts }) => !texts.includes(title), 'the end of the field');
  await scene.ide.display.press('ctrl+alt+shift+m');
  await shows('Why two?');
  await scene.ide.click('text', { text: 'Why two?' });
  const fields = ({ texts }) => texts.filter((text) => text === title).length;
  assert.equal(fields(await scene.ide.robot('look')), 1);
  await scene.ide.display.press('ctrl+a', 'Delete', 'Return');
  await scene.ide.until(({ texts }) => !texts.includes(title), 'the end of the field');
});

scene.test('Tab alone reaches each action in the list of the status bar', async () => {
  const file = scene.sandbox.file('a.txt', 'one\n');
  const { decision } = await scene.propose(file, 'two\n');
  await scene.leaveEditors();
  await scene.ide.robot('invoke', { action: 'Companion.ShowStatus' });
  await shows('Open proposals:');
  await keys.reach('a.txt');
  await scene.picture('list-by-keyboard');
  const links = ['Copy health report', 'Don’t share', 'Review every edit', 'Restart companion', 'Settings…'];
  assertReached(await keys.walk('Tab'), ['a.txt', 'Accept a.txt', 'Reject a.txt', ...links]);
  await keys.walk('Tab', 'Reject a.txt');
  await scene.ide.display.press('Return');
  assert.deepEqual(await decision, REJECTED);
});

scene.test('Tab alone reaches each link above a proposal', async () => {
  const files = ['one.txt', 'two.txt'].map((name) => scene.sandbox.file(name, 'one\n'));
  const other = await scene.connect();
  const first = await scene.propose(files[0], 'two\n');
  const second = await scene.propose(files[1], 'two\n', other);
  await scene.clickInto(second.title);
  await scene.ide.robot('invoke', { action: 'Companion.GoToBanner' });
  await keys.reach('Previous');
  const links = await keys.walk('Tab');
  assertReached(links, ['Previous', 'Next', 'Accept', 'Reject']);
  await keys.walk('Tab', 'Previous');
  await scene.ide.display.press('space');
  await scene.ide.tab(first.title, ({ isSelected }) => isSelected);
  for (const { title, decision } of [first, second]) {
    await scene.ide.invoke('Companion.RejectProposal', title);
    assert.deepEqual(await decision, REJECTED);
  }
  await other.close();
});

scene.test('Tab alone reaches each answer to a question', async () => {
  const file = scene.sandbox.file('asked.txt', 'one\n');
  const { title, decision } = await scene.propose(file, 'two\n');
  await scene.clickInto(title);
  await scene.ide.display.type('mine ');
  await scene.proposal(file, ({ right }) => right === 'mine two\n');
  await scene.ide.display.press('Escape');
  await scene.asks();
  assertReached(await keys.walk('Tab'), ['Keep Editing', 'Reject']);
  await keys.walk('Tab', 'Reject');
  await scene.ide.display.press('space');
  await scene.ends(decision, REJECTED);
});

scene.test('Tab alone reaches each setting', async () => {
  await scene.ide.invoke('Companion.OpenSettings');
  await shows('Log level:');
  await scene.ide.until(({ focus }) => focus?.component !== undefined && focus.editor === undefined, 'the focus in it');
  const names = await keys.walk('Tab');
  assertReached(names, [
    'Share open files and the selection',
    'Don’t share files that Git ignores',
    'Review edits in the IDE',
    'Share problems that the IDE finds',
    'Save files before each prompt',
    'Notify when the CLI waits or has finished',
    'Include other Git worktrees',
    'Gemini CLI',
    'Qwen Code',
    'Trust in projects:',
    'Command:',
    'Largest request, in MB:',
    'Listen also on:',
    'Additional host names:',
    'Log level:',
  ]);
  await scene.ide.display.press('Escape');
  await scene.ide.until(({ windows }) => windows.length === 1, 'the end of the settings');
});

scene.test('the menu key reaches each action on the list of changes', async () => {
  const file = scene.sandbox.file('changed.txt', 'one\n');
  const cli = new HookCli(scene.sandbox);
  await cli.prompt('Change it');
  await cli.write(file, 'two\n');
  await scene.ide.until(({ statusBar }) => statusBar.some((text) => /1 file/.test(text)), 'the count');
  await scene.openChanges();
  await scene.ide.display.press('Down', 'Down', 'Menu');
  for (const action of ['Show Diff of', 'Revert CLI Changes of File', 'Revert CLI Changes of Prompt', 'Keep CLI', 'Open Files', 'Copy Path', 'Show History']) {
    await shows(action);
  }
  await scene.picture('changes-menu');
  await scene.ide.display.press('Escape');
});

scene.test('Tab alone reaches the field for a reason and each link above the proposal', async () => {
  const file = scene.sandbox.file('b.txt', 'one\ntwo\n');
  await scene.client.hook('before-tool', beforeEdit(file));
  const { title, decision } = await scene.propose(file, 'one\nTWO\n');
  await scene.clickInto(title);
  await scene.ide.display.press('ctrl+alt+shift+Return');
  await keys.reach('Reason:');
  await scene.ide.display.type('use const');
  await scene.ide.display.press('Escape');
  await scene.ide.until(({ texts }) => !texts.includes('Reason:'), 'the end of the field');
  await scene.ide.display.press('ctrl+alt+shift+Return');
  await keys.reach('Reason:');
  await scene.ide.until(({ texts }) => texts.includes('use const'), 'the reason that was not sent');
  await scene.picture('reason-by-keyboard');
  const names = await keys.walk('Tab');
  assert.deepEqual(names.slice(0, 3), ['Reason:', 'Send', 'Cancel']);
  assertReached(names, ['Accept (Ctrl+Enter)', 'Reject', 'Reject…']);
  await keys.walk('shift+Tab', 'Accept (Ctrl+Enter)');
  await scene.ide.display.press('Return');
  assert.deepEqual(await decision, UNCHANGED);
});
