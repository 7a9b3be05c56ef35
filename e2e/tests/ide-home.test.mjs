// Tests how an installed IDE is started, with made-up homes of today's layout up to its launcher.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { javaProgram, launch, windowTitle } from '../lib/ide-home.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

/** A launcher that prints its argument and the files that its variables name. */
const LAUNCHER = `#!/bin/sh
echo "$@"
cat "$WEBIDE_PROPERTIES" "$WEBIDE_VM_OPTIONS"
`;

/** The home of an IDE, in which product-info.json and the launcher lie as on Linux or on macOS. */
function makeHome(sandbox, { resources, launcherPath }) {
  const home = sandbox.folder('WebStorm');
  const info = {
    name: 'WebStorm',
    version: '2024.2.1',
    buildNumber: '242.21829.149',
    envVarBaseName: 'WEBIDE',
    launch: [{ os: 'Linux', launcherPath, javaExecutablePath: 'jbr/bin/java' }],
  };
  const folder = path.join(home, resources);
  const launcher = path.join(folder, launcherPath);
  for (const made of [folder, path.dirname(launcher)]) fs.mkdirSync(made, { recursive: true });
  fs.writeFileSync(path.join(folder, 'product-info.json'), JSON.stringify(info));
  fs.writeFileSync(launcher, LAUNCHER, { mode: 0o755 });
  return home;
}

for (const [system, layout] of Object.entries({
  Linux: { resources: '.', launcherPath: 'bin/webstorm' },
  macOS: { resources: 'Contents/Resources', launcherPath: '../MacOS/webstorm' },
})) {
  test(`an IDE for ${system} opens the project with a profile of its own`, async (t) => {
    const sandbox = Sandbox.of(t);
    const home = makeHome(sandbox, layout);
    const { project, root } = sandbox;
    const profile = path.join(root, 'ide');
    const plugins = path.join(root, 'plugins');
    const java = ['-Djava.io.tmpdir=/somewhere', '-ea:dev.companion.gemini...'];
    const { program, args, env } = launch(home, { profile, plugins, java, project });
    const lines = execFileSync(program, args, { env, encoding: 'utf8' }).trimEnd().split('\n');
    assert.equal(lines.shift(), project);
    for (const line of [
      `idea.config.path=${profile}/config`,
      `idea.system.path=${profile}/system`,
      `idea.log.path=${profile}/log`,
      `idea.plugins.path=${plugins}`,
      '-Djb.consents.confirmation.enabled=false',
      '-Didea.trust.all.projects=true',
      ...java,
    ]) {
      assert.ok(lines.includes(line), `${line} in\n${lines.join('\n')}`);
    }
    assert.equal(windowTitle(home, project), 'project');
  });
}

test('the platform of 2018.3 has a script of its own', () => {
  const folders = { profile: '/p', plugins: '/q', java: ['-ea'], project: '/r' };
  assert.deepEqual(launch('/no/home', folders), {
    program: '/no/home/bin/idea.sh',
    args: ['--sandbox', '/p', '--plugins', '/q', '--java', '-ea', '/r'],
    env: {},
  });
  assert.equal(javaProgram('/no/home', 'jcmd'), 'jcmd', 'the one on the PATH');
});
