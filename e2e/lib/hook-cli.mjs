// Runs the hooks of a CLI that gets prompts and changes files. Its connection to the companion is
// that of `client`, in whose process the hooks then begin; without one it is not connected.

import fs from 'node:fs';

import { beforeEdit, edit, hook } from './hook.mjs';

/** Returns the text for the model in the answer of a hook; may be empty. */
const forModel = ({ reason, hookSpecificOutput }) =>
  reason ?? hookSpecificOutput?.additionalContext ?? '';

export class HookCli {
  #sandbox;
  #client;

  constructor(sandbox, session = 'a', client = undefined) {
    this.#sandbox = sandbox;
    /** The CLI's session. */
    this.session = session;
    this.#client = client;
  }

  /** Runs a hook, and returns its answer. `env` are more variables of the hook. */
  async run(moment, event, env) {
    const input = JSON.stringify({ session_id: this.session, ...event });
    const { code, stdout, stderr } = await (this.#client
      ? this.#client.hook(moment, input, env)
      : hook(this.#sandbox, moment, input, { env }));
    if (code !== 0 || stderr) throw new Error(`the hook has failed with ${code}: ${stderr}`);
    return stdout ? JSON.parse(stdout) : {};
  }

  /** Sends a prompt, and returns the further text for the model. */
  async prompt(prompt, env) {
    const event = { hook_event_name: 'BeforeAgent', prompt };
    return forModel(await this.run('before-agent', event, env));
  }

  /** Ends the turn, and returns the text with which it goes on. */
  async end(more, env) {
    const event = { hook_event_name: 'AfterAgent', prompt: '', ...more };
    return forModel(await this.run('after-agent', event, env));
  }

  /** Runs the hook before a tool, and returns its decision. */
  async before(file, more, env) {
    const event = JSON.parse(beforeEdit(file, { ...this.#own, ...more }));
    return (await this.run('before-tool', event, env)).decision;
  }

  /** Runs the hook after a tool, and returns the text for the model. */
  async after(file, more, env) {
    const event = JSON.parse(edit(file, { ...this.#own, ...more }));
    return forModel(await this.run('after-tool', event, env));
  }

  get #own() {
    return { session_id: this.session };
  }

  /** Runs a tool that does `act`. */
  async tool(file, act, more = {}) {
    await this.before(file, more);
    await act();
    return this.after(file, more);
  }

  write(file, content) {
    return this.tool(file, () => fs.writeFileSync(file, content));
  }

  shell(act) {
    const more = { tool_name: 'run_shell_command', tool_input: { command: 'x' } };
    return this.tool(undefined, act, more);
  }
}
