// Tests the companion with curl, as the README shows it.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import test from 'node:test';
import { promisify } from 'node:util';

import { skipWithout } from '../lib/requirement.mjs';
import { openWindow } from '../lib/scene.mjs';

const skip = skipWithout(spawnSync('curl', ['--version']).error && 'curl is not installed');

/** Runs a program, and returns its output. */
async function run({ sandbox }, program, ...args) {
  const options = { env: sandbox.env(), timeout: 60_000 };
  return (await promisify(execFile)(program, args, options)).stdout;
}

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
    if (command.includes('/events')) continue; // it does not end; schemas.test.mjs is about it
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
