// Tests in a real window that the keyboard alone reaches all of the field for a comment, and loses no text.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';

import { until } from '../lib/inbox.mjs';
import { Scene } from '../lib/ide-scene.mjs';

const scene = new Scene();
before(() => scene.open());
after(() => scene.close());

class Keys {
  constructor(scene) {
    this.scene = scene;
  }

  /** The name of the owner of the focus, as a screen reader says it. */
  async focused() {
    const { focus } = await this.scene.ide.robot('look');
    return focus?.name ?? focus?.component ?? 'an editor';
  }

  reach(name) {
    return until(`the focus in ${name}`, async () => (await this.focused()) === name);
  }

  /** Presses a key, and waits until the focus has moved. Returns its new owner. */
  async move(key) {
    const former = await this.focused();
    await this.scene.ide.display.press(key);
    let now;
    await until(`the focus after ${former}`, async () => (now = await this.focused()) !== former);
    return now;
  }

  /** Moves the focus until it has been everywhere or on `last`, and returns the names on the way. */
  async walk(key, last) {
    const names = [await this.focused()];
    while (names.at(-1) !== last) {
      const name = await this.move(key);
      if (names.includes(name)) break;
      names.push(name);
    }
    return names;
  }
}

const keys = new Keys(scene);

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
