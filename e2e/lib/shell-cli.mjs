// A process that runs hooks and does nothing else, for tests with many CLIs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { within } from './inbox.mjs';

const END = '@end\n';

export class ShellCli {
  #process;

  constructor(sandbox) {
    // A process above the shell, because hooks take no shell for their CLI.
    const GEMINI_COMPANION = path.resolve(process.env.GEMINI_COMPANION);
    const env = sandbox.env({ REMOTE_CONTAINERS: '1', GEMINI_COMPANION });
    this.#process = spawn('timeout', ['600', 'sh'], { cwd: sandbox.project, env });
    this.#process.stdout.setEncoding('utf8');
    sandbox.defer(() => this.close());
  }

  /** Runs a hook, and returns `{code, stdout, stderr}`. */
  async hook(moment, input) {
    const { stdin, stdout } = this.#process;
    stdin.write(`"$GEMINI_COMPANION" hook ${moment} <<'END'\n${input}\nEND\nprintf '%s\\n' @end\n`);
    let text = '';
    while (!text.endsWith(END)) text += (await within(once(stdout, 'data'), 'a hook'))[0];
    return { code: 0, stdout: text.slice(0, -END.length), stderr: '' };
  }

  async close() {
    if (this.#process.exitCode !== null) return;
    const exit = once(this.#process, 'exit');
    this.#process.stdin.end();
    await within(exit, 'the end of a shell');
  }
}
