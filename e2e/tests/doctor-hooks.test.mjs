// Tests that doctor knows when the real clients run hooks: each switch of a client, with the client
// and doctor in the same environment.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { examine } from '../lib/doctor.mjs';
import { FOLDERS, prepareHeadless } from '../lib/headless-cli.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const PROMPT = 'hook before-agent';
const SERVER = 'mcp';

const SYSTEM = {
  gemini: 'GEMINI_CLI_SYSTEM_SETTINGS_PATH',
  qwen: 'QWEN_CODE_SYSTEM_SETTINGS_PATH',
};

const enablement = (rules) => (cli, sandbox) => {
  const file = path.join(cli.folder, 'extensions', 'extension-enablement.json');
  const overrides = rules.map((rule) => rule.replace('PROJECT', sandbox.project));
  fs.writeFileSync(file, JSON.stringify({ 'gemini-companion': { overrides } }));
};

const project = (settings) => (cli, sandbox, name) =>
  sandbox.file(path.join(FOLDERS[name], 'settings.json'), JSON.stringify(settings));

const untrusted = (cli, sandbox) =>
  fs.writeFileSync(
    path.join(cli.folder, 'trustedFolders.json'),
    JSON.stringify({ [sandbox.root]: 'TRUST_FOLDER', [sandbox.project]: 'DO_NOT_TRUST' }),
  );

/** What the client runs: everything, no MCP server, hooks of some moments only, or nothing. */
const ALL = [PROMPT, 'hook after-agent', SERVER];
const BOTH = [
  ['the extension is disabled', [], { change: enablement(['!/*']), says: /disabled in this folder/ }],
  ['a server that is excluded', ALL.slice(0, 2), {
    settings: { 'mcp.excluded': ['gemini-companion'] },
    says: /asks for problems; mcp\.excluded/,
  }],
];

const CASES = {
  gemini: [
    ...BOTH,
    // An administrator's setting counts only from the account, and the last rule lacks the slash at
    // its end.
    ['it is enabled again in the project, and settings that have no effect', ALL, {
      settings: { 'admin.extensions.enabled': false },
      change: enablement(['!/*', 'PROJECT/*', '!PROJECT']),
    }],
    ['hooks are off', [SERVER], {
      settings: { 'hooksConfig.enabled': false },
      says: /all are off by hooksConfig\.enabled/,
    }],
    ['hooks are off, by a text', [SERVER], {
      settings: { 'hooksConfig.enabled': 'False' },
      says: /all are off by hooksConfig\.enabled/,
    }],
    ['hooks are not off, by a text that is no switch', ALL, {
      settings: { 'hooksConfig.enabled': 'no' },
    }],
    ['one hook is off', ALL.slice(1), {
      settings: { 'hooksConfig.disabled': ['companion-before-prompt'] },
      says: /companion-before-prompt[^]*does not work: comments/,
    }],
    ['hooks are off in the project', [SERVER], {
      change: project({ hooksConfig: { enabled: false } }),
      says: /all are off by .*project/,
    }],
    ['a folder without trust', ALL.slice(0, 2), {
      env: { GEMINI_CLI_TRUST_WORKSPACE: 'false' },
      change: project({ hooksConfig: { enabled: false } }),
      says: /does not trust this folder, by GEMINI_CLI_TRUST_WORKSPACE/,
    }],
    ['a server that the project allows, but not the user', ALL.slice(0, 2), {
      settings: { 'mcp.allowed': ['other'] },
      change: project({ mcp: { allowed: ['other', 'gemini-companion'] } }),
      says: /asks for problems; mcp\.allowed in .*home/,
    }],
    ['a server that the user has disabled', ALL.slice(0, 2), {
      change: (cli) =>
        fs.writeFileSync(
          path.join(cli.folder, 'mcp-server-enablement.json'),
          JSON.stringify({ 'gemini-companion': { enabled: false } }),
        ),
      says: /asks for problems; .*mcp-server-enablement\.json disables it/,
    }],
    ['only extensions of some sources', null, {
      settings: { 'security.allowedExtensions': ['^https://example\\.com/'] },
      says: /does not start: security\.allowedExtensions/,
    }],
  ],
  qwen: [
    ...BOTH,
    ['hooks are off', [SERVER], {
      settings: { disableAllHooks: true },
      says: /all are off by disableAllHooks/,
    }],
    ['hooks are off, but not in the project, and a setting of Gemini CLI', ALL, {
      settings: { disableAllHooks: true, 'hooksConfig.enabled': false },
      change: project({ disableAllHooks: false }),
    }],
    ['a server that only the user allows', ALL, {
      settings: { 'mcp.allowed': ['gemini-companion'] },
      change: project({ mcp: { allowed: ['other'] } }),
    }],
    ['a server that nobody allows', ALL.slice(0, 2), {
      settings: { 'mcp.allowed': [] },
      says: /asks for problems; mcp\.allowed/,
    }],
    ['a folder without trust', ALL.slice(0, 2), {
      settings: { 'security.folderTrust.enabled': true },
      change: untrusted,
      says: /does not trust this folder, by .*trustedFolders\.json/,
    }],
    ['safe mode', [], {
      env: { QWEN_CODE_SAFE_MODE: '1' },
      says: /QWEN_CODE_SAFE_MODE turns extensions and hooks off/,
    }],
  ],
};

for (const [name, cases] of Object.entries(CASES)) {
  // Each has folders of its own, and mostly waits for processes.
  describe(`${name} runs hooks, and doctor knows it`, { concurrency: 2 }, () => {
    for (const [title, expected, { settings, env, change, says }] of cases) {
      test(title, async (t) => {
        const sandbox = Sandbox.of(t);
        const cli = await prepareHeadless(sandbox, name, { settings, env });
        change?.(cli, sandbox, name);
        const { code, commands } = await cli.run();
        if (expected === null) {
          assert.notEqual(code, 0, 'it does not start');
        } else {
          const ran = ALL.filter((command) => commands.has(command));
          assert.deepEqual(ran, expected, `exit code ${code}`);
        }
        const { text, evidence, advice } = await examine(sandbox, { id: name, env: cli.env });
        const hooks = evidence.filter(({ subject }) => subject === 'hooks');
        const bad = hooks.filter(({ level }) => level === 'bad');
        const all = [PROMPT, 'hook after-agent'];
        const runsAll = expected !== null && all.every((command) => expected.includes(command));
        assert.equal(bad.length === 0, runsAll, text);
        if (!runsAll) assert.ok(advice.length > 0, text);
        if (says) assert.match(text, says);
        const noServer = expected?.includes(PROMPT) && !expected.includes(SERVER);
        assert.equal(text.includes('the model asks for problems'), noServer === true, text);
      });
    }
  });
}

for (const [name, hooks] of Object.entries({ gemini: 'hooks.json', qwen: 'qwen-code.json' })) {
  test(`doctor misses each hook that ${name} should run`, async (t) => {
    const sandbox = Sandbox.of(t);
    const cli = await prepareHeadless(sandbox, name);
    const file = path.join(cli.folder, 'extensions', 'gemini-companion', 'hooks', hooks);
    const all = JSON.parse(fs.readFileSync(file, 'utf8')).hooks;
    for (const event of Object.keys(all)) {
      const { [event]: _, ...rest } = all;
      fs.writeFileSync(file, JSON.stringify({ hooks: rest }));
      const { text } = await examine(sandbox, { id: name, env: cli.env });
      assert.match(text, /lacks some hooks/, event);
    }
  });
}

test('an administrator turns hooks off for all users', async (t) => {
  const sandbox = Sandbox.of(t);
  // Gemini CLI takes the system's settings only from folders that others can't write.
  const etc = fs.mkdtempSync('/var/lib/companion-e2e-');
  t.after(() => fs.rmSync(etc, { recursive: true }));
  const file = path.join(etc, 'settings.json');
  fs.writeFileSync(file, JSON.stringify({ hooksConfig: { enabled: false } }));
  const env = { [SYSTEM.gemini]: file };
  const cli = await prepareHeadless(sandbox, 'gemini', {
    settings: { 'hooksConfig.enabled': true },
    env,
  });
  const { commands } = await cli.run();
  assert.ok(commands.has(SERVER) && !commands.has(PROMPT));
  const { text } = await examine(sandbox, { env: cli.env });
  assert.ok(text.includes(`all are off by hooksConfig.enabled in ${file}`), text);
  fs.chmodSync(etc, 0o777);
  assert.ok((await cli.run()).commands.has(PROMPT));
  const unsafe = await examine(sandbox, { env: cli.env });
  assert.ok(unsafe.text.includes(`it does not read ${file}, `), unsafe.text);
  assert.doesNotMatch(unsafe.text, /all are off/);
});

test('doctor sees whether hooks reach the companion, and a program of another version', async (t) => {
  const sandbox = Sandbox.of(t);
  const cli = await prepareHeadless(sandbox, 'gemini');
  const { ready } = await Companion.start(sandbox);
  const place = { env: cli.env, secrets: [ready.authToken] };
  const before = await examine(sandbox, place);
  assert.equal(before.connects, true);
  assert.match(before.text, /none has reached the companion/);
  await new HookCli(sandbox).prompt('hello');
  assert.match((await examine(sandbox, place)).text, /they have reached the companion/);

  const program = path.join(sandbox.root, 'bin', 'gemini-companion');
  const cases = [
    ['echo gemini-companion 0.0.9', 0o755, /another version/, true],
    ['echo something else', 0o755, /it is another program/, false],
    ['sleep 60', 0o755, /does not print its version in time/, false],
    ['', 0o644, /is not in the PATH/, false],
  ];
  for (const [script, mode, says, runs] of cases) {
    fs.rmSync(program);
    fs.writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode });
    const { text, verdict } = await examine(sandbox, place);
    assert.match(text, says);
    const stops = /Its hooks do not run\.|Not all of its hooks work\./;
    if (runs) assert.doesNotMatch(verdict, stops);
    else assert.match(verdict, stops);
  }
});

test('the hooks of setup run the program that it has installed', async (t) => {
  const sandbox = Sandbox.of(t);
  const PATH = '/usr/bin:/bin';
  fs.mkdirSync(path.join(sandbox.home, FOLDERS.gemini));
  const setup = spawnSync(process.env.GEMINI_COMPANION, ['setup', '--yes'], {
    env: sandbox.env({ PATH }),
    cwd: sandbox.project,
  });
  // 3 if the machine has no editor.
  assert.ok([0, 3].includes(setup.status), String(setup.stderr));
  const { text } = await examine(sandbox, { env: { PATH } });
  assert.match(text, /(✓|ok:) they run .*gemini-companion/);
});
