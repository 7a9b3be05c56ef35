// Runs the editor of editors/minimal, and types at it.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { until, within } from './inbox.mjs';
import { skipWithout } from './requirement.mjs';

export const MINIMAL = fileURLToPath(new URL('../../editors/minimal/companion.py', import.meta.url));

/** The reason to skip tests with the minimal editor; false if there is a Python. */
export const noPython = skipWithout(spawnSync('python3', ['--version']).error && 'no python3');

export class MinimalEditor {
  /** The text on its terminal. */
  shown = '';
  #process;

  /** Starts it in the project, and waits until a CLI can connect. */
  static async start(sandbox) {
    const editor = new MinimalEditor();
    const env = sandbox.env({ GEMINI_COMPANION: path.resolve(process.env.GEMINI_COMPANION) });
    editor.#process = spawn('python3', [MINIMAL], { cwd: sandbox.project, env });
    editor.#process.stdout.setEncoding('utf8').on('data', (text) => (editor.shown += text));
    sandbox.defer(() => editor.close());
    const files = sandbox.folder('tmp', 'gemini', 'ide');
    await until('a discovery file', () => fs.readdirSync(files).length > 0);
    return editor;
  }

  /** Waits until the terminal shows a text. */
  async shows(text) {
    await until(`${text} in ${this.shown}`, () => this.shown.includes(text));
  }

  type(line) {
    this.#process.stdin.write(`${line}\n`);
  }

  /** Ends it as a user does. Returns the exit code. */
  async close() {
    if (this.#process.exitCode !== null) return this.#process.exitCode;
    const exit = once(this.#process, 'exit');
    this.#process.stdin.end();
    try {
      return (await within(exit, 'the end of the editor'))[0];
    } finally {
      this.#process.kill('SIGKILL');
    }
  }
}
