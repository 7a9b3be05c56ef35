// Tests Qwen Code in a container: it reads the token only from a file, which the test provides.

import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { accepted } from '../lib/decision.mjs';
import { Editor } from '../lib/editor.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { HOST_ADDRESS, Host, noNamespaces } from '../lib/namespace.mjs';
import { QWEN_CLIENT, qwenHome } from '../lib/qwen-code.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

/** As Docker's `--add-host host.docker.internal:host-gateway` makes it. */
const HOSTS = { 'host.docker.internal': HOST_ADDRESS };

const PROGRAM = process.env.GEMINI_COMPANION && path.resolve(process.env.GEMINI_COMPANION);

/** A window on a host, and the command that `container` makes of `docker run image qwen` there. */
async function prepare(t, args = []) {
  const sandbox = Sandbox.of(t);
  qwenHome(sandbox);
  const host = await Host.create(sandbox);
  const options = { machine: host, args: ['--listen', HOST_ADDRESS] };
  const companion = await Companion.start(sandbox, options);
  const printed = await host.run(
    ...['env', `HOME=${sandbox.home}`, `TMPDIR=${sandbox.tmp}`, PROGRAM, 'container'],
    ...['--workspace', sandbox.project, ...args, '--print', '--', 'docker', 'run', 'image', 'qwen'],
  );
  const volumes = [...printed.matchAll(/--volume=(\S+?):(\S+?)(:ro)?(?=\s)/g)];
  const mounts = volumes.map(([, from, to, readOnly]) => ({ from, to, readOnly: !!readOnly }));
  const variables = [...printed.matchAll(/(?<=^|\s)([A-Z][A-Z_]+)=('[^']*'|\S+)/g)];
  const env = Object.fromEntries(
    variables.map(([, name, value]) => [name, value.replace(/^'|'$/g, '')]),
  );
  const machine = host.container({ hosts: HOSTS, mounts });
  return { sandbox, companion, printed, machine, env };
}

async function reviewsAnEdit({ sandbox, companion, machine, env }) {
  const editor = new Editor(companion);
  const client = await IdeClient.connect(sandbox, { module: QWEN_CLIENT, machine, env });
  const file = sandbox.file('a.txt', 'old\n');
  const { decision } = await client.propose(editor, file, 'proposed\n');
  editor.accept(file, 'changed by the user\n');
  assert.deepEqual(await decision, accepted('changed by the user\n'));
}

describe('Qwen Code in a container', { skip: noNamespaces }, () => {
  test('finds the companion by the file that it was given', async (t) => {
    const scene = await prepare(t);
    const { companion, printed, env } = scene;
    assert.ok(!printed.includes(companion.ready.authToken), 'a command line is no secret');
    assert.ok(!printed.includes('GEMINI_CLI'), 'and no more than it needs');
    assert.equal(env.QWEN_CODE_IDE_SERVER_PORT, String(companion.ready.port));
    await reviewsAnEdit(scene);
  });

  test('or goes through the bridge', async (t) => {
    const scene = await prepare(t, ['--bridge']);
    assert.equal(scene.env.QWEN_CODE_IDE_SERVER_PORT, undefined);
    await reviewsAnEdit(scene);
  });
});
