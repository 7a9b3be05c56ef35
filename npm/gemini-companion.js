#!/usr/bin/env node
// Starts the program for this system, which npm has put beside this package, and is as good as it:
// what it is told, its input and output, signals and the exit code are the program's.

'use strict';

const { spawn } = require('node:child_process');
const { optionalDependencies, version } = require('./package.json');

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The path of the program, or a sentence on why there is none. */
function program() {
  if (process.env.GEMINI_COMPANION_BINARY) return { path: process.env.GEMINI_COMPANION_BINARY };
  const os = { darwin: 'macos', win32: 'windows' }[process.platform] ?? process.platform;
  const name = `gemini-companion-${os}-${process.arch}`;
  if (!(name in optionalDependencies)) {
    const known = Object.keys(optionalDependencies).map((other) => other.slice(17));
    return {
      problem:
        `There is no program for ${name.slice(17)}, only for ${known.join(', ')}. ` +
        'Build it from source with cargo, and set GEMINI_COMPANION_BINARY to its path.',
    };
  }
  try {
    const suffix = os === 'windows' ? '.exe' : '';
    return { path: require.resolve(`${name}/gemini-companion${suffix}`) };
  } catch {
    return {
      problem:
        `The package ${name} is not there. npm leaves it out with --omit=optional, and if fetching it fails. ` +
        `To have it: npm install --global gemini-companion@${version}`,
    };
  }
}

/** The program takes the process that starts it for the editor, and that is not this one. */
function withEditor(args) {
  const isTold = args.some((arg) => arg === '--ide-pid' || arg.startsWith('--ide-pid='));
  return args[0] === 'serve' && !isTold ? [...args, '--ide-pid', String(process.ppid)] : args;
}

function fail(problem) {
  console.error(`gemini-companion: ${problem}`);
  process.exit(1);
}

const { path, problem } = program();
if (problem) fail(problem);
// `setup` finds the plugin's zip here.
const env = { ...process.env, GEMINI_COMPANION_PACKAGE: __dirname };
// A console of Windows tells both; `kill` would end the program there before it can end in order.
const passOn = process.platform === 'win32' ? () => {} : (signal) => child.kill(signal);
// First of all: the program may be ready, and somebody end it, before this one goes on.
for (const signal of SIGNALS) process.on(signal, passOn);
const child = spawn(path, withEditor(process.argv.slice(2)), { stdio: 'inherit', env });
child.on('error', (error) => fail(`${path} does not start: ${error.message}`));
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  // Whoever waits for this process sees the same signal.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
