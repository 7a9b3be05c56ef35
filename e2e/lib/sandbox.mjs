// Creates a test's folders and processes, and removes them when the test ends.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

// Tests may have many listeners at once.
process.setMaxListeners(0);
// An interruption must also cause the `exit` event.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

export class Sandbox {
  #closers = [];
  #killers = [];
  #kill = () => {
    for (const kill of this.#killers.reverse()) kill();
  };

  constructor() {
    const temp = fs.realpathSync(os.tmpdir());
    this.root = fs.mkdtempSync(path.join(temp, 'companion-e2e-'));
    /** The folder for temporary files of the programs under test. */
    this.tmp = this.folder('tmp');
    this.home = this.folder('home');
    this.project = this.folder('project');
    const remove = () => fs.rmSync(this.root, { recursive: true, force: true });
    this.defer(remove);
    this.deferKill(remove);
    process.on('exit', this.#kill);
  }

  /** Creates a sandbox that ends with the test `t`. */
  static of(t) {
    const sandbox = new Sandbox();
    t.after(() => sandbox.close());
    return sandbox;
  }

  /** Creates a folder below the root. */
  folder(...names) {
    const folder = path.join(this.root, ...names);
    fs.mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** Writes a file of the project. */
  file(name, content = '') {
    const file = path.join(this.project, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
    return file;
  }

  /** The environment of the programs under test, without the developer's variables. */
  env(more = {}) {
    const { PATH, SystemRoot } = process.env;
    // The same folders under Windows' names, and variables for its sockets.
    const windows = { SystemRoot, TEMP: this.tmp, TMP: this.tmp, USERPROFILE: this.home };
    const system = process.platform === 'win32' ? windows : {};
    return { PATH, HOME: this.home, TMPDIR: this.tmp, ...system, ...more };
  }

  /** Calls `close` at the end, in reverse order. */
  defer(close) {
    this.#closers.push(close);
  }

  /** Calls `kill` instead if this process is interrupted; `kill` must not wait. */
  deferKill(kill) {
    this.#killers.push(kill);
  }

  /** Closes everything, and then throws the errors. */
  async close() {
    const errors = [];
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    process.off('exit', this.#kill);
    if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors);
  }
}
