// Tests which records of an IDE's log count as problems in the window tests.

import assert from 'node:assert/strict';
import test from 'node:test';

import { otherErrorsIn, problemsIn } from '../lib/ide-log.mjs';

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
