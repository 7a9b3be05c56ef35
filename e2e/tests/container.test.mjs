// Tests Gemini CLI in a container with the editor on the host: each way to connect them.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { Companion } from '../lib/companion.mjs';
import {
  REASON,
  comment,
  commentOf,
  inPlaceOfResult,
  read,
  replace,
  untilChecked,
} from '../lib/conversation.mjs';
import { accepted } from '../lib/decision.mjs';
import { dockerRuns, installDocker } from '../lib/docker.mjs';
import { Editor } from '../lib/editor.mjs';
import { EXTENSION } from '../lib/extension.mjs';
import { says, toolResults } from '../lib/gemini-cli.mjs';
import { noGit, repository } from '../lib/git.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { imageHome } from '../lib/image.mjs';
import { within } from '../lib/inbox.mjs';
import { Host, HOST_ADDRESS, noNamespaces } from '../lib/namespace.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { Terminal, noTerminal } from '../lib/terminal.mjs';

/** As Docker's `--add-host host.docker.internal:host-gateway` makes it. */
const HOSTS = { 'host.docker.internal': HOST_ADDRESS };

/** An editor window on a host of its own. */
async function openWindowOnHost(t, { args = ['--listen', HOST_ADDRESS], ...options } = {}) {
  const sandbox = Sandbox.of(t);
  const host = await Host.create(sandbox);
  const companion = await Companion.start(sandbox, { machine: host, args, ...options });
  return { sandbox, host, companion, editor: new Editor(companion) };
}

/**
 * The variables for a container without a shared discovery folder. Without the last one the client
 * finds no IDE's terminal, and does not even try to connect.
 */
const environment = ({ ready }) => ({ ...ready.env, TERMINAL_EMULATOR: 'JetBrains-JediTerm' });

/** A folder of the host that a container has at the same path, or at `to`. */
const mount = (from, to = from) => ({ from, to });

/** The main job, with a file of the project that is `inContainer` there. */
async function reviewsAnEdit({ sandbox, companion, editor }, client, inContainer = (path) => path) {
  const file = sandbox.file('src/a.txt', 'old\n');
  companion.notify('editor/focused', { path: file });
  companion.notify('editor/selection', { path: file, text: 'old' });
  const files = await client.openFiles((files) => files[0]?.selectedText === 'old');
  assert.equal(files[0].path, inContainer(file));

  const decision = client.openDiff(inContainer(file), 'proposed\n');
  assert.equal((await editor.view(file)).newContent, 'proposed\n');
  editor.accept(file, 'changed by the user\n');
  assert.deepEqual(await decision, accepted('changed by the user\n'));
}

/** The client's message about a failed connection. */
async function refusal(sandbox, options) {
  const client = await IdeClient.start(sandbox, options);
  const { status, details } = await client.connect();
  assert.equal(status, 'disconnected');
  return details;
}

describe('in a container', { skip: noNamespaces }, () => {
  test('that has the network of the host, the client stays on loopback', async (t) => {
    const window = await openWindowOnHost(t, { args: [] });
    const { sandbox, host, companion } = window;
    const machine = host.container({ hostNetwork: true, mounts: [mount(sandbox.project)] });
    const env = { ...environment(companion), REMOTE_CONTAINERS: '1' };
    await reviewsAnEdit(window, await IdeClient.connect(sandbox, { machine, env }));
  });

  test('the client needs to take its terminal for one of an IDE', async (t) => {
    const { sandbox, host, companion } = await openWindowOnHost(t);
    const machine = host.container({ hosts: HOSTS, mounts: [mount(sandbox.project)] });
    const details = await refusal(sandbox, { machine, env: companion.ready.env });
    assert.match(details, /^IDE integration is currently disabled\./);
  });

  test('the client finds the companion by a folder that is shared', async (t) => {
    const window = await openWindowOnHost(t);
    const { sandbox, host } = window;
    const discovery = mount(path.join(sandbox.tmp, 'gemini'), '/tmp/gemini');
    const machine = host.container({ hosts: HOSTS, mounts: [mount(sandbox.project), discovery] });
    await reviewsAnEdit(window, await IdeClient.connect(sandbox, { machine }));
  });

  test('without that address the client says that it fails to connect', async (t) => {
    const { sandbox, host, companion } = await openWindowOnHost(t, { args: [] });
    const machine = host.container({ hosts: HOSTS, mounts: [mount(sandbox.project)] });
    const details = await refusal(sandbox, { machine, env: environment(companion) });
    assert.match(details, /^Failed to connect to IDE companion extension in /);
    assert.deepEqual(companion.ready.listening, [`127.0.0.1:${companion.ready.port}`]);
  });

  test('on host networking the client needs the variable that keeps it on loopback', async (t) => {
    const { sandbox, host, companion } = await openWindowOnHost(t, { args: [] });
    const machine = host.container({ hostNetwork: true, mounts: [mount(sandbox.project)] });
    const details = await refusal(sandbox, { machine, env: environment(companion) });
    assert.match(details, /^Failed to connect to IDE companion extension in /);
  });
});

/**
 * The client in a container that `gemini-companion container` starts on the host, in the folder
 * `cwd`; `ours` are options of the program, `theirs` of `docker run`. And how docker was called.
 */
async function startInContainer({ sandbox, host }, options = {}) {
  const { ours = [], theirs = [], cwd = sandbox.project } = options;
  const docker = installDocker(sandbox, host);
  const client = await IdeClient.startBy(sandbox, ([node, module], { IDE_CLIENT_SOCKET: socket }) => {
    const run = ['docker', 'run', '--rm', `--volume=${socket}:${socket}`, '--env=IDE_CLIENT_SOCKET'];
    const [program, ...args] = [
      ...host.prefix(cwd),
      ...[path.resolve(process.env.GEMINI_COMPANION), 'container', ...ours, '--'],
      ...[...run, ...theirs, 'my-image', node, module],
    ];
    const PATH = `${docker}:${process.env.PATH}`;
    const env = sandbox.env({ ...host.env, PATH, IDE_CLIENT_SOCKET: socket });
    const container = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const end = once(container, 'close');
    let log = '';
    container.stderr.setEncoding('utf8').on('data', (text) => (log += text));
    sandbox.defer(async () => {
      const [code] = await within(end, 'the end of the container');
      assert.equal(code, 0, log);
    });
    sandbox.deferKill(() => container.kill('SIGKILL'));
  });
  const { status, details } = await client.connect();
  assert.equal(status, 'connected', details);
  const [called] = dockerRuns(docker);
  return { client, called: called.join('\n') };
}

describe('in a container that the program starts', { skip: noNamespaces }, () => {
  test('with a folder of the project, the bridge shows no more of it', async (t) => {
    const window = await openWindowOnHost(t);
    const { sandbox } = window;
    const part = sandbox.folder('project', 'src');
    const theirs = [`--volume=${part}:/workspace`];
    const options = { ours: ['--bridge'], theirs, cwd: part };
    const { client, called } = await startInContainer(window, options);
    await reviewsAnEdit(window, client, (file) => file.replace(part, '/workspace'));
    assert.ok(!called.includes(`=${sandbox.project}:`), 'the rest of the project is there');
  });

  test('Git works in a linked worktree, without the files of the main one', { skip: noGit }, async (t) => {
    const { sandbox, add } = repository(t);
    const host = await Host.create(sandbox);
    const side = add('side');
    fs.writeFileSync(path.join(side, 'new.txt'), '');
    const options = { machine: host, args: ['--listen', HOST_ADDRESS], workspace: [side] };
    await Companion.start(sandbox, options);
    const docker = installDocker(sandbox, host);
    const [program, ...args] = [
      ...[...host.prefix(side), path.resolve(process.env.GEMINI_COMPANION), 'container', '--'],
      ...['docker', 'run', '--rm', 'my-image', 'sh', '-c', 'git status --porcelain && ls -A "$0"'],
      sandbox.project,
    ];
    const env = sandbox.env({ ...host.env, PATH: `${docker}:${process.env.PATH}` });
    const stdout = execFileSync(program, args, { env, encoding: 'utf8' });
    assert.equal(stdout, '?? new.txt\n.git\n');
  });

  for (const [way, ours, there] of [
    ['to the companion', [], undefined],
    ['through the bridge, which changes paths', ['--bridge'], '/mnt/project'],
  ]) {
    test(`the CLI’s hooks find their way ${way}`, { skip: noTerminal }, async (t) => {
      const window = await openWindowOnHost(t);
      const { sandbox, host, companion, editor } = window;
      const [a, b] = ['a', 'b'].map((name) => sandbox.file(name, 'one\ntwo\n'));
      const inContainer = (file) => file.replace(sandbox.project, there ?? sandbox.project);
      const steps = [[replace(inContainer(a)), replace(inContainer(b))], 'That was all.'];
      const docker = installDocker(sandbox, host, says(steps));
      const extension = path.join(imageHome(sandbox), '.gemini/extensions/gemini-companion');
      fs.cpSync(EXTENSION, extension, { recursive: true });
      const theirs = there ? [`--volume=${sandbox.project}:${there}`] : [];
      const command = [
        ...[...host.prefix(sandbox.project), path.resolve(process.env.GEMINI_COMPANION)],
        ...['container', ...ours, '--', 'docker', 'run', '-it', '--rm', ...theirs, 'my-image', 'gemini'],
      ];
      const env = { ...host.env, PATH: `${docker}:${process.env.PATH}` };
      const terminal = new Terminal(sandbox, command, { cwd: sandbox.project, env });
      await terminal.shows(/Type your message/);
      await companion.next('companion/clients');
      await terminal.enter('rename it');
      await editor.view(a);
      assert.equal(editor.reasons.get(a), 'now');
      companion.notify('comment/set', comment(b));
      await untilChecked(window);
      editor.reject(a, REASON);
      await editor.view(b);
      editor.accept(b);
      await terminal.shows(/That was all\./);
      const [first, second] = toolResults(imageHome(sandbox)).map(({ text }) => text);
      assert.ok(first.startsWith(inPlaceOfResult(inContainer(a))), first);
      assert.ok(second.includes(commentOf('1').replace('- a,', '- b,')), second);
      assert.deepEqual([read(a), read(b)], ['one\ntwo\n', 'one\nTWO\n']);
      const called = dockerRuns(docker).flat().join('\n');
      assert.ok(!called.includes(companion.ready.authToken), 'all can read the token');
      if (there) assert.ok(!called.includes(`${sandbox.project}:${sandbox.project}`), 'it is there once');
    });
  }
});
