// Owns what a CLI runs before and after an edit: `gemini-companion hook`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { within } from './inbox.mjs';

const PROGRAM = process.env.GEMINI_COMPANION;

/** What Gemini CLI tells of an edit of `file_path`. */
export const edit = (file_path, more) =>
  JSON.stringify({
    session_id: 'a',
    hook_event_name: 'AfterTool',
    tool_name: 'write_file',
    tool_input: { file_path, content: 'the whole text' },
    ...more,
  });

/**
 * Runs the hook in the project, and returns what it says. On its stdin is `input`; if that is
 * undefined, stdin stays open without a word.
 */
export async function hook(sandbox, moment, input, { args = [], env } = {}) {
  const options = { cwd: sandbox.project, env: sandbox.env(env) };
  const child = spawn(PROGRAM, ['hook', moment, ...args], options);
  sandbox.deferKill(() => child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  child.stdin.on('error', () => {}); // it does not want to hear all
  if (input !== undefined) child.stdin.end(input);
  const [code] = await within(once(child, 'close'), 'the end of the hook');
  return { code, stdout, stderr };
}

/** What it says if it says nothing. */
export const NOTHING = { code: 0, stdout: '', stderr: '' };
