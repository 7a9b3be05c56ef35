// Measures the cost of the plugin in a real window. Prints figures for BENCHMARKS.md and asserts
// nothing.
//
// It measures, with and without the plugin, typing and caret moves in a file of 50,000 lines. It
// also measures the plugin's handlers, its use of the event thread at startup, and the time until a
// client gets the problems of a file and until a proposal shows.

import { Ide } from './lib/ide.mjs';
import { Scene } from './lib/ide-scene.mjs';

const COUNT = 5000;
const WARM_UP = 20;
const CALLS = 200;
const PROPOSALS = 60;
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

function printPlugin(times, start) {
  for (const name of ['caret handlers', 'selection handlers']) print(name, summary(times[name]));
  console.log('\nOn the event thread, from the start of the IDE to an open file, in ms:');
  const entries = Object.entries(start).sort(([, a], [, b]) => b - a);
  const total = entries.reduce((sum, [, nanos]) => sum + nanos, 0);
  for (const [name, nanos] of [...entries, ['all of the plugin', total]]) {
    print(name, (nanos / 1e6).toFixed(1).padStart(9));
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

/** Measures the time from a client's openDiff for 1,000 lines until the proposal shows. */
async function showProposals({ ide, client, sandbox }) {
  // A visible file would get the focus back after each, and the next would wait without a tab.
  const { tabs } = await ide.robot('look');
  for (const { path } of tabs) await ide.robot('close', { path });
  const filePath = sandbox.file('proposal.txt', LINE.repeat(1000));
  const times = { 'openDiff → its editor is made': [], '→ painted': [], '→ answered': [] };
  const inPlugin = async () =>
    Object.values(await ide.robot('time in plugin')).reduce((sum, nanos) => sum + nanos, 0);
  let before;
  for (let i = -WARM_UP; i < PROPOSALS; i++) {
    if (i === 0) before = await inPlugin();
    await ide.robot('watch painting');
    const newContent = LINE.repeat(500) + `Proposal ${i}.\n` + LINE.repeat(500);
    const begin = process.hrtime.bigint();
    await client.callTool('openDiff', { filePath, newContent });
    const answered = process.hrtime.bigint();
    const isPainted = (times) => times.painted !== undefined && times;
    const { made, painted } = await ide.untilRobot(['painting'], isPainted, 'a proposal');
    const steps = [BigInt(made), BigInt(painted), answered].map((time) => Number(time - begin));
    if (i >= 0) Object.values(times).forEach((step, index) => step.push(steps[index]));
    await client.callTool('closeDiff', { filePath, suppressNotification: true });
  }
  return { times, inPlugin: ((await inPlugin()) - before) / PROPOSALS };
}

/** Measures in a separate window. */
async function measure(withPlugin) {
  const scene = new Scene();
  try {
    const path = scene.sandbox.file('large.txt', LINE.repeat(50_000));
    if (withPlugin) {
      await scene.openIde({ java: ['-Drobot.sample=true'] });
    } else {
      scene.ide = await Ide.start(scene.sandbox, { withPlugin });
    }
    await scene.ide.robot('open', { path });
    const start = await scene.ide.robot('time in plugin');
    if (withPlugin) scene.client = await scene.connect();
    const times = await scene.ide.robot('type', { path, count: COUNT });
    const suffix = withPlugin ? 'with the plugin' : 'without';
    for (const name of ['keys', 'caret moves']) print(`${name}, ${suffix}`, summary(times[name]));
    if (withPlugin) {
      printPlugin(times, start);
      print('\ngetDiagnostics, at the client', summary(await askForProblems(scene)));
      const shown = await showProposals(scene);
      for (const [name, step] of Object.entries(shown.times)) print(name, summary(step));
      print('on the event thread in the plugin', (shown.inPlugin / 1000).toFixed(1).padStart(9));
    }
    // An IDE that exits with a balloon over a project's window logs an unrelated error.
    await scene.ide.robot('invoke', { action: 'CloseProject' });
    await scene.ide.until(({ projects }) => projects.length === 0, 'the end of the project');
  } finally {
    await scene.close();
  }
}

console.log(`${'in µs'.padEnd(44)}p50      p90      p99      max`);
await measure(false);
await measure(true);
