// Runs `gemini-companion doctor` and the real client in the same environment, to compare them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { IdeClient } from './ide-client.mjs';

const CLIENT = '@google/gemini-cli-core/dist/src/ide/ide-client.js';
const PROGRAM = process.env.GEMINI_COMPANION;

/** Returns the answer of the command `/ide` if the client of `file` finds no editor. */
const unsupported = (file = fileURLToPath(import.meta.resolve(CLIENT))) =>
  fs
    .readFileSync(file, 'utf8')
    .match(/`(IDE integration is not supported in your current environment\.[^`]*)`/)[1];

/** Writes settings of the client into `folder`: IDE mode on or off, and more. */
export function settings(sandbox, enabled = true, folder = '.gemini', more = {}) {
  const file = path.join(sandbox.folder('home', folder), 'settings.json');
  fs.writeFileSync(file, `// written by a test\n${JSON.stringify({ ide: { enabled }, ...more })}`);
  return file;
}

/** Writes the file by which a client finds a companion, as of a process that runs. */
export function writePlace(sandbox, file, port, more) {
  const content = {
    port,
    workspacePath: sandbox.project,
    authToken: 'token-of-a-test',
    ideInfo: { name: 'editor', displayName: 'Editor' },
    ...more,
  };
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, JSON.stringify(content));
  return file;
}

/**
 * Runs the companion program, or another one, with `input` on its stdin; null keeps stdin open.
 * Returns the exit code and the output.
 */
export function run(sandbox, args, options = {}) {
  const { cwd = sandbox.project, env = {}, program = PROGRAM, input = '' } = options;
  const place = { cwd, env: sandbox.env({ REMOTE_CONTAINERS: '1', ...env }) };
  return new Promise((resolve) => {
    const child = execFile(program, args, place, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
    child.stdin.on('error', () => {}); // it may exit before it has read everything
    if (input !== null) child.stdin.end(input);
  });
}

/**
 * Runs doctor for one client, as JSON and as text. The reports must not contain any of `secrets`.
 */
export async function examine(sandbox, { secrets = [], id = 'gemini', ...place } = {}) {
  const doctor = ['doctor', '--client', id];
  const [json, text] = await Promise.all([
    run(sandbox, [...doctor, '--json'], place),
    run(sandbox, doctor, place),
  ]);
  for (const { stdout, stderr } of [json, text]) {
    for (const secret of secrets) assert.ok(!`${stdout}${stderr}`.includes(secret), 'a secret');
  }
  const [diagnosis] = JSON.parse(json.stdout);
  assert.equal(diagnosis.client, id);
  assert.equal(json.code, diagnosis.connects ? 0 : 1);
  assert.equal(text.code, json.code);
  assert.ok(text.stdout.startsWith(`${diagnosis.verdict}\n`), 'the verdict comes first');
  return { ...diagnosis, text: text.stdout };
}

/** Returns the client's message when it can't connect. */
async function clientFails(sandbox, place) {
  const client = await IdeClient.start(sandbox, place);
  const { status, details } = await client.connect();
  assert.equal(status, 'disconnected');
  const known = await client.displayName();
  await client.leave();
  // Without an editor the client keeps its first state, and the command `/ide` prints the message.
  return known ? details : unsupported(place?.module);
}

/** Makes the client fail to connect, and checks that doctor reports its message and the problem. */
export async function assertFailure(sandbox, problem, message, place = {}) {
  const details = await clientFails(sandbox, place);
  assert.match(details, message);
  const diagnosis = await examine(sandbox, place);
  const [line] = details.split('\n'); // the system's reason may follow
  assert.deepEqual([diagnosis.problem, diagnosis.clientSays], [problem, line], diagnosis.text);
  assert.ok(diagnosis.advice.length > 0, 'it says what to do');
  return diagnosis;
}
