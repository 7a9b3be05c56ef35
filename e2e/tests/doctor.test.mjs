// Tests the diagnosis of failed connections: provokes each failure of the real client, and then
// checks doctor's report in the same environment.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { describe, test } from 'node:test';

import { bridgeEnv, byDiscovery } from '../lib/bridge.mjs';
import { Companion } from '../lib/companion.mjs';
import { inContainer } from '../lib/container.mjs';
import { assertFailure, examine, run, settings, writePlace } from '../lib/doctor.mjs';
import { EXTENSION } from '../lib/extension.mjs';
import { closedPort } from '../lib/http.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { installIde } from '../lib/installation.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { suspend } from '../lib/suspend.mjs';

const FAILED = /^Failed to connect to IDE companion extension in /;
const NO_EXTENSION = /^Failed to connect to IDE companion extension\. Please ensure/;

/** A sandbox with IDE mode turned on. */
function sandboxOf(t) {
  const sandbox = Sandbox.of(t);
  settings(sandbox);
  return sandbox;
}

/** A server on a port of its own that answers all requests by `answer(request, response)`. */
async function serve(t, answer) {
  const server = http.createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return server.address().port;
}

/** A companion whose file the client does not find. A removed file would not do: it comes back. */
async function startElsewhere(sandbox) {
  const { tmp } = sandbox;
  sandbox.tmp = sandbox.folder('elsewhere');
  try {
    return await Companion.start(sandbox);
  } finally {
    sandbox.tmp = tmp;
  }
}

/** Writes a discovery file, as of a process that runs. */
function writeFile(sandbox, port, more) {
  const name = `gemini-ide-server-${process.pid}-${port}.json`;
  return writePlace(sandbox, path.join(sandbox.tmp, 'gemini', 'ide', name), port, more);
}

const bad = ({ evidence }) => evidence.filter(({ level }) => level === 'bad');

// Each has folders of its own, and mostly waits for processes.
describe('doctor', { concurrency: 4 }, () => {
  test('where the client connects, doctor names the editor, and shows no secret', async (t) => {
    const sandbox = sandboxOf(t);
    const companion = await Companion.start(sandbox, { args: ['--ide-display-name', 'Editor'] });
    const file = sandbox.file('a.txt', 'private');
    companion.notify('editor/focused', { path: file });
    companion.notify('editor/selection', { path: file, text: 'private' });
    await companion.caughtUp();
    await IdeClient.connect(sandbox);
    const secrets = [companion.ready.authToken, 'private'];
    for (const env of [{}, companion.ready.env]) {
      const diagnosis = await examine(sandbox, { env, secrets });
      const { port } = companion.ready;
      assert.equal(diagnosis.verdict, `Gemini CLI connects to Editor, at 127.0.0.1:${port}.`);
      assert.deepEqual([diagnosis.connects, diagnosis.problem], [true, null]);
      assert.deepEqual(bad(diagnosis), []);
    }
  });

  for (const [where, project] of [
    ['the home folder, where the settings are the user’s', ({ home }) => home],
    ['a folder whose name has a percent escape', (sandbox) => sandbox.folder('My%20Project')],
  ]) {
    test(`the client connects in ${where}`, async (t) => {
      const sandbox = sandboxOf(t);
      sandbox.project = project(sandbox);
      await Companion.start(sandbox);
      await IdeClient.connect(sandbox);
      const diagnosis = await examine(sandbox);
      assert.equal(diagnosis.connects, true, diagnosis.text);
    });
  }

  test('a companion that is suspended', async (t) => {
    const sandbox = sandboxOf(t);
    const companion = await Companion.start(sandbox);
    await suspend(companion.pid);
    const { problem, advice } = await examine(sandbox);
    process.kill(companion.pid, 'SIGCONT');
    assert.equal(problem, 'silent');
    assert.match(advice[0], /may be suspended/);
  });

  test('where the client connects, but the extension has lost its program', async (t) => {
    const sandbox = sandboxOf(t);
    await Companion.start(sandbox);
    const program = path.join(sandbox.root, 'gemini-companion');
    const extension = sandbox.folder('home', '.gemini', 'extensions', 'gemini-companion');
    fs.cpSync(EXTENSION, extension, { recursive: true });
    for (const name of ['gemini-extension.json', 'hooks/hooks.json']) {
      const file = path.join(extension, name);
      const text = fs.readFileSync(file, 'utf8');
      fs.writeFileSync(file, text.replaceAll('"command": "gemini-companion', `"command": "${program}`));
    }
    const lost = await examine(sandbox);
    assert.equal(lost.connects, true);
    assert.match(lost.verdict, /Its hooks do not run\.$/);
    assert.match(lost.advice[0], /Run gemini-companion setup/);
    const [{ subject, text }, ...features] = bad(lost);
    assert.equal(subject, 'hooks');
    assert.ok(text.includes(`run ${program}, which does not exist`), text);
    assert.equal(features.length, 7, 'each feature that does not work');
    fs.writeFileSync(program, '');
    assert.match(bad(await examine(sandbox))[0].text, /which can't be run/);
    fs.rmSync(program);
    fs.symlinkSync(path.resolve(process.env.GEMINI_COMPANION), program);
    assert.deepEqual(bad(await examine(sandbox)), []);
  });

  test('the client’s program may be a starter without a package', async (t) => {
    const sandbox = sandboxOf(t);
    await Companion.start(sandbox);
    const bin = sandbox.folder('bin');
    const env = { PATH: `${bin}:/usr/bin:/bin` };
    assert.match((await examine(sandbox, { env })).text, /gemini is not in the PATH/);
    const starter = path.join(bin, 'gemini');
    fs.writeFileSync(starter, '#!/bin/sh\n', { mode: 0o755 });
    const { text } = await examine(sandbox, { env });
    assert.ok(text.includes(`${starter} starts it; gemini --version shows its version`), text);
    assert.doesNotMatch(text, /gemini is not in the PATH/);
    fs.chmodSync(starter, 0o644);
    assert.match((await examine(sandbox, { env })).text, /gemini is not in the PATH/);
  });

  test('the CLI does not start if its settings are not a JSON object', async (t) => {
    const sandbox = sandboxOf(t);
    await Companion.start(sandbox);
    const user = path.join(sandbox.home, '.gemini', 'settings.json');
    const project = sandbox.file('.gemini/settings.json', '{ "ide": { "enabled": true } }');
    for (const [file, text] of [
      [user, '{ "ide": '],
      [user, '[]'],
      [project, '{ "ide": { "enabled": true }, }'],
    ]) {
      const before = fs.readFileSync(file);
      fs.writeFileSync(file, text);
      const { problem, verdict, advice } = await examine(sandbox);
      assert.equal(problem, 'bad-settings', text);
      assert.ok(verdict.includes(file), verdict);
      assert.ok(advice[0].startsWith('Correct '), advice[0]);
      fs.writeFileSync(file, before);
    }
    assert.equal((await examine(sandbox)).connects, true);
  });

  test('the project’s settings override the user’s', async (t) => {
    const sandbox = sandboxOf(t);
    await Companion.start(sandbox);
    const file = sandbox.file('.gemini/settings.json', '{ "ide": { "enabled": false } }');
    // Settings of a folder that the user does not trust do not count.
    const unknown = await examine(sandbox);
    assert.equal(unknown.connects, true);
    assert.match(unknown.text, /it asks whether you trust this folder/);
    const trusted = path.join(sandbox.home, '.gemini', 'trustedFolders.json');
    fs.writeFileSync(trusted, JSON.stringify({ [sandbox.project]: 'TRUST_FOLDER' }));
    const { problem, advice } = await examine(sandbox);
    assert.equal(problem, 'switched-off');
    assert.ok(advice[0].includes(file), advice[0]);
    assert.match(advice[0], /outweighs/);
    fs.writeFileSync(trusted, '[]');
    assert.equal((await examine(sandbox)).problem, 'bad-settings');
  });

  test('an editor has no plugin, or has not loaded it', async (t) => {
    const sandbox = sandboxOf(t);
    const home = installIde(sandbox, '1.0', sandbox.folder('home', 'apps', 'idea'))[0];
    const plugin = async () => {
      const { evidence } = await examine(sandbox);
      const editors = evidence.filter(({ subject }) => subject === 'editors');
      return editors.find(({ text }) => text.startsWith('IntelliJ IDEA 2025.1: ')).text;
    };
    const how = "setup has not installed the plugin; run gemini-companion setup 'intellij idea'";
    assert.equal(await plugin(), `IntelliJ IDEA 2025.1: ${how}`);
    await run(sandbox, ['setup', ...installIde(sandbox, '1.0', home), '--yes']);
    assert.match(await plugin(), /the plugin is installed, version 1\.0/);
    const idea = path.join(sandbox.folder('home', 'apps', 'idea', 'bin'), 'idea');
    fs.copyFileSync('/bin/sleep', idea);
    fs.chmodSync(idea, 0o755);
    const running = spawn(idea, ['600']);
    t.after(() => running.kill());
    await once(running, 'spawn');
    assert.match(await plugin(), /it runs, but no companion does; restart it/);
    await Companion.start(sandbox);
    assert.match(await plugin(), /the plugin is installed, version 1\.0/);
  });

  test('of an IDE that is too old, doctor does not send the user to setup', async (t) => {
    const sandbox = sandboxOf(t);
    const home = sandbox.folder('home', 'apps', 'idea');
    installIde(sandbox, '1.0', home);
    const file = path.join(home, 'product-info.json');
    const product = JSON.parse(fs.readFileSync(file, 'utf8'));
    fs.writeFileSync(file, JSON.stringify({ ...product, version: '2024.1', buildNumber: '241.1' }));
    const { evidence } = await examine(sandbox);
    const { text } = evidence.find(({ text }) => text.startsWith('IntelliJ IDEA 2024.1: '));
    assert.match(text, /: version 2024\.1 is too old; the plugin needs 2024\.2 or newer$/);
  });

  test('the CLI also reads variables from a file .env', async (t) => {
    const sandbox = sandboxOf(t);
    const trusting = { security: { folderTrust: { enabled: false } } };
    settings(sandbox, true, '.gemini', trusting);
    await Companion.start(sandbox);
    const file = sandbox.file('.gemini/.env', 'A=1\nexport GEMINI_CLI_IDE_SERVER_PORT="1"\n');
    const text = `the CLI also reads GEMINI_CLI_IDE_SERVER_PORT from ${file}; doctor does not`;
    const note = { subject: 'environment', level: 'note', text };
    const notes = ({ evidence }) => evidence.filter((finding) => finding.text.includes(file));
    assert.deepEqual(notes(await examine(sandbox)), [note]);
    const env = { GEMINI_CLI_IDE_SERVER_PORT: '2' };
    fs.rmSync(file);
    const ofProject = sandbox.file('.env', 'GEMINI_CLI_IDE_SERVER_STDIO_COMMAND=x\n');
    const ignored = bad(await examine(sandbox)).map(({ text }) => text);
    assert.deepEqual(ignored, [
      `the CLI ignores GEMINI_CLI_IDE_SERVER_STDIO_COMMAND in ${ofProject}; set them in the terminal`,
    ]);
    // The client reads only the nearest file.
    fs.mkdirSync(path.join(sandbox.home, '.gemini'), { recursive: true });
    fs.writeFileSync(path.join(sandbox.home, '.gemini', '.env'), 'GEMINI_CLI_IDE_SERVER_PORT=1\n');
    const ofHome = async () => (await examine(sandbox)).text.includes('also reads');
    assert.equal(await ofHome(), false);
    settings(sandbox, true, '.gemini', { ...trusting, advanced: { ignoreLocalEnv: true } });
    assert.equal(await ofHome(), true, 'the one of the project is ignored');
    sandbox.file('.gemini/.env', 'export GEMINI_CLI_IDE_SERVER_PORT="1"\n');
    assert.deepEqual(notes(await examine(sandbox, { env })), [], 'the terminal’s own has priority');
  });

  test('outside an editor’s terminal there is nothing to connect to', async (t) => {
    await assertFailure(
      sandboxOf(t),
      'unknown-terminal',
      /^IDE integration is not supported in your current environment\./,
    );
  });

  test('in an editor’s terminal no companion is found', async (t) => {
    const env = { TERM_PROGRAM: 'vscode' };
    await assertFailure(sandboxOf(t), 'no-companion', NO_EXTENSION, { env });
  });

  test('the companion’s file is where the client does not look', async (t) => {
    const sandbox = sandboxOf(t);
    const { ready } = await Companion.start(sandbox);
    const env = { TMPDIR: sandbox.folder('other'), TMP: sandbox.tmp, TERM_PROGRAM: 'vscode' };
    const { advice, verdict } = await assertFailure(sandbox, 'no-companion', NO_EXTENSION, {
      env,
      secrets: [ready.authToken],
    });
    assert.match(verdict, /not in the folder where the CLI looks/);
    assert.ok(advice[0].includes(`TMPDIR=${sandbox.tmp} gemini`), advice[0]);
  });

  test('a file of another user is not read', { skip: process.getuid() !== 0 }, async (t) => {
    const sandbox = sandboxOf(t);
    const { ready } = await startElsewhere(sandbox);
    fs.chownSync(writeFile(sandbox, ready.port), 4321, -1);
    const env = { TERM_PROGRAM: 'vscode' };
    const { advice, text } = await assertFailure(sandbox, 'no-companion', NO_EXTENSION, { env });
    assert.match(advice[0], /without sudo/);
    assert.match(text, /passed over: it belongs to another user, 4321/);
  });

  test('the editor has no folder open', async (t) => {
    const sandbox = sandboxOf(t);
    const companion = await Companion.start(sandbox);
    companion.notify('workspace/folders', { paths: [] });
    await companion.caughtUp();
    await assertFailure(sandbox, 'no-folder', /^To use this feature, please open a workspace folder/);
  });

  test('the client runs in another folder than the editor', async (t) => {
    const sandbox = sandboxOf(t);
    const { ready } = await Companion.start(sandbox);
    const cwd = sandbox.folder('else where');
    const mismatch = /^Directory mismatch\. Gemini CLI is running in a different location/;
    const place = { cwd, secrets: [ready.authToken] };
    const { advice } = await assertFailure(sandbox, 'other-folder', mismatch, place);
    assert.equal(advice[0], `cd ${sandbox.project}, and start gemini there.`);

    // Also without a file, with the terminal's variables.
    const env = { ...ready.env, TMPDIR: sandbox.folder('other'), TERM_PROGRAM: 'vscode' };
    await assertFailure(sandbox, 'other-folder', mismatch, { ...place, env });
  });

  test('a file is left over from a companion that has ended', async (t) => {
    const sandbox = sandboxOf(t);
    const file = writeFile(sandbox, await closedPort());
    const secrets = ['token-of-a-test'];
    const { advice } = await assertFailure(sandbox, 'not-running', FAILED, { secrets });
    assert.equal(advice[0], `Remove the file that is left over: rm ${file}`);
  });

  test('the companion is killed while the client is connected', async (t) => {
    const sandbox = sandboxOf(t);
    const companion = await Companion.start(sandbox);
    const client = await IdeClient.connect(sandbox);
    await companion.kill();
    await client.closeDiff('any'); // so the client notices at once
    const lost = await client.events.status.until(({ status }) => status === 'disconnected');
    assert.match(lost.details, /^IDE connection error\. The connection was lost unexpectedly\./);
    const diagnosis = await examine(sandbox, { secrets: [companion.ready.authToken] });
    assert.equal(diagnosis.problem, 'not-running', diagnosis.text);
  });

  test('a file that is left over spoils the connection to the terminal’s companion', async (t) => {
    const sandbox = sandboxOf(t);
    const { ready } = await startElsewhere(sandbox);
    const file = writeFile(sandbox, await closedPort());
    const place = { env: ready.env, secrets: [ready.authToken, 'token-of-a-test'] };
    const { advice, text } = await assertFailure(sandbox, 'stale-file', FAILED, place);
    assert.ok(advice[0].endsWith(`rm ${file}`), advice[0]);
    assert.match(text, /it refuses the token \(401\)/);
  });

  test('a terminal of an earlier session has another token', async (t) => {
    const sandbox = sandboxOf(t);
    const { ready } = await Companion.start(sandbox);
    const env = {
      ...ready.env,
      GEMINI_CLI_IDE_AUTH_TOKEN: 'token-of-yesterday',
      TMPDIR: sandbox.folder('other'),
      TERMINAL_EMULATOR: 'JetBrains-JediTerm',
    };
    const place = { env, secrets: [ready.authToken, 'token-of-yesterday'] };
    const { advice, verdict } = await assertFailure(sandbox, 'wrong-token', FAILED, place);
    assert.match(verdict, /\(401\), which is from an earlier session of the editor/);
    assert.match(advice[0], /^Open a new terminal in the editor/);
  });

  test('the terminal’s variables are of no use where no editor is known', async (t) => {
    const sandbox = sandboxOf(t);
    const { ready } = await Companion.start(sandbox);
    const env = { ...ready.env, TMPDIR: sandbox.folder('other') };
    const message = /^IDE integration is not supported/;
    const place = { env, secrets: [ready.authToken] };
    const { advice } = await assertFailure(sandbox, 'unknown-terminal', message, place);
    assert.ok(advice.some((text) => text.includes('export TERMINAL_EMULATOR=JetBrains-JediTerm')));
    await IdeClient.connect(sandbox, { env: { ...env, TERMINAL_EMULATOR: 'JetBrains-JediTerm' } });
  });

  test('the server refuses the name by which it is called', async (t) => {
    const sandbox = sandboxOf(t);
    const port = await serve(t, (request, response) => {
      response.writeHead(403, { 'content-type': 'application/json' });
      const error = { code: -32000, message: 'Forbidden: unknown host' };
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
    });
    writeFile(sandbox, port);
    const { advice, text } = await assertFailure(sandbox, 'wrong-name', FAILED);
    assert.match(advice[0], /--allow-host/);
    assert.match(text, /\(403\): Forbidden: unknown host/);
  });

  test('something else listens at the port', async (t) => {
    const sandbox = sandboxOf(t);
    const port = await serve(t, (request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' });
      response.end('<h1>Not here</h1>');
    });
    writeFile(sandbox, port);
    await assertFailure(sandbox, 'not-a-companion', FAILED);
  });

  test('a file names no port', async (t) => {
    const sandbox = sandboxOf(t);
    writeFile(sandbox, 0);
    await assertFailure(sandbox, 'no-route', FAILED);
  });

  test('an invalid proxy URL prevents a connection; a valid one does not', async (t) => {
    const sandbox = sandboxOf(t);
    await Companion.start(sandbox);
    const passwords = ['http://me:a#b@proxy:3128', 'http://me:100%@proxy:3128'];
    for (const HTTP_PROXY of ['proxy.corp:3128', 'http://proxy/proxy.pac', ...passwords]) {
      const { verdict } = await assertFailure(sandbox, 'bad-proxy', FAILED, { env: { HTTP_PROXY } });
      assert.match(verdict, /HTTP_PROXY is not a valid URL/);
    }
    const env = { HTTP_PROXY: 'http://127.0.0.1:9', https_proxy: 'http://me:a%23b@127.0.0.1:9/' };
    await IdeClient.connect(sandbox, { env });
    assert.equal((await examine(sandbox, { env })).connects, true);
  });

  test('the command that leads to the companion fails', async (t) => {
    const sandbox = sandboxOf(t);
    const env = {
      GEMINI_CLI_IDE_WORKSPACE_PATH: sandbox.project,
      TERM_PROGRAM: 'vscode',
    };
    for (const command of ['/no/such/program', 'true']) {
      const stdio = { GEMINI_CLI_IDE_SERVER_STDIO_COMMAND: command };
      await assertFailure(sandbox, 'bad-command', FAILED, { env: { ...env, ...stdio } });
    }
  });

  test('behind a bridge, the editor is closed', async (t) => {
    const sandbox = sandboxOf(t);
    const bridge = (...args) => ({ env: bridgeEnv(sandbox, [...byDiscovery(sandbox), ...args]) });
    const ended = await assertFailure(sandbox, 'behind-command', FAILED, bridge());
    const waits = await examine(sandbox, bridge('--wait', '60'));
    for (const { problem, advice } of [ended, waits]) {
      assert.equal(problem, 'behind-command');
      assert.match(advice[0], /^Open the project in an editor with the companion's plugin/);
    }
  });

  for (const [where, more, expected, skip] of [
    ['over SSH', { SSH_CONNECTION: '1 2 3 4' }, /^If the editor runs on your own machine, .* run /],
    ['in a container', {}, /start the container again with gemini-companion/, !inContainer],
  ]) {
    test(`the variables are of an earlier companion ${where}`, { skip }, async (t) => {
      const sandbox = sandboxOf(t);
      const port = await serve(t, (request) => request.socket.destroy());
      const variables = {
        ...more,
        GEMINI_CLI_IDE_AUTH_TOKEN: 'token-of-yesterday',
        GEMINI_CLI_IDE_WORKSPACE_PATH: sandbox.project,
        TERM_PROGRAM: 'vscode',
      };
      // A forwarded port takes a connection even if no program listens at its other end.
      for (const [problem, number] of [
        ['not-running', await closedPort()],
        ['not-a-companion', port],
      ]) {
        const env = { ...variables, GEMINI_CLI_IDE_SERVER_PORT: String(number) };
        const { advice, evidence } = await assertFailure(sandbox, problem, FAILED, { env });
        assert.match(advice[1], expected);
        const folder = `${sandbox.project}, which GEMINI_CLI_IDE_WORKSPACE_PATH names`;
        assert.deepEqual(evidence[0], { subject: 'folder', level: 'note', text: folder });
      }
    });
  }

  test('in a container, a companion is in it and looked for on the host', {
    skip: !inContainer && 'this is no container',
  }, async (t) => {
    const sandbox = sandboxOf(t);
    const { ready } = await Companion.start(sandbox);
    const place = { env: { REMOTE_CONTAINERS: '' }, secrets: [ready.authToken] };
    const { advice, text } = await assertFailure(sandbox, 'looks-on-host', FAILED, place);
    assert.match(advice[0], /^export REMOTE_CONTAINERS=1/);
    assert.doesNotMatch(text, /left over/, 'its companion runs');
  });

  test('in a container that does not know the host, or that the host does not answer', {
    skip: !inContainer && 'this is no container',
  }, async (t) => {
    const sandbox = sandboxOf(t);
    const known = spawnSync('getent', ['hosts', 'host.docker.internal']).status === 0;
    const env = {
      REMOTE_CONTAINERS: '',
      GEMINI_CLI_IDE_SERVER_PORT: String(await closedPort()),
      GEMINI_CLI_IDE_WORKSPACE_PATH: sandbox.project,
      TERM_PROGRAM: 'vscode',
    };
    await assertFailure(sandbox, known ? 'host-silent' : 'unknown-host', FAILED, { env });
  });

  test('IDE mode is off in the client’s settings', async (t) => {
    const sandbox = sandboxOf(t);
    await Companion.start(sandbox);
    const client = await IdeClient.start(sandbox);
    const off = await client.details();
    assert.match(off, /^IDE integration is currently disabled\. To enable it, run \/ide enable\.$/);
    settings(sandbox, false);
    const diagnosis = await examine(sandbox);
    assert.deepEqual([diagnosis.problem, diagnosis.clientSays], ['switched-off', off]);
    assert.match(diagnosis.advice[0], /\/ide enable/);
  });
});
