// Tests how a Neovim and its clients connect and disconnect, and the messages to the user.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { accepted, REJECTED } from '../lib/decision.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { Neovim, noNeovim as skip, openNeovim, openNeovimWithClient } from '../lib/neovim.mjs';
import { locks, QWEN_CLIENT, qwenHome } from '../lib/qwen-code.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { ready, ScriptedProgram } from '../lib/scripted-program.mjs';

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const discoveryFiles = ({ tmp }) => {
  const folder = path.join(tmp, 'gemini', 'ide');
  return fs.existsSync(folder) ? fs.readdirSync(folder) : [];
};

test('a client in :terminal finds its Neovim among several in the same folder', { skip }, async (t) => {
  const sandbox = Sandbox.of(t);
  const neovims = [];
  for (let number = 1; number <= 2; number++) {
    neovims.push(await Neovim.start(sandbox));
    await neovims.at(-1).ready();
  }
  for (const [index, neovim] of neovims.entries()) {
    const client = await neovim.clientInTerminal(sandbox);
    assert.equal((await client.connect()).status, 'connected');
    const name = ['Neovim (project)', 'Neovim (project) 2'][index];
    assert.equal(await client.displayName(), name);
    assert.ok((await neovim.status()).includes(`Name in /ide status: ${name}\n`));
    await neovim.until(`require('gemini_companion').status().clients == 1`);
  }
});

test('a client in another terminal finds the Neovim of its folder, wherever that goes', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const folders = ['one', 'two', 'two/below', 'a folder: é'].map((name) => sandbox.folder(name));
  const connects = async (cwd) => {
    const client = await IdeClient.start(sandbox, { cwd });
    const { status } = await client.connect();
    await client.close();
    return status === 'connected';
  };
  const isPublished = (...wanted) => {
    const [file] = discoveryFiles(sandbox).filter((name) => name.endsWith('.json'));
    const content = fs.readFileSync(path.join(sandbox.tmp, 'gemini', 'ide', file), 'utf8');
    return JSON.parse(content).workspacePath === wanted.join(':');
  };
  const changes = (...wanted) => until(`the workspace ${wanted}`, () => isPublished(...wanted));
  await changes(sandbox.project);
  await neovim.lua('vim.fn.chdir(...)', folders[0]);
  await changes(folders[0]);
  assert.ok(!(await connects(sandbox.project)));
  // A terminal that opens from now on leads its CLI here, too.
  await neovim.until(`vim.env.GEMINI_CLI_IDE_WORKSPACE_PATH == ...`, folders[0]);

  await neovim.command(`tabnew | tcd ${folders[1]}`);
  await changes(folders[0], folders[1]);
  await neovim.command(`split | lcd ${folders[2]}`);
  await neovim.lua('vim.fn.chdir(...)', folders[3]);
  await changes(...[folders[0], folders[1], folders[3]].sort());
  await neovim.command('tabclose');
  await changes(folders[0]);
  assert.ok(await connects(folders[0]));
});

test('a reloaded plugin goes on with one companion, and with the open proposal’s CLI', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', 'old\n');
  const { decision } = await client.propose(neovim, file, 'new\n');
  const before = await neovim.companionPid();
  await neovim.lua(
    `for name in pairs(package.loaded) do
       if vim.startswith(name, 'gemini_companion') then
         package.loaded[name] = nil
       end
     end
     vim.g.loaded_gemini_companion = nil
     require('gemini_companion').setup({ cmd = ... })
     vim.cmd('runtime plugin/gemini_companion.lua')`,
    process.env.GEMINI_COMPANION,
  );
  assert.deepEqual(await decision, REJECTED);
  await neovim.ready();
  await until('the end of the first companion', () => !isAlive(before));
  assert.equal(discoveryFiles(sandbox).filter((name) => name.endsWith('.json')).length, 1);
  await neovim.until('#vim.api.nvim_list_tabpages() == 1');
  const { decision: next } = await client.propose(neovim, file, 'newer\n');
  await neovim.command('GeminiCompanion accept');
  assert.equal((await next).status, 'accepted');
  assert.doesNotMatch(await neovim.messages(), /exited|traceback/);
});

test('the environment is as before once the companion has stopped', { skip }, async (t) => {
  const env = { GEMINI_CLI_IDE_PID: '1', GEMINI_CLI_IDE_SERVER_PORT: '2' };
  const { sandbox, neovim } = await openNeovim(t, { env });
  const variables = () =>
    neovim.lua(
      `return { vim.env.GEMINI_CLI_IDE_PID, vim.env.GEMINI_CLI_IDE_SERVER_PORT, vim.env.GEMINI_CLI_IDE_AUTH_TOKEN }`,
    );
  const { port } = await neovim.ready();
  const [pid, portNumber, token] = await variables();
  assert.deepEqual([pid, portNumber], [String(neovim.pid), String(port)]);
  assert.match(token, /^[0-9a-f]{64}$/);
  await neovim.command('GeminiCompanion stop');
  await neovim.until(`require('gemini_companion.server').status() == nil`);
  assert.deepEqual(await variables(), ['1', '2']);
  assert.deepEqual(discoveryFiles(sandbox), []);
  await neovim.command('GeminiCompanion start');
  assert.notEqual((await neovim.ready()).port, undefined);
});

const endings = {
  ':qa': (neovim) => neovim.quit('qa'),
  ':qa!': (neovim) => neovim.quit('qa!'),
  SIGTERM: (neovim) => neovim.signal('SIGTERM'),
  SIGHUP: (neovim) => neovim.signal('SIGHUP'),
  SIGKILL: (neovim) => neovim.signal('SIGKILL'),
};

for (const [name, end] of Object.entries(endings)) {
  test(`when Neovim ends by ${name}, proposals are rejected and nothing is left`, { skip }, async (t) => {
    const { sandbox, neovim, client } = await openNeovimWithClient(t);
    const companion = await neovim.companionPid();
    const file = sandbox.file('a.txt', 'old\n');
    const { decision } = await client.propose(neovim, file, 'new\n');
    end(neovim);
    assert.deepEqual(await decision, REJECTED);
    await neovim.exited();
    await until('the end of the companion', () => !isAlive(companion));
    assert.deepEqual(discoveryFiles(sandbox), []);
  });
}

test('the user’s edits stay when the CLI disconnects', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const session = await neovim.session(sandbox);
  const [kept, closed] = [sandbox.file('kept.txt', 'old\n'), sandbox.file('closed.txt', 'old\n')];
  for (const filePath of [closed, kept]) {
    await session.callTool('openDiff', { filePath, newContent: 'new\n' });
    await neovim.proposalBehind(filePath);
    await neovim.command(`GeminiCompanion show ${filePath}`);
    await neovim.view(filePath);
  }
  await neovim.type('ccwritten<Esc>');
  await session.delete();
  await neovim.until(`#vim.api.nvim_list_tabpages() == 2`);
  await neovim.until(`vim.fn.execute('messages'):find('no CLI waits for kept')`);
  assert.deepEqual((await neovim.sides(kept)).right, ['written']);
  assert.match(await neovim.messages(), /no CLI waits for kept\.txt; :w {file} saves your changes/);
  const bar = await neovim.lua(`return vim.wo.winbar`);
  assert.match(bar, /No CLI waits/);
  await neovim.command('silent! wall');
  await neovim.says(/a plugin has saved this proposal/);
  assert.doesNotMatch(await neovim.messages(), /:w accepts/);
  await neovim.type(`:w ${sandbox.project}/saved.txt<CR>`);
  assert.equal(fs.readFileSync(path.join(sandbox.project, 'saved.txt'), 'utf8'), 'written\n');

  const next = await neovim.session(sandbox);
  await next.callTool('openDiff', { filePath: kept, newContent: 'newer\n' });
  assert.deepEqual((await neovim.view(kept)).right, ['newer']);
  await neovim.type('u');
  assert.deepEqual((await neovim.sides(kept)).right, ['written']);
});

test('the user gets one message, with a fix, if the program is missing', { skip }, async (t) => {
  const sandbox = Sandbox.of(t);
  const neovim = await Neovim.start(sandbox, { setup: `{ cmd = { 'no-such-program' } }` });
  await neovim.until(`vim.fn.execute('messages') ~= ''`);
  assert.equal(
    (await neovim.messages()).trim(),
    'GeminiCompanion: no-such-program not found; see :checkhealth gemini_companion',
  );
  const report = await neovim.health();
  assert.match(report, /ERROR:? no-such-program not found[^]*cargo install --locked [^]* gemini-companion setup neovim[^]*cmd =/);
  assert.match(report, /ERROR:? The companion is not running/);
});

test('the CLI decides about trust, unless Neovim has a setting for it', { skip }, async (t) => {
  for (const [trusted, expected] of [
    ['nil', { isTrusted: undefined, source: undefined }],
    ['true', { isTrusted: true, source: 'ide' }],
    ['false', { isTrusted: false, source: 'ide' }],
  ]) {
    const { sandbox, neovim, client } = await openNeovimWithClient(t, {
      options: `trusted = ${trusted}`,
    });
    const file = sandbox.file('a.txt');
    await neovim.edit(file);
    await client.openFiles((files) => files[0]?.path === file);
    assert.deepEqual(await client.trust(), expected, trusted);
  }
});

test('status, log and health report the state', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovimWithClient(t);
  const { port } = await neovim.ready();
  await neovim.until(`require('gemini_companion').status().clients == 1`);
  const pid = await neovim.companionPid();
  const lines = (await neovim.status()).trim().split('\n');
  const [connected] = lines.splice(3, 1);
  assert.match(connected, /^Connected CLIs: 1 \(Gemini CLI \d+\.\d+\.\d+.*\)$/);
  assert.deepEqual(lines, [
    `The companion is running: process ${pid}, port ${port}.`,
    'Name in /ide status: Neovim (project)',
    `Workspace: ${sandbox.project}`,
    'Connected CLIs that have passed on no prompt yet: 1. Reasons, comments and changes work from the first prompt on, if the CLI has the extension',
  ]);
  await neovim.command('GeminiCompanion nonsense');
  assert.match(await neovim.messages(), /unknown command nonsense; see :help :GeminiCompanion$/);
  await neovim.command('GeminiCompanion doctor');
  assert.match(await neovim.messages(), /unknown command doctor; run :checkhealth gemini_companion$/);

  const report = await neovim.health();
  for (const line of [
    /OK:? Neovim v?\d+\.\d+/,
    /OK:? .*gemini-companion: gemini-companion \d+\.\d+\.\d+/,
    new RegExp(`OK:? Running: process ${pid}, port ${port}`),
    /OK:? Discovery file: .*gemini-ide-server-\d+-\d+\.json/,
    new RegExp(`OK:? Workspace: ${sandbox.project}`),
    /OK:? A new :terminal has the variables/,
    /OK:? Connected CLIs: 1 \(Gemini CLI \d/,
    /CLIs in a :terminal/,
  ]) {
    assert.match(report, line);
  }
  assert.doesNotMatch(report, /ERROR/);
  await neovim.command('GeminiCompanion log');
  assert.equal(await neovim.lua('return vim.bo.filetype'), 'log');
});

test('health asks a companion that does not answer only once', { skip }, async (t) => {
  const sandbox = Sandbox.of(t);
  const program = new ScriptedProgram(sandbox, ready);
  const neovim = await Neovim.start(sandbox, { setup: program.setup });
  await neovim.ready();
  assert.match(await neovim.health(), /ERROR:? The companion does not answer/);
  await program.request('companion/status');
  assert.equal(program.requests('companion/diagnosis').length, 0);
});

test('Neovim starts without loading any of it, and without a user interface none runs', { skip }, async (t) => {
  const sandbox = Sandbox.of(t);
  const neovim = await Neovim.start(sandbox, { ui: false, setup: false });
  const loaded = `return vim.tbl_filter(function(name) return vim.startswith(name, 'gemini_companion') end, vim.tbl_keys(package.loaded))`;
  assert.deepEqual(await neovim.lua(loaded), []);
  assert.deepEqual(discoveryFiles(sandbox), []);
});

test('Qwen Code gets the open files of Neovim, and its edit is reviewed', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const home = qwenHome(sandbox);
  await until('the file is there', () => locks(home).length === 1);
  const client = await IdeClient.connect(sandbox, { module: QWEN_CLIENT });
  assert.equal(await client.displayName(), 'Neovim (project)');
  const file = sandbox.file('a.lua', 'local a = 1\n');
  await neovim.edit(file);
  await client.openFiles((files) => files[0]?.path === file && files[0].isActive);
  const decision = client.openDiff(file, 'local a = 2\n');
  const { left, right } = await neovim.view(file);
  assert.deepEqual([left, right], [['local a = 1'], ['local a = 2']]);
  await neovim.type(':%s/2/3/<CR>:w<CR>');
  assert.deepEqual(await decision, accepted('local a = 3\n'));
  const port = await neovim.lua('return vim.env.QWEN_CODE_IDE_SERVER_PORT');
  assert.equal(locks(home)[0].endsWith(`/${port}.lock`), true);
  await neovim.command('GeminiCompanion stop');
  await until('the file is gone', () => locks(home).length === 0);
});

test('two Neovims in one folder have two names for Qwen Code', { skip }, async (t) => {
  const sandbox = Sandbox.of(t);
  qwenHome(sandbox);
  const names = [];
  for (let count = 1; count <= 2; count += 1) {
    const neovim = await Neovim.start(sandbox, { options: `clients = { 'qwen' }` });
    await neovim.ready();
    names.push(await neovim.lua(`return require('gemini_companion.server').status().name`));
  }
  assert.deepEqual(names, ['Neovim (project)', 'Neovim (project) 2']);
});

test('an option selects only one of the clients', { skip }, async (t) => {
  const sandbox = Sandbox.of(t);
  const home = qwenHome(sandbox);
  const neovim = await Neovim.start(sandbox, { options: `clients = { 'gemini' }` });
  await neovim.ready();
  await IdeClient.connect(sandbox);
  assert.deepEqual(locks(home), []);
  assert.equal(await neovim.lua('return vim.env.QWEN_CODE_IDE_SERVER_PORT'), null);
});

for (const [name, change] of [
  ['setup with another workspace', `require('gemini_companion').setup({ cmd = { (...) }, workspace = { vim.g.other } })`],
  ['a start after another result of its function', `vim.g.folder = vim.g.other vim.fn.execute('GeminiCompanion start')`],
  ['the status after another result of its function', `vim.g.folder = vim.g.other vim.fn.execute('GeminiCompanion')`],
]) {
  test(`${name} lets a CLI there connect`, { skip }, async (t) => {
    const options = `workspace = function() return { vim.g.folder or vim.fn.getcwd() } end`;
    const { sandbox, neovim } = await openNeovim(t, { options });
    const other = sandbox.folder('other');
    await neovim.lua('vim.g.other = ...', other);
    await neovim.lua(change, process.env.GEMINI_COMPANION);
    const client = await IdeClient.start(sandbox, { cwd: other });
    await until('a connection', async () => (await client.connect()).status === 'connected');
    assert.match(await neovim.status(), new RegExp(`^Workspace: ${other}$`, 'm'));
  });
}
