// Runs the commands of docs/remote.md for Gemini CLI away from its editor, as they stand there.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { dockerRuns, installDocker } from '../lib/docker.mjs';
import { Editor } from '../lib/editor.mjs';
import { ENVIRONMENT, GEMINI, prepare, writes } from '../lib/gemini-cli.mjs';
import { makeImage, writeProgram } from '../lib/image.mjs';
import { within } from '../lib/inbox.mjs';
import { Host, HOST_ADDRESS, noNamespaces } from '../lib/namespace.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { noSsh, startRemote } from '../lib/ssh.mjs';
import { noTerminal, Terminal } from '../lib/terminal.mjs';

const skip = noNamespaces || noTerminal;

/** A variable that the user wants in a sandbox. */
const SECRET = 'KEY=of-the-user';

/** The first shell block of docs/remote.md that has `words` in it. */
function commandsWith(words) {
  const page = fs.readFileSync(new URL('../../docs/remote.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/```sh\n([^]*?)```/g)].map(([, block]) => block);
  const found = blocks.find((block) => block.includes(words));
  assert.ok(found, `docs/remote.md has no commands with ${words}`);
  return found;
}

/** An editor on a host with the programs that docs/remote.md needs. */
async function openHost(sandbox, args = ['--listen', HOST_ADDRESS]) {
  const host = await Host.create(sandbox);
  const companion = await Companion.start(sandbox, { machine: host, args });
  const bin = sandbox.folder('host-bin');
  prepare(sandbox.home, path.join(sandbox.root, 'replies.jsonl'), []);
  writeProgram(bin, 'gemini', [process.execPath, GEMINI]);
  writeProgram(bin, 'gemini-companion', [path.resolve(process.env.GEMINI_COMPANION)]);
  return { sandbox, host, companion, editor: new Editor(companion), bin };
}

/** Types commands into a terminal of `machine`, in the folder `cwd`. */
function type(sandbox, machine, text, { cwd = sandbox.project, path, env = {} }) {
  const command = [...machine.prefix(cwd), 'bash', '-c', text];
  const variables = { ...ENVIRONMENT, ...machine.env, ...env, PATH: path };
  return new Terminal(sandbox, command, { cwd: sandbox.project, env: variables });
}

/** The model's answers, which edit a file of the project; its path on that machine is `there`. */
function edit({ project }, there = project) {
  fs.writeFileSync(path.join(project, 'a.txt'), 'old\n');
  return writes(path.join(there, 'a.txt'), 'proposed\n');
}

/** Listens at the port of that machine, as an earlier session or another user would. */
async function occupy(sandbox, machine, port) {
  const script = `
    const net = require('node:net');
    // A machine without IPv6 can't listen on ::1.
    const listen = (host) =>
      new Promise((end) => net.createServer().on('error', end).listen(${port}, host, end));
    Promise.all(['127.0.0.1', '::1'].map(listen)).then(() => console.log());`;
  const [program, ...args] = [...machine.prefix('/'), process.execPath, '-e', script];
  const env = { PATH: process.env.PATH, ...machine.env };
  const listener = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const end = once(listener, 'close');
  sandbox.defer(() => {
    listener.kill('SIGKILL');
    return within(end, 'the end of the listener');
  });
  await within(once(listener.stdout, 'data'), 'the listener');
}

/** Reviews the edit of the CLI in the terminal, and checks that the CLI writes the result. */
async function reviews({ sandbox, editor }, terminal) {
  const file = path.join(sandbox.project, 'a.txt');
  await terminal.shows(/Type your message/);
  await terminal.enter('write it');
  assert.equal((await editor.view(file)).newContent, 'proposed\n');
  editor.accept(file, 'changed by the user\n');
  await terminal.shows(/a\.txt → Accepted[^]*That was all\./);
  assert.equal(fs.readFileSync(file, 'utf8'), 'changed by the user\n');
}

describe('as docs/remote.md says', { skip }, () => {
  for (const [place, words] of [
    ['in a container', 'docker run'],
    ['in its own sandbox', 'gemini --sandbox'],
  ]) {
    test(`Gemini CLI works ${place}`, async (t) => {
      const sandbox = Sandbox.of(t);
      const window = await openHost(sandbox);
      const docker = installDocker(sandbox, window.host, edit(sandbox));
      const terminal = type(sandbox, window.host, commandsWith(words), {
        path: `${docker}:${window.bin}:${process.env.PATH}`,
        env: { SANDBOX_SET_UID_GID: 'false' }, // the image has no users but root
      });
      await reviews(window, terminal);
      const [run] = dockerRuns(docker);
      assert.ok(!run.join(' ').includes(window.companion.ready.authToken), 'all can read the token');
    });
  }

  for (const [network, hostNetwork, host] of [
    ['mirrored', true, 'host=127.0.0.1'],
    ['not mirrored', false, 'host=$(ip route'],
  ]) {
    const brief = hostNetwork && process.env.COMPANION_TEST_LONG !== '1' && 'much like the other';
    test(`Gemini CLI works in WSL, ${network}`, { skip: brief }, async (t) => {
      const sandbox = Sandbox.of(t);
      // The drive C: of a Windows that is a Linux here.
      const drive = sandbox.folder('c');
      sandbox.project = sandbox.folder('c', 'Users', 'me', 'project');
      sandbox.tmp = sandbox.folder('c', 'Users', 'me', 'AppData', 'Local', 'Temp');
      const window = await openHost(sandbox, hostNetwork ? [] : ['--listen', HOST_ADDRESS]);
      const there = '/mnt/c/Users/me/project';
      const image = makeImage(sandbox, edit(sandbox, there));
      const mounts = [...image.mounts, { from: drive, to: '/mnt/c' }];
      const machine = window.host.container({ plain: true, hostNetwork, mounts });
      const typed = commandsWith(host) + commandsWith('/mnt/c').replaceAll('C:\\\\', drive);
      const terminal = type(sandbox, machine, typed, { cwd: there, path: image.env.PATH });
      await reviews(window, terminal);
    });
  }

  /** The editor, a machine `build-server`, and a terminal in which its commands are typed. */
  async function openSsh(t) {
    const sandbox = Sandbox.of(t);
    // No name of a folder is part of a command.
    sandbox.project = sandbox.folder("it's; touch $HOME/made #");
    const window = await openHost(sandbox, []);
    const mounts = [{ from: sandbox.project, to: sandbox.project }];
    const options = { mounts, replies: edit(sandbox) };
    const { bin, machine } = await startRemote(sandbox, window.host, 'build-server', options);
    const start = () =>
      type(sandbox, window.host, commandsWith('ssh'), {
        path: `${bin}:${window.bin}:${process.env.PATH}`,
        env: { SANDBOX_ENV: SECRET },
      });
    return { window, bin, machine, start };
  }

  test('Gemini CLI works over SSH', { skip: noSsh }, async (t) => {
    const { window, bin, start } = await openSsh(t);
    await reviews(window, start());
    const there = (command) => window.host.run(path.join(bin, 'ssh'), 'build-server', command);
    const left = await there('ls -A');
    assert.ok(!left.includes('.companion'), left);
    const variables = await there('cat /proc/$(pgrep -o node)/environ');
    assert.match(variables, /GEMINI_CLI_IDE_AUTH_TOKEN=/);
    assert.ok(!variables.includes(SECRET), variables);
  });

  test('no CLI starts over SSH if another program has the port there', { skip: noSsh }, async (t) => {
    const { window, machine, start } = await openSsh(t);
    const port = Number(window.companion.ready.env.GEMINI_CLI_IDE_SERVER_PORT);
    await occupy(window.sandbox, machine, port);
    const terminal = start();
    await terminal.shows(/remote port forwarding failed|Type your message/);
    // As a warning, the CLI would start.
    assert.match(terminal.screen(), /^Error: remote port forwarding failed/m);
  });
});
