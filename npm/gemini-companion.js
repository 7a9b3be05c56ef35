#!/usr/bin/env node
// Runs the program for this system, which npm has installed as a package of its own.
// Passes on the arguments, stdin, stdout, stderr, signals and the exit code.

'use strict';

const { spawn } = require('node:child_process');
const { optionalDependencies, version } = require('./package.json');

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Returns the path of the program, or the problem that prevents its start. */
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
        `The package ${name} is not there. npm omits it with --omit=optional, and if its download fails. ` +
        `To install it: npm install --global gemini-companion@${version}`,
    };
  }
}

function fail(problem) {
  console.error(`gemini-companion: ${problem}`);
  process.exit(1);
}

const { path, problem } = program();
if (problem) fail(problem);
const env = {
  ...process.env,
  // `setup` finds the plugin's zip here.
  GEMINI_COMPANION_PACKAGE: __dirname,
  // `hook` looks for the CLI among its ancestors, and `serve` for the editor. This process is neither.
  GEMINI_COMPANION_LAUNCHER: String(process.pid),
};
// A Windows console signals both processes. `kill` would end the program before it can shut down.
const passOn = process.platform === 'win32' ? () => {} : (signal) => child.kill(signal);
// Registered before the start: a signal may arrive as soon as the program is ready.
for (const signal of SIGNALS) process.on(signal, passOn);
const child = spawn(path, process.argv.slice(2), { stdio: 'inherit', env });
child.on('error', (error) => fail(`${path} does not start: ${error.message}`));
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  // The parent process sees the same signal.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
