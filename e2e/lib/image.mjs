// Describes an image for other machines: Gemini CLI with a scripted model.

import fs from 'node:fs';
import path from 'node:path';

import { ENVIRONMENT, GEMINI, prepare } from './gemini-cli.mjs';

/** The home folder on the machine. */
const HOME = '/image';

/** Writes a program that runs `command` followed by the program's arguments. */
export function writeProgram(folder, name, command) {
  const quoted = command.map((word) => `'${word}'`).join(' ');
  fs.writeFileSync(path.join(folder, name), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
}

/** Returns the user's home folder of the image, which is that of the container's root. */
export const imageHome = (sandbox) => sandbox.folder('image');

/** Returns the `{mounts, env}` of a container of the image. The model answers `replies`. */
export function makeImage(sandbox, replies = []) {
  const folder = imageHome(sandbox);
  prepare(folder, path.join(folder, 'replies.jsonl'), replies);
  const gemini = [process.execPath, GEMINI, '--fake-responses-non-strict', `${HOME}/replies.jsonl`];
  writeProgram(sandbox.folder('image', 'bin'), 'gemini', gemini);
  const companion = [path.resolve(process.env.GEMINI_COMPANION)];
  writeProgram(sandbox.folder('image', 'bin'), 'gemini-companion', companion);
  return {
    mounts: [
      { from: folder, to: HOME, readOnly: true },
      { from: path.join(folder, '.gemini'), to: '/root/.gemini' },
    ],
    env: { ...ENVIRONMENT, PATH: `${HOME}/bin:${process.env.PATH}` },
  };
}
