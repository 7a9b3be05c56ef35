// Measures the cost of the plugin in a real window. Prints figures for docs/contributing/benchmarks.md and asserts
// nothing.
//
// It measures typing and caret moves in a file of 50,000 lines, without the plugin and with it, in
// alternating order. Then it measures the plugin's use of the event thread at startup, for proposals, while
// the list of changed files opens, and while the user types in a large file with many comments. It also
// measures the time until a client gets the problems of a file and until a proposal shows.
//
//   node bench-ide.mjs [typing | waits | events]

import { setTimeout as pause } from 'node:timers/promises';

import { HookCli } from './lib/hook-cli.mjs';
import { Ide } from './lib/ide.mjs';
import { Scene } from './lib/ide-scene.mjs';

const COUNT = 5000;
const ROUNDS = 4;
const CHANGED = 500;
const SAMPLE = ['-Drobot.sample=true'];
const WARM_UP = 20;
const CALLS = 200;
const PROPOSALS = 60;
const LISTED = 12;
/** Lines of the file with comments, the comments, and the lines of each. */
const LARGE = 100_000;
const COMMENTS = 100;
const COMMENTED = 30;
/** The longest time in ms that the plugin should keep the event thread. */
const SHORT = 20;
const LINE = 'The quick brown fox jumps over the dog.\n';

/** Percentiles of times in ns, as text in µs. */
function summary(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  const texts = [0.5, 0.9, 0.99, 1].map((share) => (at(share) / 1000).toFixed(1).padStart(9));
  return texts.join('');
}

function print(name, text) {
  console.log(`${name.padEnd(38)}${text}`);
}

/** Prints what the plugin, and what it has called, took of the event thread between two looks. */
function printShares(what, before, after, count = 1) {
  const shares = Object.entries(after).map(([name, nanos]) => [name, nanos - (before[name] ?? 0)]);
  const total = shares.reduce((sum, [, nanos]) => sum + nanos, 0);
  console.log(`\nOn the event thread, ${what}, in ms:`);
  const longest = shares.toSorted(([, a], [, b]) => b - a).slice(0, LISTED);
  for (const [name, nanos] of [['all', total], ...longest]) {
    console.log(`${(nanos / 1e6 / count).toFixed(1).padStart(9)}  ${name}`);
  }
}

const inPlugin = (ide) => ide.robot('time in plugin');

const longestFirst = (times) => times.map((nanos) => nanos / 1e6).toSorted((a, b) => b - a);

/** Prints how long the plugin kept the event thread since the last call. */
async function printLongest(ide, what) {
  printPauses(what, await ide.robot('take pauses by plugin'));
}

/** Prints the longest times. The first one includes the loading of classes, so the second longest is printed, too. */
function printPauses(what, byName) {
  const pauses = Object.entries(byName);
  const sorted = pauses.map(([name, times]) => [name, longestFirst(times)]);
  sorted.sort(([, [a]], [, [b]]) => b - a);
  console.log(`\nThe longest times on the event thread, ${what}, in ms, the second longest, the median:`);
  for (const [name, times] of sorted.slice(0, LISTED)) {
    const shown = [times[0], times[1] ?? 0, times[Math.floor(times.length / 2)]];
    const columns = shown.map((millis) => millis.toFixed(1).padStart(9)).join('');
    console.log(`${columns}  ${name}${times[0] > SHORT ? '  TOO LONG' : ''}`);
  }
}

/** Measures a client's request for the problems of a visible file that the IDE has analyzed. */
async function askForProblems(scene) {
  const filePath = await scene.edit('problems.json', '{"a": }\n');
  const times = [];
  for (let i = -WARM_UP; i < CALLS; i++) {
    const begin = process.hrtime.bigint();
    await scene.client.callTool('getDiagnostics', { filePath });
    if (i >= 0) times.push(Number(process.hrtime.bigint() - begin));
  }
  return times;
}

/** Measures the time from a client's openDiff for so many lines until the proposal shows. */
async function showProposals({ ide, client, sandbox }, lines) {
  // A visible file would get the focus back after each, and the next would wait without a tab.
  const { tabs } = await ide.robot('look');
  for (const { path } of tabs) await ide.robot('close', { path });
  const filePath = sandbox.file('proposal.txt', LINE.repeat(lines));
  const half = LINE.repeat(lines / 2);
  const times = { 'openDiff → its editor is made': [], '→ painted': [], '→ answered': [] };
  let before;
  for (let i = -WARM_UP; i < PROPOSALS; i++) {
    if (i === 0) before = await inPlugin(ide);
    await ide.robot('watch painting');
    const newContent = `${half}Proposal ${i}.\n${half}`;
    const begin = process.hrtime.bigint();
    await client.callTool('openDiff', { filePath, newContent });
    const answered = process.hrtime.bigint();
    const isPainted = (times) => times.painted !== undefined && times;
    const { made, painted } = await ide.untilRobot(['painting'], isPainted, 'a proposal');
    const steps = [BigInt(made), BigInt(painted), answered].map((time) => Number(time - begin));
    if (i >= 0) Object.values(times).forEach((step, index) => step.push(steps[index]));
    await client.callTool('closeDiff', { filePath, suppressNotification: true });
  }
  return { times, before, after: await inPlugin(ide) };
}

/** Changes many large files as a CLI does, and opens their list. */
async function openChanges(scene) {
  const { ide, sandbox } = scene;
  const cli = new HookCli(sandbox);
  const large = LINE.repeat(26_000);
  await cli.prompt('Change all');
  for (let i = 0; i < CHANGED; i++) {
    await cli.write(sandbox.file(`changed ${i}.txt`, large), `${large}changed\n`);
  }
  const isCounted = (text) => text.endsWith(`${CHANGED} files changed`);
  await ide.until(({ statusBar }) => statusBar.some(isCounted), 'the count');
  const before = await inPlugin(ide);
  await scene.openChanges();
  printShares(`for the list of ${CHANGED} changed files`, before, await inPlugin(ide));
}

/** Comments on the first lines of a file, like a user. */
async function comment({ ide }, path) {
  const isField = (text) => text.startsWith('Comment for the CLI on');
  for (let i = 0; i < COMMENTS; i++) {
    const line = 1 + i * COMMENTED;
    const last = { line: line + COMMENTED - 1, character: 2 };
    await ide.robot('open', { path, ...last, from: { line, character: 1 } });
    await ide.until(({ focus }) => focus?.path === path, 'the focus in the file');
    await ide.display.press('ctrl+alt+shift+m');
    await ide.until(({ texts }) => texts.some(isField), 'the field');
    await ide.display.type('x');
    await ide.display.press('Return');
    await ide.until(({ texts }) => !texts.some(isField), 'the end of the field');
  }
}

/** Types some keys, each after the plugin has reported the lines of comments. */
async function typeSlowly({ ide }) {
  for (let i = 0; i < 10; i++) {
    await ide.display.type('a');
    await pause(1_500);
  }
}

/** Types in a large file with comments, and again after their lines are gone. */
async function typeBesideComments(scene) {
  const { ide } = scene;
  // No line is like another, so a search for deleted ones goes through the whole file.
  const lines = Array.from({ length: LARGE }, (_, i) => `Line ${i}\n`);
  const path = scene.sandbox.file('commented.txt', lines.join(''));
  await ide.robot('open', { path });
  printPauses('for popups without the plugin', await ide.robot('show plain popups', { count: WARM_UP }));
  await comment(scene, path);
  await printLongest(ide, `while ${COMMENTS} comments are made`);
  await ide.robot('open', { path, line: LARGE / 2 });
  await typeSlowly(scene);
  await printLongest(ide, `for keys in a file of ${LARGE} lines with ${COMMENTS} comments`);
  const end = { line: COMMENTS * COMMENTED + 1, character: 1 };
  await ide.robot('open', { path, ...end, from: { line: 1, character: 1 } });
  await ide.display.press('Delete');
  await typeSlowly(scene);
  await printLongest(ide, 'for keys after the lines of all comments are deleted');
}

/** The conditions of typing. The sampler reads the stack of the event thread. */
const CONDITIONS = {
  'without the plugin': { withPlugin: false },
  'with it, no client': {},
  'with a client': { isConnected: true },
  'without the plugin, but sampled': { withPlugin: false, java: SAMPLE },
};

/** Opens a window and a file, runs `play`, and closes the window. */
async function inWindow({ withPlugin = true, java = [] }, play) {
  const scene = new Scene();
  try {
    const path = scene.sandbox.file('large.txt', LINE.repeat(50_000));
    if (withPlugin) await scene.openIde({ java });
    else scene.ide = await Ide.start(scene.sandbox, { withPlugin, java });
    await scene.ide.robot('open', { path });
    await play(scene, path);
    // An IDE that exits with a balloon over a project's window logs an unrelated error.
    await scene.ide.invoke('CloseProject');
    await scene.ide.until(({ projects }) => projects.length === 0, 'the end of the project');
  } finally {
    await scene.close();
  }
}

/** Adds the times of one window to `times`. */
const type = (condition, times) =>
  inWindow(condition, async (scene, path) => {
    if (condition.isConnected) await scene.connect();
    const run = await scene.ide.robot('type', { path, count: COUNT });
    for (const [name, found] of Object.entries(run)) (times[name] ??= []).push(...found);
  });

async function measureTyping() {
  const names = Object.keys(CONDITIONS);
  const times = Object.fromEntries(names.map((name) => [name, {}]));
  // Each condition is as often before another one as behind it.
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      await type(CONDITIONS[name], times[name]);
    }
  }
  for (const what of ['keys', 'caret moves']) {
    for (const name of names) print(`${what}, ${name}`, summary(times[name][what]));
  }
  for (const what of ['caret handlers', 'selection handlers']) {
    print(what, summary(times['with a client'][what]));
  }
}

/** Measures without the sampler. */
const measureWaits = () =>
  inWindow({}, async (scene) => {
    scene.client = await scene.connect();
    print('\ngetDiagnostics, at the client', summary(await askForProblems(scene)));
    for (const lines of [1_000, 10_000]) {
      const { times } = await showProposals(scene, lines);
      for (const [name, step] of Object.entries(times)) print(`${lines} lines: ${name}`, summary(step));
    }
  });

/** Measures the plugin's part of the event thread. */
const measureEventThread = () =>
  inWindow({ java: SAMPLE }, async (scene) => {
    printShares('from the start of the IDE to an open file', {}, await inPlugin(scene.ide));
    await printLongest(scene.ide, 'from the start of the IDE to an open file');
    scene.client = await scene.connect();
    for (const lines of [1_000, 10_000]) {
      const { before, after } = await showProposals(scene, lines);
      printShares(`for a proposal of ${lines} lines`, before, after, PROPOSALS);
      await printLongest(scene.ide, `for a proposal of ${lines} lines`);
    }
    await openChanges(scene);
    await printLongest(scene.ide, `for the list of ${CHANGED} changed files`);
    await typeBesideComments(scene);
  });

const PARTS = { typing: measureTyping, waits: measureWaits, events: measureEventThread };

const [only] = process.argv.slice(2);
console.log(`${'in µs'.padEnd(44)}p50      p90      p99      max`);
for (const [name, measure] of Object.entries(PARTS)) {
  if (only === undefined || only === name) await measure();
}
