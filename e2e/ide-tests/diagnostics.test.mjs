// Tests the problems of a real IDE, as the tool `getDiagnostics` returns them.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { Scene } from '../lib/ide-scene.mjs';
import { WAIT_TIMEOUT, until } from '../lib/inbox.mjs';

/** The server gives up on an editor after 3 s. */
const IN_TIME = 2900;

const UNFINISHED = 'the analysis has not finished';

describe('in a window', () => {
  const scene = new Scene();
  before(() => scene.open());
  after(() => scene.close());

  /** Calls the tool for a file; returns the text and the duration. */
  async function problems(file, args = {}) {
    const begin = Date.now();
    const result = await scene.client.callTool('getDiagnostics', { filePath: file, ...args });
    const [{ text }] = result.content;
    assert.notEqual(result.isError, true, text);
    const [report] = result.structuredContent.files;
    return { text, millis: Date.now() - begin, ...report };
  }

  /** Calls the tool until the analysis is complete; a busy machine may need several calls. */
  async function found(file, args) {
    const deadline = Date.now() + WAIT_TIMEOUT;
    for (;;) {
      const report = await problems(file, args);
      assert.ok(report.millis < IN_TIME, `${report.millis} ms`);
      if (report.incomplete !== UNFINISHED || Date.now() > deadline) return report;
    }
  }

  scene.test('an open file has the errors that the daemon has found', async (scene) => {
    const file = await scene.edit('open.json', '{\n  "a": 1\n  "b": \n}\n');
    const { text, diagnostics, incomplete } = await found(file);
    assert.equal(incomplete, undefined);
    assert.deepEqual(text.split('\n').slice(0, 2), [
      `${file}:2:9: error: ',' or '}' expected, got '"b"' [JSON]`,
      `${file}:3:7: error: <value> expected, got '}' [JSON]`,
    ]);
    assert.equal(diagnostics.length, 2);
    assert.equal(diagnostics[0].source, 'JSON');
    assert.equal(diagnostics[0].range.start.line, 2);
  });

  scene.test('fixed problems are not reported after a change on the disk, new ones are', async (scene) => {
    const file = await scene.edit('mended.xml', '<a><b></a>\n');
    assert.match((await found(file)).text, /: error: /);
    fs.writeFileSync(file, '<a><b>good</b></a>\n');
    assert.equal((await found(file)).text, `No problems in ${file}.`);
    fs.writeFileSync(file, '<a>\n  <b>\n</a>\n');
    assert.match((await found(file)).text, /:2:6: error: Element b is not closed/);
  });

  scene.test('a file that was just written is analyzed without being opened', async (scene) => {
    for (const [name, broken, good] of [
      ['written.json', '{"a": [1, 2}\n', '{"a": [1, 2]}\n'],
      ['sub/written.xml', '<a b=c/>\n', '<a b="c"/>\n'],
    ]) {
      const file = scene.sandbox.file(name, broken);
      assert.match((await found(file)).text, /:1:\d+: error: /, name);
      fs.writeFileSync(file, good);
      assert.equal((await found(file)).text, `No problems in ${file}.`);
    }
    const { tabs } = await scene.ide.robot('look');
    assert.ok(tabs.every(({ path }) => !path.includes('written')));
  });

  scene.test('warnings are reported, except if only errors are requested', async (scene) => {
    const file = scene.sandbox.file('twice.json', '{"a": 1, "a": 2}\n');
    const { diagnostics } = await found(file);
    assert.deepEqual([...new Set(diagnostics.map(({ severity }) => severity))], ['warning']);
    assert.ok(diagnostics.every(({ code }) => code !== undefined));
    const { text } = await found(file, { severity: 'error' });
    assert.equal(text, `No problems in ${file}.`);
  });

  scene.test('fifty of a thousand problems are reported, with the number of the others', async (scene) => {
    const text = `[${'"a" '.repeat(1000)}]\n`;
    const all = [50, 949];
    const told = async (file) => {
      const { diagnostics, omitted } = await found(file);
      return [diagnostics.length, omitted];
    };
    const shown = await scene.edit('shown-many.json', text);
    assert.deepEqual(await told(scene.sandbox.file('many.json', text)), all, 'not open');
    // The platform of 2018.3 reports a file as analyzed before its event thread has applied all
    // results.
    await until('all in a file that shows', async () => isDeepStrictEqual(await told(shown), all));
  });

  scene.test('without a file it reports all open files', async (scene) => {
    const files = [
      await scene.edit('hidden.json', '{"hidden": }\n'),
      await scene.edit('shown.json', '{"shown": }\n'),
    ];
    await scene.client.openFiles(([active]) => active?.path === files[1]);
    const { structuredContent } = await scene.client.callTool('getDiagnostics', {});
    for (const file of files) {
      const report = structuredContent.files.find(({ path }) => path === file);
      assert.equal(report?.diagnostics.length, 1, file);
    }
  });

  scene.test('unsaved text stays, and the report mentions it', async (scene) => {
    const { ide } = scene;
    const file = await scene.edit('typed.json', '{}\n', { line: 1, character: 2 });
    await ide.display.type('"typed" 1');
    await ide.until(({ focus }) => focus?.text === '{"typed" 1}\n', 'what was typed');
    const { text, incomplete } = await found(file);
    assert.match(text, /:1:\d+: error: /);
    assert.equal(incomplete, 'the editor has unsaved changes');
    assert.equal((await ide.robot('look')).focus.text, '{"typed" 1}\n');
    await ide.invoke('SaveAll');
  });

  scene.test('during a dialog it answers in time, and reports that it is incomplete', async (scene) => {
    const { ide } = scene;
    const file = scene.sandbox.file('below.json', '{"a": }\n');
    await ide.invoke('ShowSettings');
    await ide.until(({ windows }) => windows.includes('Settings'), 'the settings');
    const below = await problems(file);
    // The dialog holds up the indexing of a new file, too.
    assert.ok([UNFINISHED, 'the IDE is still indexing'].includes(below.incomplete), below.incomplete);
    assert.ok(below.millis < IN_TIME, `${below.millis} ms`);
    await ide.display.press('Escape');
    await ide.until(({ windows }) => windows.length === 1, 'the end of the dialog');
    assert.match((await found(file)).text, /:1:6: error: /);
  });

  scene.test('an IDE that is busy answers in time, and then as always', async (scene) => {
    const { ide } = scene;
    const file = await scene.edit('busy.json', '{}\n');
    await found(file);
    fs.writeFileSync(file, '{"a": }\n');
    const isBusy = ide.robot('be busy', { millis: 4000 });
    const { incomplete, diagnostics, millis } = await problems(file);
    assert.ok(millis < IN_TIME, `${millis} ms`);
    assert.equal(incomplete, UNFINISHED);
    assert.deepEqual(diagnostics, []);
    await isBusy;
    assert.match((await found(file)).text, /:1:6: error: /);
  });
});
