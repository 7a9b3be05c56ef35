// Appends the event of a hook on stdin to the file of the first argument, with the processes above
// the hook: its shell, the CLI, and the CLI's own ancestors.

import fs from 'node:fs';

/** Returns a process by its number, as `{pid, parent, start, args}`. `start` is in clock ticks. */
function processOf(pid) {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const args = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  return { pid, parent: Number(fields[1]), start: Number(fields[19]), args };
}

const ancestors = [];
for (let pid = process.ppid; pid > 1; pid = ancestors.at(-1).parent) ancestors.push(processOf(pid));
const event = JSON.parse(fs.readFileSync(0, 'utf8'));
const text = `${JSON.stringify({ time: Date.now(), event, ancestors })}\n`;
fs.appendFileSync(process.argv[2], text);
