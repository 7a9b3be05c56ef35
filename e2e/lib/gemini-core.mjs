// Starts the real core of Gemini CLI, whose model proposes edits.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PROGRAM = fileURLToPath(new URL('gemini-core-process.mjs', import.meta.url));

/**
 * Makes the model call the tools `{name, args}` all at once. Returns `{results, history}` when the
 * model has the last result: the results, each an object, and the length of the history in
 * characters of JSON.
 */
export async function runCore(sandbox, calls, { env = {} } = {}) {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [PROGRAM, JSON.stringify(calls)],
    { cwd: sandbox.project, env: sandbox.env({ REMOTE_CONTAINERS: '1', ...env }), maxBuffer: 1 << 26 },
  );
  return JSON.parse(stdout.slice(stdout.lastIndexOf('{"results"')));
}
