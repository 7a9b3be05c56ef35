// Starts companions in a namespace where a disk of the test is the folder for temporary files.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { Companion } from './companion.mjs';
import { until } from './inbox.mjs';
import { skipWithout } from './requirement.mjs';
import { suspend } from './suspend.mjs';

/** The command prefix for a command that can mount. */
export const NAMESPACE = ['unshare', '--user', '--map-root-user', '--mount', '--propagation', 'private'];

export const works = ([program, ...args]) => spawnSync(program, [...args, 'true']).status === 0;

/** The reason to skip tests with such a companion; false if it works here. */
export const noNamespace = skipWithout(
  !works(NAMESPACE) && 'user namespaces are not permitted here',
);

/** Starts a companion whose folder for temporary files `mount` mounts in its namespace. */
export async function startMounted(sandbox, mount, options = {}) {
  const script = `${mount} && exec "$@"`;
  const machine = { prefix: () => [...NAMESPACE, 'sh', '-c', script, 'sh'] };
  const companion = await Companion.start(sandbox, { machine, ...options });
  /** The folder as the companion sees it. */
  const tmp = path.join(`/proc/${companion.pid}/root`, sandbox.tmp);
  return { companion, tmp, folder: path.join(tmp, 'gemini', 'ide') };
}

/**
 * A folder that can stop answering, like one on a network drive: a process serves it, and a test
 * can suspend that process.
 */
export class Disk {
  #sandbox;
  #file;

  /** The mounted `folder` has the content of `backing`. */
  constructor(sandbox, folder) {
    this.#sandbox = sandbox;
    this.folder = folder;
    this.backing = sandbox.folder(`behind-${path.basename(folder)}`);
    this.#file = path.join(sandbox.root, `${path.basename(folder)}.pid`);
    const end = () => this.#signal('SIGKILL');
    sandbox.defer(end);
    sandbox.deferKill(end);
  }

  /** The reason to skip tests with such a folder; false if it works here. */
  static get missing() {
    const script = 'mount=$(mktemp -d) && bindfs "$mount" "$mount" && umount "$mount"';
    const mounts = spawnSync(NAMESPACE[0], [...NAMESPACE.slice(1), 'sh', '-c', script]);
    return skipWithout(mounts.status !== 0 && `no FUSE here: ${mounts.stderr}`);
  }

  /**
   * The shell command that mounts it; with `dead`, it never answers. A process that is not yet
   * suspended would still take the first access (see `stop`), so this waits for that.
   */
  mount({ dead = false } = {}) {
    const serve = `bindfs -f -s ${this.backing} ${this.folder} </dev/null >/dev/null 2>&1`;
    const until = (command) => `until ${command}; do sleep 0.01; done`;
    const mounted = until(`mountpoint -q ${this.folder}`);
    const suspended = `kill -STOP $! && ${until("grep -q '^State:.T' /proc/$!/status")}`;
    return `{ ${serve} & echo $! > ${this.#file}; } && ${mounted}${dead ? ` && ${suspended}` : ''}`;
  }

  /**
   * Makes all later accesses wait. Suspends the process only while it is idle, because the system
   * cannot kill a process whose access is being answered.
   */
  async stop() {
    await until('the disk is idle', async () => {
      const taken = () => /rchar: (\d+)/.exec(this.#process('io'))[1];
      const before = taken();
      if (this.#process('wchan') !== 'fuse_dev_do_read') return false;
      await suspend(this.#pid());
      if (taken() === before) return true;
      this.goOn();
      return false;
    });
  }

  /** Makes it answer again. */
  goOn() {
    this.#signal('SIGCONT');
  }

  #pid() {
    return fs.existsSync(this.#file) && Number(fs.readFileSync(this.#file, 'utf8'));
  }

  #process(what) {
    return fs.readFileSync(`/proc/${this.#pid()}/${what}`, 'utf8');
  }

  #signal(name) {
    const pid = this.#pid();
    if (pid) process.kill(pid, name);
  }
}
