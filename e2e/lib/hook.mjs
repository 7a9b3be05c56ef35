// Runs `gemini-companion hook` as a CLI does before and after an edit.

import { run } from './doctor.mjs';

/** Returns Gemini CLI's input for an edit of `file_path`. */
export const edit = (file_path, more) =>
  JSON.stringify({
    session_id: 'a',
    hook_event_name: 'AfterTool',
    tool_name: 'write_file',
    tool_input: { file_path, content: 'the whole text' },
    ...more,
  });

/** Runs the hook in the project, with `input` on its stdin, and returns its output. */
export const hook = (sandbox, moment, input, { args = [], env } = {}) =>
  run(sandbox, ['hook', moment, ...args], { env, input });

/** The output without a report. */
export const NOTHING = { code: 0, stdout: '', stderr: '' };
