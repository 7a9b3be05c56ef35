// Checks an editor by the rules of docs/editor-protocol.md.

import { CheckedEditor, Violation } from './checked-editor.mjs';
import { Review } from './editor-review.mjs';
import { RULES } from './editor-rules.mjs';

/**
 * Starts the editor by `command` and checks it by each rule, or by the `only` one. An editor that has
 * broken a rule is started again for the next one, unless it did not start at all. Returns
 * `{rule, violation}` for each rule; kept rules have no violation.
 */
export async function checkEditor(command, { timeout = 10, only, done = () => {}, ...options } = {}) {
  const results = [];
  let editor;
  let hasStarted = false;
  for (const [rule, check] of Object.entries(RULES)) {
    if (only && rule !== only) continue;
    let violation;
    try {
      editor ??= await CheckedEditor.start(command, { timeout, ...options });
      hasStarted = true;
      editor.begin();
      await check(editor, new Review(editor));
      violation = editor.violations[0];
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      violation = error.message;
    }
    if (violation || editor.isOver) {
      await editor?.stop();
      editor = undefined;
    }
    results.push({ rule, violation });
    done(results.at(-1));
    if (violation && !hasStarted) break;
  }
  await editor?.stop();
  return results;
}
