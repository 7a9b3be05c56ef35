// Suspends processes.

import fs from 'node:fs';

import { until } from './inbox.mjs';

/** Suspends a process. Its threads stop some time after the signal, so this waits for all. */
export async function suspend(pid) {
  process.kill(pid, 'SIGSTOP');
  const threads = `/proc/${pid}/task`;
  const status = (thread) => fs.readFileSync(`${threads}/${thread}/status`, 'utf8');
  const isStopped = (thread) => /^State:\s+T/m.test(status(thread));
  await until('all threads stop', () => fs.readdirSync(threads).every(isStopped));
}
