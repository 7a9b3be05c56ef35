// Simulates machines, a host and containers, with network and mount namespaces. Their addresses and
// files are invisible to the real machine. They end with their processes.

import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { within } from './inbox.mjs';
import { skipWithout } from './requirement.mjs';

/** The host's address as containers see it, and their own. */
export const HOST_ADDRESS = '172.30.0.1';
export const CONTAINER_ADDRESS = '172.30.0.2';

/** A user namespace gives an ordinary user the rights of root in it. */
const AS_ROOT = ['--user', '--map-root-user'];

/** A command that fails where the system does not permit the necessary namespaces. */
const PROBE = `
  ip link set lo up && ip link add name probe0 type veth peer name probe1 &&
  bwrap --unshare-pid --dev-bind / / --proc /proc --tmpfs /tmp true`;

/** The command prefix for namespaces, or the reason why there are none. */
function probe() {
  for (const program of ['unshare', 'nsenter', 'bwrap']) {
    if (spawnSync(program, ['--version']).error) return { missing: `${program} is not installed` };
  }
  if (spawnSync('ip', ['-V']).error) return { missing: 'ip is not installed' };
  const reasons = new Set();
  for (const root of process.getuid() === 0 ? [[], AS_ROOT] : [AS_ROOT]) {
    const { status, stderr } = spawnSync('unshare', [...root, '--net', 'sh', '-c', PROBE]);
    if (status === 0) return { root };
    reasons.add(`${stderr}`.trim());
  }
  return { missing: `namespaces are not permitted here: ${[...reasons].join('; ')}` };
}

const { root, missing } = probe();

/** The reason to skip tests with namespaces; false if they work here. */
export const noNamespaces = skipWithout(missing);

/** The command prefix for a program in the namespaces of the process `pid`. */
function enter(pid) {
  const asRoot = root.length > 0 ? ['--user', '--preserve-credentials'] : [];
  return ['nsenter', `--target=${pid}`, ...asRoot, '--net'];
}

async function run([program, ...args], env) {
  return (await promisify(execFile)(program, args, { env, timeout: 60_000 })).stdout;
}

/** Starts a process that only keeps its namespaces. Returns its process id. */
async function hold(sandbox, unshare) {
  const [program, ...args] = [...unshare, 'sh', '-c', 'ip link set lo up && echo && read _'];
  const holder = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const end = once(holder, 'close');
  sandbox.defer(() => {
    holder.stdin.end(); // the end of this process has the same effect
    return within(end, 'the end of a namespace');
  });
  await Promise.race([
    once(holder.stdout, 'data'),
    end.then(() => Promise.reject(new Error('a namespace could not be made'))),
  ]);
  return holder.pid;
}

/** A machine to run programs on: `prefix(folder)` is the command prefix for that folder. */
class Machine {
  /** Runs a program in the root folder until it ends; returns its output. */
  run(program, ...args) {
    return run([...this.prefix('/'), program, ...args], { PATH: process.env.PATH, ...this.env });
  }
}

/** A machine with a separate loopback, and with an address for containers. */
export class Host extends Machine {
  env = {};
  #parts;

  static async create(sandbox) {
    const pid = await hold(sandbox, ['unshare', ...root, '--net']);
    const containers = await hold(sandbox, [...enter(pid), 'unshare', '--net']);
    const folder = sandbox.folder('containers');
    const cable = `
      ip link add name docker0 type veth peer name eth0 netns ${containers}
      ip address add ${HOST_ADDRESS}/24 dev docker0
      ip link set docker0 up`;
    const env = { PATH: process.env.PATH };
    await run([...enter(pid), 'sh', '-ec', cable], env);
    const socket = `
      ip address add ${CONTAINER_ADDRESS}/24 dev eth0
      ip link set eth0 up
      ip route add default via ${HOST_ADDRESS}`;
    await run([...enter(containers), 'sh', '-ec', socket], env);
    return new Host({ pid, containers, folder, programs: programs() });
  }

  /** Opens a machine that `create` made, perhaps in another process. */
  constructor(parts) {
    super();
    this.#parts = parts;
  }

  /** The arguments for the constructor. */
  toJSON() {
    return this.#parts;
  }

  /** The machine's own files without the mark of a container, because tests may run in one. */
  prefix(folder) {
    const temp = fs.realpathSync(os.tmpdir());
    const files = [
      ...[...system(['/.dockerenv', '/proc', '/run']), '--tmpfs', '/run'],
      ...['--bind', '/proc', '/proc', '--bind', temp, temp],
    ];
    return [...enter(this.#parts.pid), 'bwrap', '--die-with-parent', ...files, '--chdir', folder, '--'];
  }

  /**
   * Makes a container. It has separate files, except for the system's programs and `mounts`, as
   * `{from, to, readOnly}`. It has a separate network with the `hosts`
   * `{name: address}`, or with `hostNetwork` the host's network. Unless it is `plain`, it has the
   * mark /.dockerenv.
   */
  container({ hostNetwork = false, plain = false, hosts = {}, mounts = [] } = {}) {
    const { pid, containers, folder, programs } = this.#parts;
    const own = fs.mkdtempSync(path.join(folder, 'container-'));
    const network = enter(hostNetwork ? pid : containers);
    const files = isolation(own, { plain, hosts, mounts: [...programs, ...mounts] });
    return new Container([...network, 'bwrap', ...files]);
  }
}

class Container extends Machine {
  env = { HOME: '/root', TMPDIR: undefined, REMOTE_CONTAINERS: undefined };
  #begin;

  constructor(begin) {
    super();
    this.#begin = begin;
  }

  prefix(folder) {
    return [...this.#begin, '--chdir', folder, '--'];
  }
}

/** The separate folders of each container. All others are the system's, without new mounts. */
const OWN = ['/home', '/mnt', '/opt', '/root', '/run', '/tmp'];

/** Makes bwrap's options, and the files to mount in `folder`. */
function isolation(folder, { plain, hosts, mounts }) {
  const [mark, hostsFile] = ['dockerenv', 'hosts'].map((name) => path.join(folder, name));
  fs.writeFileSync(mark, '');
  const lines = Object.entries({ localhost: '127.0.0.1', ...hosts });
  fs.writeFileSync(hostsFile, lines.map(([name, address]) => `${address} ${name}\n`).join(''));
  const own = new Set([...OWN, fs.realpathSync(os.tmpdir())]);
  const hidden = ['/.dockerenv', '/proc', ...OWN];
  return [
    ...['--die-with-parent', '--unshare-pid', ...system(hidden), '--proc', '/proc'],
    ...[...own].flatMap((folder) => ['--tmpfs', folder]),
    ...(plain ? [] : ['--ro-bind', mark, '/.dockerenv']),
    ...['--ro-bind', hostsFile, '/etc/hosts'],
    ...mounts.flatMap(({ from, to, readOnly }) => [readOnly ? '--ro-bind' : '--bind', from, to]),
  ];
}

/** The folders of the programs under test and their interpreters; containers have the same paths. */
function programs() {
  const folders = [
    fileURLToPath(new URL('../..', import.meta.url)),
    path.dirname(path.resolve(process.env.GEMINI_COMPANION)),
    path.dirname(process.execPath),
  ];
  return folders.map((folder) => ({ from: folder, to: folder, readOnly: true }));
}

/** Mounts the content of the root folder read-only, except `hidden` entries. */
function system(hidden) {
  return fs.readdirSync('/', { withFileTypes: true }).flatMap((entry) => {
    const file = `/${entry.name}`;
    if (hidden.includes(file)) return [];
    if (entry.isSymbolicLink()) return ['--symlink', fs.readlinkSync(file), file];
    return [file === '/dev' ? '--dev-bind' : '--ro-bind-try', file, file];
  });
}
