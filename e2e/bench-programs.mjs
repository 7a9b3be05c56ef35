// Compares programs that are compiled in different ways, such as with another C library. `node
// bench-programs.mjs PROGRAM…` alternates between them and shows the cost of openDiff relative to
// the first. With `--resume`, each program also runs as in an IDE, ready to resume after a restart.
// The client measures the time. The processor time is the program's own for openDiff and closeDiff,
// which the machine's other work influences less. The memory is that of a new process, for ten
// proposals of 10 MB.

import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { Companion } from './lib/companion.mjs';
import { Session } from './lib/http.mjs';
import { Sandbox } from './lib/sandbox.mjs';

const LINE = 'The quick brown fox jumps over the dog.\n';
const LARGEST = 10 << 20;
const SIZES = [
  ['2 KB', 2 << 10, 400],
  ['1 MB', 1 << 20, 40],
  ['10 MB', LARGEST, 8],
];
const ROUNDS = 8;

const percentile = (times, share) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { resume: { type: 'boolean' } },
});
const programs = positionals.flatMap((program) =>
  (values.resume ? [[], ['--resume']] : [[]]).map((args) => ({
    program: path.resolve(program),
    args,
  })),
);
const sandbox = new Sandbox();
const agent = new http.Agent({ keepAlive: true });

/** The processor time of a process, in ms. */
function processorTime(pid) {
  const tasks = fs.readdirSync(`/proc/${pid}/task`);
  const times = tasks.map((task) => fs.readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'));
  return times.reduce((sum, time) => sum + Number(time.split(' ')[0]), 0) / 1e6;
}

/** Starts a program whose editor shows each diff at once, and a session with it. */
async function start(options) {
  const companion = await Companion.start(sandbox, options);
  companion.onRequest((_, { filePath }) => ({ filePath }));
  return { companion, session: await Session.open(sandbox, companion) };
}

/** Posts a prepared body, and measures the time to the last byte of the answer, in ms. */
function measure({ companion: { ready }, session }, body) {
  const headers = {
    authorization: `Bearer ${ready.authToken}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...session.headers,
  };
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const request = http.request(ready.url, { method: 'POST', agent, headers }, (reply) => {
      reply.resume().on('end', () => {
        if (reply.statusCode === 200) resolve(performance.now() - begun);
        else reject(new Error(`status ${reply.statusCode}`));
      });
    });
    request.on('error', reject).end(body);
  });
}

/** Opens and closes a proposal. Returns the time of openDiff. */
async function openAndClose(one, filePath, newContent) {
  const call = (name, args) =>
    Buffer.from(JSON.stringify(one.session.message('tools/call', { name, arguments: args })));
  const time = await measure(one, call('openDiff', { filePath, newContent }));
  await measure(one, call('closeDiff', { filePath, suppressNotification: true }));
  return time;
}

/** Measures `count` proposals. The first ones warm up the caches. */
async function propose(one, count, filePath, newContent) {
  for (let turn = -count / 4; turn < count; turn++) {
    if (turn === 0) one.processor -= processorTime(one.companion.pid);
    const time = await openAndClose(one, filePath, newContent);
    if (turn >= 0) one.times.push(time);
  }
  one.processor += processorTime(one.companion.pid);
}

/** Returns a size from the status of a process, in MB. */
function memory({ companion: { pid } }, name) {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))[1]) / 1024;
}

async function measureMemory(options) {
  const one = await start(options);
  const figures = [memory(one, 'VmRSS')];
  const filePath = sandbox.file('memory.txt', '');
  const newContent = LINE.repeat(LARGEST / LINE.length);
  for (let turn = 0; turn < 10; turn++) await openAndClose(one, filePath, newContent);
  figures.push(memory(one, 'VmHWM'));
  await pause(1_000);
  figures.push(memory(one, 'VmRSS'));
  return figures.map((megabytes) => megabytes.toFixed(1)).join(', ');
}

try {
  const running = [];
  for (const program of programs) running.push(await start(program));
  for (const [name, size, count] of SIZES) {
    const filePath = sandbox.file(`${size}.txt`, '');
    const newContent = LINE.repeat(size / LINE.length);
    for (const one of running) Object.assign(one, { times: [], processor: 0 });
    for (let round = 0; round < ROUNDS; round++) {
      for (const one of running) await propose(one, count, filePath, newContent);
    }
    const against = (figures) =>
      figures.map((ms) => `${ms.toFixed(3)} (${(ms / figures[0]).toFixed(2)})`).join('  ');
    const times = [0.5, 0.99].map((share) => running.map(({ times }) => percentile(times, share)));
    const processor = running.map(({ processor }) => processor / ROUNDS / count);
    const [p50, p99] = times.map(against);
    console.log(`${name.padStart(5)}  p50 ${p50}  p99 ${p99}  processor ${against(processor)}`);
  }
  for (const program of programs) {
    console.log(`MB at the start, at most, and a second after: ${await measureMemory(program)}`);
  }
} finally {
  agent.destroy();
  await sandbox.close();
}
