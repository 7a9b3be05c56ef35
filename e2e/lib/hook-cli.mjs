// Runs the hooks of a CLI that gets prompts and changes files. It has no connection to the companion.

import fs from 'node:fs';

import { beforeEdit, edit, hook } from './hook.mjs';

export class HookCli {
  #sandbox;
  #session;

  constructor(sandbox, session = 'a') {
    this.#sandbox = sandbox;
    this.#session = session;
  }

  /** Sends a prompt, and returns what the model gets besides. */
  async prompt(prompt) {
    const event = { session_id: this.#session, hook_event_name: 'BeforeAgent', prompt };
    const { stdout } = await hook(this.#sandbox, 'before-agent', JSON.stringify(event));
    return stdout ? JSON.parse(stdout).hookSpecificOutput.additionalContext : '';
  }

  /** Runs a tool that does `act`. */
  async tool(file, act, more = {}) {
    const all = { session_id: this.#session, ...more };
    await hook(this.#sandbox, 'before-tool', beforeEdit(file, all));
    await act();
    await hook(this.#sandbox, 'after-tool', edit(file, all));
  }

  write(file, content) {
    return this.tool(file, () => fs.writeFileSync(file, content));
  }

  shell(act) {
    const more = { tool_name: 'run_shell_command', tool_input: { command: 'x' } };
    return this.tool(undefined, act, more);
  }
}
