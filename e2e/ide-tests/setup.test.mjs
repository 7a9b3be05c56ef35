// Tests `npx gemini-companion setup` with a real IDE, from a registry on this machine: the IDE
// loads the plugin, and a client connects.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { UNCHANGED } from '../lib/decision.mjs';
import { run } from '../lib/doctor.mjs';
import { productInfo } from '../lib/ide-home.mjs';
import { Scene } from '../lib/ide-scene.mjs';
import { installation } from '../lib/installation.mjs';
import { Registry } from '../lib/registry.mjs';

/** The platform of 2018.3 has no information of its own. */
const PRODUCT = productInfo(process.env.COMPANION_PLATFORM) ?? {
  name: 'IntelliJ Platform',
  version: '2018.3',
  buildNumber: '183.6156.11',
  productCode: 'IC',
  dataDirectoryName: 'Platform2018.3',
  productVendor: 'JetBrains',
  envVarBaseName: 'IDEA',
  launch: [{ os: 'Linux', vmOptionsFilePath: 'bin/idea64.vmoptions' }],
};

/** Makes an installation of the tested IDE that takes its plugins from `plugins`. */
function platform(sandbox, plugins) {
  const home = installation(sandbox, PRODUCT);
  const properties = `idea.plugins.path=${plugins}\n`;
  fs.writeFileSync(path.join(sandbox.folder('opt', 'idea', 'bin'), 'idea.properties'), properties);
  return home;
}

test('the IDE loads the installed plugin, a client connects, and removal leaves nothing', async (t) => {
  const scene = new Scene();
  t.after(() => scene.close());
  const { sandbox } = scene;
  const plugins = sandbox.folder('plugins');
  const home = platform(sandbox, plugins);
  const plugin = path.join(plugins, 'companion-for-gemini-cli');

  const registry = await Registry.withPackages(sandbox);
  // Neither a program of before nor the CLIs that the tests have: npm puts them on the PATH.
  const has = (dir) => fs.existsSync(path.join(dir, 'gemini-companion'));
  const isOurs = (dir) => dir.includes('node_modules') || has(dir);
  const PATH = process.env.PATH.split(':').filter((dir) => !isOurs(dir));
  const env = { ...registry.env(sandbox), PATH: PATH.join(':') };
  const setup = (...more) => {
    const args = ['--yes', 'gemini-companion', 'setup', home, ...more];
    return run(sandbox, args, { env, program: 'npx' });
  };
  const asked = await setup();
  assert.equal(asked.code, 1, 'nobody is there to be asked');
  assert.ok(asked.stdout.includes(plugin) && asked.stderr.includes('--yes'), asked.stderr);
  assert.ok(!fs.existsSync(plugin));
  const done = await setup('--json', '--yes');
  assert.equal(done.code, 0, done.stderr);
  const { steps, doctor } = JSON.parse(done.stdout);
  const program = path.join(sandbox.home, '.local', 'bin', 'gemini-companion');
  const ofGemini = path.join(sandbox.home, '.gemini');
  assert.deepEqual(
    // Completions follow, if the machine has a place for them.
    steps.slice(0, 4).map(({ subject, outcome, path: there }) => [subject, outcome, there]),
    [
      [`${PRODUCT.name} ${PRODUCT.version}`, 'done', plugin],
      ['gemini-companion', 'done', program],
      ['Gemini CLI', 'done', path.join(ofGemini, 'settings.json')],
      ['Extension for Gemini CLI', 'done', path.join(ofGemini, 'extensions', 'gemini-companion')],
    ],
  );
  assert.equal(doctor[0].connects, false, 'the IDE does not run yet');

  await scene.openIde({ withPlugin: false });
  scene.client = await scene.connect();
  const { title, decision } = await scene.propose(sandbox.file('a.txt', 'old\n'), 'new\n');
  await scene.ide.invoke('Companion.AcceptProposal', title);
  assert.deepEqual(await decision, UNCHANGED);
  await scene.ide.close();

  const removed = await run(sandbox, ['setup', '--remove', '--yes'], { env, program });
  assert.equal(removed.code, 0, removed.stderr);
  for (const gone of [plugin, program, ofGemini]) {
    assert.ok(!fs.existsSync(gone), gone);
  }
});
