// Tests the companion with curl, as the README shows it.

import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import test from 'node:test';
import { promisify } from 'node:util';

import { UNCHANGED } from '../lib/decision.mjs';
import { Inbox } from '../lib/inbox.mjs';
import { noNeovim, openNeovimWithClient } from '../lib/neovim.mjs';
import { skipWithout } from '../lib/requirement.mjs';
import { openWindow } from '../lib/scene.mjs';

const skip = skipWithout(spawnSync('curl', ['--version']).error && 'curl is not installed');

const INITIALIZE = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };

/** Runs a program, and returns its output. */
async function run({ sandbox }, program, ...args) {
  const options = { env: sandbox.env(), timeout: 60_000 };
  return (await promisify(execFile)(program, args, options)).stdout;
}

/** The options that send the token, without showing it to others. */
function authorized({ sandbox, companion }) {
  const file = path.join(sandbox.root, 'credentials');
  fs.writeFileSync(file, `Authorization: Bearer ${companion.ready.authToken}`, { mode: 0o600 });
  return ['-H', `@${file}`];
}

/** Runs curl with the token; `[status, headers and body]`. */
async function curl(window, ...args) {
  const reply = await run(window, 'curl', '-sS', '-i', ...authorized(window), ...args);
  return [Number(reply.split(' ')[1]), reply];
}

const post = (message, ...headers) => [
  ...headers.flatMap((header) => ['-H', header]),
  ...['-d', JSON.stringify(message)],
];

const sessionIn = (reply) => /^mcp-session-id: (.+?)\r$/m.exec(reply)[1];

/** The page docs/contributing/http.md: the commands that get the token, and the others with their output. */
function documented() {
  const page = fs.readFileSync(new URL('../../docs/contributing/http.md', import.meta.url), 'utf8');
  const [, setUp] = /```sh\n(file=[^]*?)```/.exec(page);
  const examples = [...page.matchAll(/```console\n\$ ((?:.*\\\n)*.*)\n([^]*?)```/g)];
  return { setUp, examples: examples.map(([, command, output]) => ({ command, output })) };
}

test('the commands of docs/contributing/http.md have the output that it shows', { skip }, async (t) => {
  const window = await openWindow(t);
  const { setUp, examples } = documented();
  const checked = [];
  let session;
  for (const { command, output } of examples) {
    if (command.includes('/events')) continue; // it does not end; the last test is about it
    const typed = command.replace(/(?<=mcp-session-id: )[-0-9a-f]+/, session);
    const script = `${setUp}\n${typed.replace('curl', 'curl -sS')}`;
    const printed = await run(window, 'sh', '-c', script);
    session ??= sessionIn(printed);
    const [firstLine] = output.split('\n');
    assert.ok(printed.startsWith(firstLine.replace(/…$/, '')), `${command} printed\n${printed}`);
    checked.push(firstLine.slice(0, 12));
  }
  assert.deepEqual(checked, ['HTTP/1.1 200', '{"jsonrpc":"', 'HTTP/1.1 401']);
});

/** Watches `/events` by curl; returns how to get the parameters of the next one of a method. */
function watch({ sandbox, ...window }) {
  const { url } = window.companion.ready;
  const args = ['-sSN', ...authorized({ sandbox, ...window }), new URL('/events', url).href];
  const watcher = spawn('curl', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  sandbox.defer(() => watcher.kill());
  const lines = new Inbox('a line from curl');
  readline.createInterface({ input: watcher.stdout }).on('line', (line) => lines.push(line));
  return async (method) => {
    const line = await lines.until((line) => line.includes(`"method":"${method}"`));
    assert.match(line, /^data: \{/);
    return JSON.parse(line.slice('data: '.length)).params;
  };
}

test(
  'curl shows the user’s actions in Neovim, and decides there',
  { skip: skip || noNeovim },
  async (t) => {
    const { sandbox, neovim, client } = await openNeovimWithClient(t);
    const ready = await neovim.lua(`return {
    url = 'http://127.0.0.1:' .. vim.env.GEMINI_CLI_IDE_SERVER_PORT .. '/mcp',
    authToken = vim.env.GEMINI_CLI_IDE_AUTH_TOKEN,
  }`);
    const window = { sandbox, companion: { ready } };
    const next = watch(window);
    assert.deepEqual(await next('notifications/context-update'), { openFiles: [] });
    const file = sandbox.file('a.txt', 'one\nété\n');
    await neovim.edit(file);
    await neovim.type('jlv');
    let context;
    do context = await next('notifications/context-update');
    while (!context.activeFile?.selection);
    const cursorPosition = { line: 2, character: 2 };
    assert.deepEqual(context.activeFile, { path: file, cursorPosition, selection: 't' });
    await neovim.type('<Esc>');

    const { url } = ready;
    const [, initialized] = await curl(window, url, ...post(INITIALIZE));
    const session = `mcp-session-id: ${sessionIn(initialized)}`;
    const call = (name, filePath = file) => {
      const params = { name, arguments: { filePath } };
      return curl(
        window,
        url,
        ...post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params }, session),
      );
    };
    const content = 'two\nété\n';
    const { decision: accepted } = await client.propose(neovim, file, content);
    assert.doesNotMatch((await call('acceptDiff'))[1], /"isError":true/);
    assert.deepEqual(await next('notifications/ide/diffAccepted'), { filePath: file, content });
    assert.deepEqual(await accepted, UNCHANGED);
    assert.equal(fs.readFileSync(file, 'utf8'), 'one\nété\n', 'it is the CLI that writes the file');

    const { decision: rejected } = await client.propose(neovim, file, 'three\n');
    assert.doesNotMatch((await call('rejectDiff'))[1], /"isError":true/);
    assert.deepEqual(await next('notifications/ide/diffRejected'), { filePath: file });
    assert.equal((await rejected).status, 'rejected');
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    assert.match((await call('rejectDiff', `${file}.other`))[1], /"isError":true/);
  },
);
