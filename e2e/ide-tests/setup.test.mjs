// Owns `gemini-companion setup` with a real IDE: what it installs is loaded, and connects.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { run } from '../lib/doctor.mjs';
import { Scene } from '../lib/ide-scene.mjs';

/** The plugin's zip, as it is released. */
function zip(sandbox) {
  const file = path.join(sandbox.root, 'companion-for-gemini-cli.zip');
  execFileSync('python3', ['-m', 'zipfile', '-c', file, process.env.COMPANION_PLUGIN]);
  return file;
}

/** What an installation says of itself, for the IDE that takes its plugins from `plugins`. */
function installation(sandbox, plugins) {
  const home = sandbox.folder('opt', 'idea');
  const product = {
    name: 'IntelliJ Platform',
    version: '2018.3',
    buildNumber: '183.6156.11',
    productCode: 'IC',
    dataDirectoryName: 'Platform2018.3',
    productVendor: 'JetBrains',
    envVarBaseName: 'IDEA',
    launch: [{ os: 'Linux', vmOptionsFilePath: 'bin/idea64.vmoptions' }],
  };
  fs.writeFileSync(path.join(home, 'product-info.json'), JSON.stringify(product));
  const properties = `idea.plugins.path=${plugins}\n`;
  fs.writeFileSync(path.join(sandbox.folder('opt', 'idea', 'bin'), 'idea.properties'), properties);
  return home;
}

test('what setup installs is loaded, finds its client, and goes without a trace', async (t) => {
  const scene = new Scene();
  t.after(() => scene.close());
  const { sandbox } = scene;
  const plugins = sandbox.folder('plugins');
  const home = installation(sandbox, plugins);
  const plugin = path.join(plugins, 'companion-for-gemini-cli');

  const args = ['setup', home, '--plugin', zip(sandbox)];
  const asked = await run(sandbox, args);
  assert.equal(asked.code, 1, 'nobody is there to be asked');
  assert.ok(asked.stdout.includes(plugin) && asked.stderr.includes('--yes'));
  assert.ok(!fs.existsSync(plugin));
  const done = await run(sandbox, [...args, '--json']);
  assert.equal(done.code, 0, done.stderr);
  const { steps, doctor } = JSON.parse(done.stdout);
  const connecting = steps.filter(({ subject }) => subject !== 'gemini-companion');
  assert.deepEqual(
    connecting.map(({ subject, outcome, path: there }) => [subject, outcome, there]),
    [
      ['IntelliJ Platform 2018.3', 'done', plugin],
      ['Gemini CLI', 'done', path.join(sandbox.home, '.gemini', 'settings.json')],
    ],
  );
  assert.equal(doctor[0].connects, false, 'the IDE does not run yet');

  await scene.openIde({ withPlugin: false });
  scene.client = await scene.connect();
  const { title, decision } = await scene.propose(sandbox.file('a.txt', 'old\n'), 'new\n');
  await scene.ide.robot('invoke', { action: 'Companion.AcceptProposal', proposal: title });
  assert.deepEqual(await decision, { status: 'accepted', content: 'new\n' });
  await scene.ide.close();

  const removed = await run(sandbox, ['setup', '--remove', '--yes']);
  assert.equal(removed.code, 0, removed.stderr);
  assert.ok(!fs.existsSync(plugin) && !fs.existsSync(path.join(sandbox.home, '.gemini')));
});
