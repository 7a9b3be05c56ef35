// Simulates a machine behind SSH: a server in a container, and an `ssh` that knows it.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';

import { within } from './inbox.mjs';
import { makeImage, writeProgram } from './image.mjs';
import { CONTAINER_ADDRESS } from './namespace.mjs';
import { skipWithout } from './requirement.mjs';

const PORT = 2222;

/** The reason to skip tests with SSH; false if it works here. */
export const noSsh = missing();

function missing() {
  if (process.getuid() !== 0) return 'a server of SSH changes its user, which takes root';
  for (const program of ['ssh', 'ssh-keygen', 'dropbear']) {
    if (spawnSync(program, ['-V']).error) return skipWithout(`${program} is not installed`);
  }
  return false;
}

/**
 * Starts the machine `name` with Gemini CLI and `mounts`. Its model answers `replies`. Returns the
 * folder `bin` to prepend to `PATH` on the host, so that `ssh name` connects to `machine`.
 */
export async function startRemote(sandbox, host, name, { mounts, replies }) {
  const folder = sandbox.folder('ssh');
  const [key, hostKey] = ['key', 'host-key'].map((name) => path.join(folder, name));
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  execFileSync('dropbearkey', ['-t', 'ed25519', '-f', hostKey], { stdio: 'ignore' });
  const account = sandbox.folder('ssh', 'account');
  fs.copyFileSync(`${key}.pub`, path.join(account, 'authorized_keys'));

  const image = makeImage(sandbox, replies);
  // The server sets its own PATH.
  const profile = path.join(folder, 'profile');
  fs.writeFileSync(profile, `export PATH='${image.env.PATH}'\n`);
  const own = [
    { from: profile, to: '/root/.bashrc', readOnly: true },
    { from: account, to: '/root/.ssh' },
    { from: hostKey, to: '/run/host-key', readOnly: true },
  ];
  const machine = host.container({ plain: true, mounts: [...image.mounts, ...own, ...mounts] });
  // Runs in the foreground, on this port only, with this environment for logins.
  const options = ['-F', '-s', '-e', '-p', `${CONTAINER_ADDRESS}:${PORT}`, '-r', '/run/host-key'];
  const [program, ...args] = [...machine.prefix('/'), 'dropbear', ...options];
  const server = spawn(program, args, { env: { ...machine.env, ...image.env }, stdio: 'ignore' });
  const end = once(server, 'close');
  sandbox.defer(() => {
    server.kill('SIGKILL');
    return within(end, 'the end of the SSH server');
  });

  const config = path.join(folder, 'config');
  const lines = [
    `Host ${name}`,
    `HostName ${CONTAINER_ADDRESS}`,
    `Port ${PORT}`,
    'User root',
    `IdentityFile ${key}`,
    'IdentitiesOnly yes',
    'UserKnownHostsFile /dev/null',
    'StrictHostKeyChecking no',
    'ConnectionAttempts 60', // one each second
  ];
  fs.writeFileSync(config, lines.map((line) => `${line}\n`).join(''));
  const bin = sandbox.folder('ssh-bin');
  const ssh = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim();
  writeProgram(bin, 'ssh', [ssh, '-F', config]);
  return { bin, machine };
}
