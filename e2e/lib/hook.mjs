// Owns what a CLI runs before and after an edit: `gemini-companion hook`.

import { run } from './doctor.mjs';

/** What Gemini CLI tells of an edit of `file_path`. */
export const edit = (file_path, more) =>
  JSON.stringify({
    session_id: 'a',
    hook_event_name: 'AfterTool',
    tool_name: 'write_file',
    tool_input: { file_path, content: 'the whole text' },
    ...more,
  });

/** Runs the hook in the project, with `input` on its stdin, and returns what it says. */
export const hook = (sandbox, moment, input, { args = [], env } = {}) =>
  run(sandbox, ['hook', moment, ...args], { env, input });

/** What it says if it says nothing. */
export const NOTHING = { code: 0, stdout: '', stderr: '' };
