// Runs a CLI with the extension for one prompt, without its terminal, and records its hooks.

import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { pathWith, prepareCli } from './extension.mjs';

/** The folder of each CLI in a home folder or a project. */
export const FOLDERS = { gemini: '.gemini', qwen: '.qwen' };

/**
 * Prepares the CLI `name` with the extension, and with a program for it that records its commands.
 * `settings` are merged into the user's settings by their dotted names. Returns the folder of these
 * settings, and a function that runs the CLI and returns `{code, commands}`.
 */
export async function prepareHeadless(sandbox, name, { settings = {}, env = {} } = {}) {
  const log = path.join(sandbox.root, 'commands');
  const bin = sandbox.folder('bin');
  const program = path.resolve(process.env.GEMINI_COMPANION);
  const script = `#!/bin/sh
case $1 in --version) exec '${program}' "$@";; esac
echo "$@" >> '${log}'
case $1 in mcp) exec '${program}' "$@";; esac
`;
  fs.writeFileSync(path.join(bin, 'gemini-companion'), script, { mode: 0o755 });
  const cli = await prepareCli(sandbox, name, ['That was all.'], { PATH: pathWith(bin), env });
  const folder = path.join(sandbox.home, FOLDERS[name]);
  const file = path.join(folder, 'settings.json');
  const merged = JSON.parse(fs.readFileSync(file, 'utf8'));
  for (const [setting, value] of Object.entries(settings)) {
    const names = setting.split('.');
    const last = names.pop();
    let section = merged;
    for (const part of names) section = section[part] ??= {};
    section[last] = value;
  }
  fs.writeFileSync(file, JSON.stringify(merged));
  const [node, ...args] = cli.command;
  const run = () =>
    new Promise((resolve) => {
      const place = { cwd: sandbox.project, env: sandbox.env(cli.env) };
      const child = execFile(node, [...args, '-p', 'hello'], place, (error) => {
        const commands = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n') : [];
        resolve({ code: error ? error.code : 0, commands: new Set(commands) });
      });
      child.stdin.end();
    });
  return { folder, env: cli.env, run };
}
