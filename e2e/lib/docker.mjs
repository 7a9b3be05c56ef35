// Simulates Docker with containers made of namespaces. Run as a program, this file is the command
// `docker`.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { makeImage, writeProgram } from './image.mjs';
import { Host, HOST_ADDRESS } from './namespace.mjs';

/**
 * Installs `docker` and an image with Gemini CLI on `host`. Its model answers `replies`. Returns
 * the folder to prepend to `PATH`.
 */
export function installDocker(sandbox, host, replies = []) {
  const bin = sandbox.folder('docker-bin');
  const config = path.join(sandbox.root, 'docker.json');
  const image = makeImage(sandbox, replies);
  fs.writeFileSync(config, JSON.stringify({ host, image, log: path.join(bin, 'log') }));
  writeProgram(bin, 'docker', [process.execPath, fileURLToPath(import.meta.url), config]);
  return bin;
}

/** Returns all command lines of `docker run` so far, as lists of arguments. */
export function dockerRuns(bin) {
  return fs.readFileSync(path.join(bin, 'log'), 'utf8').trimEnd().split('\n').map(JSON.parse);
}

const text = (short) => ({ type: 'string', ...(short && { short }) });
const list = (short) => ({ ...text(short), multiple: true });
const flag = (short) => ({ type: 'boolean', ...(short && { short }) });

/** The options of `docker run` that the tests need. Others are errors. */
const OPTIONS = {
  'add-host': list(),
  entrypoint: text(),
  env: list('e'),
  hostname: text(),
  init: flag(),
  interactive: flag('i'),
  name: text(),
  network: text(),
  rm: flag(),
  tty: flag('t'),
  user: text('u'),
  volume: list('v'),
  workdir: text('w'),
};

/** Returns the options before the image, and the command after it. */
function parse(args) {
  const all = { args, options: OPTIONS, allowPositionals: true };
  const image = parseArgs({ ...all, strict: false, tokens: true }).tokens.find(
    ({ kind }) => kind === 'positional',
  );
  if (!image) throw new Error('docker run needs an image');
  const { values } = parseArgs({ args: args.slice(0, image.index), options: OPTIONS });
  return { values, command: args.slice(image.index + 1) };
}

/** Parses `from:to`, optionally with `:ro`. */
function mount(volume) {
  const [from, to, mode] = volume.split(':');
  return { from, to, readOnly: mode === 'ro' };
}

/** Parses `name:address` to `{name: address}`. */
function hostEntry(addHost) {
  const [name, address] = addHost.split(':');
  return [name, address === 'host-gateway' ? HOST_ADDRESS : address];
}

/** Parses `NAME=value`, or `NAME`, which has the value outside. */
function variable(env) {
  const [name, ...value] = env.split('=');
  return [name, value.length > 0 ? value.join('=') : process.env[name]];
}

function run({ host, image, log }, args) {
  fs.appendFileSync(log, `${JSON.stringify(args)}\n`);
  const { values, command } = parse(args);
  const container = new Host(host).container({
    hostNetwork: values.network === 'host',
    hosts: Object.fromEntries((values['add-host'] ?? []).map(hostEntry)),
    mounts: [...image.mounts, ...(values.volume ?? []).map(mount)],
  });
  const env = {
    ...container.env,
    ...image.env,
    ...(values.tty && { TERM: process.env.TERM }),
    ...Object.fromEntries((values.env ?? []).map(variable)),
  };
  const [program, ...rest] = [...container.prefix(values.workdir ?? '/'), ...command];
  const child = spawn(program, rest, { env, stdio: 'inherit' });
  child.on('close', (code) => process.exit(code ?? 1));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [config, command, ...args] = process.argv.slice(2);
  if (command === 'run') run(JSON.parse(fs.readFileSync(config, 'utf8')), args);
  else if (command === 'images') console.log('0123456789ab');
  else throw new Error(`no such command here: docker ${command}`);
}
