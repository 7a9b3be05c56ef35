// Installs the extension into Gemini CLI and Qwen Code as users do, and makes a model break a file.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import * as gemini from './gemini-cli.mjs';
import { GEMINI } from './gemini-cli.mjs';
import { GeminiModel } from './gemini-model.mjs';
import * as qwen from './qwen-code.mjs';
import { QWEN } from './qwen-code.mjs';
import { QwenModel } from './qwen-model.mjs';
import { startModel } from './scripted-model.mjs';
import { Terminal } from './terminal.mjs';

const PROGRAM = process.env.GEMINI_COMPANION;

/** The extension in the sources. */
export const EXTENSION = fileURLToPath(new URL('../../extension', import.meta.url));

/** A text that is not valid JSON. */
export const BROKEN = '{ "name": }\n';

/** Returns the PATH of a terminal with or without the program in `folder`. */
export const pathWith = (...folder) =>
  [...folder, path.dirname(process.execPath), '/usr/bin', '/bin'].join(':');

const HERE = pathWith(path.dirname(path.resolve(PROGRAM)));

/** The question of each CLI before the model gets diagnostics. */
const ASKS = /Allow execution of MCP tool "get_diagnostics"/;

/** For each CLI: its installation, its start, and the texts that its model gets. */
const CLIS = {
  gemini: {
    program: GEMINI,
    withoutReview: '--approval-mode=auto_edit',
    tool: 'mcp_gemini-companion_get_diagnostics',
    async prepare(sandbox, steps) {
      const script = path.join(sandbox.root, 'replies.jsonl');
      const isModel = steps instanceof GeminiModel;
      gemini.prepare(sandbox.home, script, isModel ? [] : gemini.says(steps));
      return {
        env: { ...gemini.ENVIRONMENT, ...(isModel && { GOOGLE_GEMINI_BASE_URL: steps.url }) },
        args: isModel ? [] : ['--fake-responses-non-strict', script],
        results: () => gemini.toolResults(sandbox.home).map(({ text }) => text),
        asked: () => gemini.asked(sandbox.home),
      };
    },
  },
  qwen: {
    program: QWEN,
    withoutReview: '--approval-mode=auto-edit',
    tool: 'mcp__gemini-companion__get_diagnostics',
    async prepare(sandbox, steps, settings) {
      qwen.prepare(qwen.qwenHome(sandbox), settings);
      const results = [];
      const asked = [];
      const isModel = steps instanceof QwenModel;
      const model = isModel ? steps.url : await startModel(sandbox, steps, results, asked);
      // Without its second start, which is for more memory; qwen-cli.test.mjs keeps that.
      const env = { ...qwen.environment(model), QWEN_CODE_NO_RELAUNCH: '1' };
      return { env, args: [], results: () => results, asked: () => asked };
    },
  },
};

export const NAMES = Object.keys(CLIS);

/** Returns a function that makes a CLI install the extension from `source`. */
const installFrom = (source) => (sandbox, name, env) => {
  const args = [CLIS[name].program, 'extensions', 'install', source, '--consent'];
  execFileSync(process.execPath, args, { env: sandbox.env(env), stdio: 'ignore' });
};

/** The ways to install the extension into a CLI, as functions `(sandbox, name, env)`. */
export const BY = {
  /** Does not install it. */
  nothing: () => {},

  /** Copies it to where the CLI looks, without a start of the CLI. */
  copy(sandbox, name) {
    const folder = path.join(sandbox.home, `.${name}`, 'extensions', 'gemini-companion');
    fs.cpSync(EXTENSION, folder, { recursive: true });
  },

  /**
   * Installs it from an archive of a release. Gemini CLI itself accepts archives only from GitHub.
   */
  archive: (archive) => (sandbox, name, env) => {
    const source = name === 'gemini' ? unpack(sandbox, archive) : archive;
    installFrom(source)(sandbox, name, env);
  },

  setup(sandbox, _, env) {
    execFileSync(PROGRAM, ['setup', '--json', '--yes'], { env: sandbox.env(env), stdio: 'ignore' });
  },
};

/** Unpacks the archive of a release. Returns the folder of the extension. */
function unpack(sandbox, archive) {
  const folder = sandbox.folder('unpacked');
  execFileSync('python3', ['-m', 'zipfile', '-e', archive, folder]);
  return path.join(folder, 'extension');
}

/**
 * Prepares a CLI whose model answers `steps`, or is a `GeminiModel` or a `QwenModel`, with the
 * extension installed `by` one of the ways. `review` sets whether edits are reviewed, and `yolo`
 * whether the CLI asks nothing; `mode` is another of its approval modes. `settings` are those of
 * `prepare` for Qwen Code. Returns the command line, the environment, and functions for the texts
 * that the model gets.
 */
export async function prepareCli(sandbox, name, steps, options = {}) {
  const { PATH = HERE, env, by = BY.copy, review = false, yolo = false, settings } = options;
  const { mode = yolo ? 'yolo' : undefined } = options;
  const cli = CLIS[name];
  const { args, results, asked, ...prepared } = await cli.prepare(sandbox, steps, settings);
  const all = { REMOTE_CONTAINERS: '1', ...prepared.env, ...env, PATH };
  by(sandbox, name, all);
  const asking = review ? [] : [cli.withoutReview];
  const approval = mode ? [`--approval-mode=${mode}`] : asking;
  return { command: [process.execPath, cli.program, ...approval, ...args], env: all, results, asked };
}

/** Starts the CLI in the project up to its prompt. The options are those of `prepareCli`. */
export async function startCli(sandbox, name, steps, options) {
  const { command, env, results, asked } = await prepareCli(sandbox, name, steps, options);
  const terminal = new Terminal(sandbox, command, { cwd: sandbox.project, env });
  await terminal.shows(/Type your message/);
  return { terminal, results, asked };
}

/**
 * Makes the model of a CLI break the existing `file`, and then request its diagnostics. Returns
 * both answers to the model.
 */
export async function breakAndAsk(sandbox, name, file, options) {
  const { tool } = CLIS[name];
  const steps = [
    { name: 'read_file', args: { file_path: file } },
    { name: 'write_file', args: { file_path: file, content: BROKEN } },
    { name: tool, args: { path: path.basename(file) } },
    'That was all.',
  ];
  const { terminal, results } = await startCli(sandbox, name, steps, options);
  await terminal.enter('break it');
  await terminal.shows(ASKS);
  terminal.press('Enter');
  await terminal.shows(/That was all\./);
  if (fs.readFileSync(file, 'utf8') !== BROKEN) throw new Error(`${file} was not written`);
  const [, edit, asked] = results();
  return { edit, asked };
}
