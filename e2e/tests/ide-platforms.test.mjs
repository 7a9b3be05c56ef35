// Tests that the window tests work on today's platform as well as on that of 2018.3. A scripted robot
// plays both, because no IDE of today can be built here.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Ide } from '../lib/ide.mjs';
import { otherErrorsIn, problemsIn } from '../lib/ide-log.mjs';
import { Scene } from '../lib/ide-scene.mjs';
import page from '../lib/page-reporter.mjs';

const PLATFORMS = {
  '2018.3': { hasPin: false, button: 'javax.swing.JButton' },
  today: { hasPin: true, button: 'com.intellij.openapi.ui.DialogWrapper$3' },
};

/** A scene whose robot and display are scripted. `window` is what the robot sees; `log` the actions. */
function scripted(window) {
  const log = [];
  const ide = Object.create(Ide.prototype);
  const { tabs } = window;
  ide.robot = async (command, args) => {
    if (command === 'look') return structuredClone(window);
    if (command === 'invoke') {
      log.push(`${args.action} ${window.isActive}`);
      return window.isActive;
    }
    assert.equal(command, 'find close button');
    return { x: 1, y: 1, isPointedAt: true };
  };
  const clickOnce = () => {
    const [tab] = tabs;
    log.push(!tab ? 'nothing' : tab.hasPin ? 'unpin' : 'close');
    if (tab?.hasPin) tab.hasPin = false;
    else tabs.pop();
  };
  ide.display = {
    point: async () => {},
    activate: async (title) => {
      log.push(`activate ${title}`);
      window.isActive = true;
    },
    click: async (_, times = 1) => {
      for (let i = 0; i < times; i++) clickOnce();
    },
  };
  const scene = new Scene();
  scene.ide = ide;
  return { scene, log };
}

for (const [platform, { hasPin, button }] of Object.entries(PLATFORMS)) {
  test(`on ${platform} a click on the X closes a tab, and a double click no other`, async (t) => {
    for (const [times, closed] of [
      [1, ['close']],
      [2, ['close', 'nothing']],
    ]) {
      const { scene, log } = scripted({ tabs: [{ title: 'a.txt (proposal)', hasPin }] });
      t.after(() => scene.close());
      await scene.clickX('a.txt (proposal)', times);
      assert.deepEqual(log, hasPin ? ['unpin', ...closed] : closed);
    }
  });

  test(`on ${platform} a question is there once a button of its dialog has the focus`, async (t) => {
    const window = { windows: ['project', 'Reject?'], focus: { component: button } };
    const { scene } = scripted(window);
    t.after(() => scene.close());
    setTimeout(() => (window.focus.isButton = true), 100);
    const { focus } = await scene.asks();
    assert.equal(focus.component, button);
  });
}

test('an action waits for the focus, which comes later than the end of another window', async (t) => {
  const window = { isActive: false };
  const { scene, log } = scripted(window);
  t.after(() => scene.close());
  setTimeout(() => (window.isActive = true), 100);
  await scene.ide.invoke('Exit');
  assert.ok(log.length > 1, `${log}`);
  assert.equal(log.filter((action) => action === 'Exit true').length, 1);
});

test('an IDE whose windows all lack the focus is quit', async (t) => {
  const { scene, log } = scripted({ isActive: false, windows: ['Welcome to IntelliJ (EAP)'] });
  t.after(() => scene.close());
  await scene.ide.exit();
  assert.deepEqual(log, ['Exit false', 'activate Welcome to IntelliJ \\(EAP\\)', 'Exit true']);
});

const INFO = '2024-11-02 10:00:00,000 [   900]   INFO - #c.i.i.p.PluginManager - Loaded custom plugins: Companion for Gemini CLI (0.1.0)\n';
const STACK = '\tat com.intellij.openapi.wm.impl.X.run(X.java:1)\n';
const OURS = '\tat dev.companion.gemini.tabs.ProposalTabs.open(ProposalTabs.kt:9)\n';
const ROBOT = '\tat dev.companion.gemini.robot.Actions.open(Actions.kt:9)\n';
const record = (level, ...stack) =>
  `2024-11-02 10:00:01,000 [  1000]${level.padStart(7)} - #c.i.x.Y - It failed\njava.lang.Throwable\n${stack.join('')}`;

test('on 2018.3 each error and exception in the log is a problem', () => {
  const errors = ['ERROR', 'FATAL', 'SEVERE'].map((level) => record(level, STACK));
  const all = [INFO, ...errors, record('WARN', STACK)].join('');
  assert.deepEqual(problemsIn(all, false), [...errors, record('WARN', STACK)]);
  const harmless = record('ERROR', STACK).replace('It failed', 'FrequentEventDetector');
  assert.deepEqual(problemsIn(INFO + harmless, false), []);
});

test('in an installed IDE only the errors of the plugin are problems, and others are reported', () => {
  const own = [record('SEVERE', STACK, OURS), record('WARN', OURS, STACK)];
  const blamed = '2024-11-02 10:00:01,000 [  1000] SEVERE - #c.i.x.Y - Plugin to blame: Companion for Gemini CLI\n';
  const others = [record('SEVERE', STACK), record('SEVERE', STACK, ROBOT)];
  const log = [INFO, own[0], others[0], record('WARN', STACK), own[1], others[1], blamed].join('');
  assert.deepEqual(problemsIn(log, true), [...own, blamed]);
  assert.deepEqual(otherErrorsIn(log), others);
});

test('the page has each result, the reason of a failure, and errors that are not ours', async () => {
  const details = { duration_ms: 1200 };
  const failed = { ...details, error: { cause: new Error('no <tab>') } };
  const events = [
    { type: 'test:pass', data: { name: 'the X rejects', nesting: 1, details } },
    { type: 'test:fail', data: { name: 'Esc rejects', nesting: 1, details: failed } },
    { type: 'test:pass', data: { name: 'a CLI', nesting: 0, details, skip: 'no tmux' } },
    { type: 'test:stdout', data: { message: `not ours: ${record('SEVERE', STACK)}` } },
  ];
  let text = '';
  for await (const part of page(events)) text += part;
  for (const expected of ['the X rejects</td><td>passed', 'no &#60;tab&#62;', '<td>skipped', 'not ours: 2024']) {
    assert.ok(text.includes(expected), `${expected} in ${text}`);
  }
});
