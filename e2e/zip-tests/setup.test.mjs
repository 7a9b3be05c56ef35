// Tests that `setup --plugin` installs the zip that is released into an IDE of today, and removes it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { run } from '../lib/doctor.mjs';
import { installation } from '../lib/installation.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const ZIP = process.env.COMPANION_ZIP;

/** A made-up IDE, and `setup` for it without other editors. */
function ide(t, version, build) {
  const sandbox = Sandbox.of(t);
  const home = installation(sandbox, {
    name: 'IntelliJ IDEA',
    version,
    buildNumber: build,
    productCode: 'IC',
    dataDirectoryName: `IdeaIC${version}`,
    productVendor: 'JetBrains',
  });
  const env = { PATH: sandbox.folder('bin') };
  const plugins = path.join(sandbox.home, '.local/share/JetBrains', `IdeaIC${version}`);
  const setup = (...args) => run(sandbox, ['setup', ...args], { env });
  return { sandbox, home, plugins, setup };
}

const files = (folder) =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();

test('the zip is installed into 2024.2 and removed', async (t) => {
  const { sandbox, home, plugins, setup } = ide(t, '2024.2', '242.20224.300');
  const done = await setup(home, '--plugin', ZIP, '--json', '--yes');
  assert.equal(done.code, 0, done.stderr);
  const unpacked = sandbox.folder('unpacked');
  execFileSync('python3', ['-m', 'zipfile', '-e', ZIP, unpacked]);
  const expected = files(unpacked);
  assert.ok(expected.includes('companion-for-gemini-cli/lib/companion-for-gemini-cli.jar'));
  assert.ok(expected.some((name) => name.startsWith('companion-for-gemini-cli/native/')));
  assert.deepEqual(files(plugins), expected);

  const removed = await setup('--remove', '--yes');
  assert.equal(removed.code, 0, removed.stderr);
  assert.ok(!fs.existsSync(path.join(plugins, 'companion-for-gemini-cli')));
});

test('an IDE that is too old does not get it', async (t) => {
  const { home, plugins, setup } = ide(t, '2024.1', '241.14494.240');
  const done = await setup(home, '--plugin', ZIP, '--json', '--yes');
  assert.equal(done.code, 1, 'it was named');
  const { steps } = JSON.parse(done.stdout);
  assert.equal(steps.find(({ subject }) => subject.startsWith('IntelliJ')).outcome, 'failed', done.stdout);
  assert.ok(!fs.existsSync(path.join(plugins, 'companion-for-gemini-cli')));
});
