// Owns what a test leaves behind: its folders and processes, all gone when it ends.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

// Tests may have many at once.
process.setMaxListeners(0);
// An interruption, too, is to end by way of the `exit` event.
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
    /** What the programs under test take for the system's folder for temporary files. */
    this.tmp = this.folder('tmp');
    this.home = this.folder('home');
    this.project = this.folder('project');
    const remove = () => fs.rmSync(this.root, { recursive: true, force: true });
    this.defer(remove);
    this.deferKill(remove);
    process.on('exit', this.#kill);
  }

  /** One that ends with the test `t`. */
  static of(t) {
    const sandbox = new Sandbox();
    t.after(() => sandbox.close());
    return sandbox;
  }

  /** Makes a folder below the root. */
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

  /** The environment of the programs under test: nothing of the developer's own gets in. */
  env(more = {}) {
    const { PATH, SystemRoot } = process.env;
    // The same places, as Windows names them, and what its sockets need.
    const windows = { SystemRoot, TEMP: this.tmp, TMP: this.tmp, USERPROFILE: this.home };
    const system = process.platform === 'win32' ? windows : {};
    return { PATH, HOME: this.home, TMPDIR: this.tmp, ...system, ...more };
  }

  /** Has `close` called at the end; what was made last goes first. */
  defer(close) {
    this.#closers.push(close);
  }

  /** Has `kill` called instead, should this process be interrupted; it can't wait for anything. */
  deferKill(kill) {
    this.#killers.push(kill);
  }

  /** Closes everything, even if some of it fails, and then says so. */
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
