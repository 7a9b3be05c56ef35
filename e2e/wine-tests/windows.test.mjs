// Owns the program for Windows, run by Wine, as the companion of a client on Linux: the way of an
// editor on Windows and a CLI in WSL, by the bridge of the program for Linux.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { bridgeEnv } from '../lib/bridge.mjs';
import { Companion } from '../lib/companion.mjs';
import { Editor } from '../lib/editor.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { assertWorks } from '../lib/works.mjs';

const { COMPANION_ON_WINDOWS: program, COMPANION_DRIVE_C: driveC } = process.env;

/** A path here as Windows names it: Wine has `/` as drive Z. */
const onWindows = (file) => `Z:${file.replaceAll('/', '\\')}`;

/** A path on drive C as it is named here. */
const here = (file) => path.join(driveC, file.replace(/^C:/i, '').replaceAll('\\', '/'));

async function openWindow(t) {
  const sandbox = Sandbox.of(t);
  const companion = await Companion.start(sandbox, {
    program,
    workspace: [onWindows(sandbox.project)],
    // Wine's processes are not Windows' own, and the process that starts this one is no editor there.
    args: ['--ide-pid', '1'],
  });
  return { sandbox, companion, editor: new Editor(companion) };
}

test('a client on Linux and a companion on Windows do all that they do elsewhere', async (t) => {
  const { sandbox, companion, editor } = await openWindow(t);
  const discovery = here(companion.ready.discoveryFiles.gemini);
  const tempDir = path.join(path.dirname(discovery), '../..');
  const env = bridgeEnv(sandbox, ['--map', '/=Z:\\', '--temp-dir', tempDir]);
  const client = await IdeClient.connect(sandbox, { env });
  assert.equal(await client.isDiffingEnabled(), true);
  const file = sandbox.file('a b/é文.txt', 'old');
  await assertWorks({ companion, editor, client }, { here: file, there: onWindows(file) });
});

test('a companion on Windows ends with its editor and leaves nothing behind', async (t) => {
  const { companion } = await openWindow(t);
  const discovery = here(companion.ready.discoveryFiles.gemini);
  assert.ok(fs.existsSync(discovery));
  companion.closeStdin();
  assert.equal(await companion.exited(), 0);
  assert.ok(!fs.existsSync(discovery));
});
