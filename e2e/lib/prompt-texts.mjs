// Owns the texts by which the editors name files in the prompt of a CLI. The plugins' own tests show
// that they make these of these paths.

import fs from 'node:fs';

const FILE = new URL(
  '../../plugin-kotlin/src/ideTest/resources/prompt-texts.json',
  import.meta.url,
);

/** Each `{path, isFolder, lines, text, notReadBy}`, the path being within the project. */
export const PROMPT_TEXTS = JSON.parse(fs.readFileSync(FILE, 'utf8'));

/** As the editors send it: for pasted. */
export const pasted = (text) => `\x1b[200~ ${text} \x1b[201~`;

/** What each file has in it. */
export const contentOf = (path) => `This is in <${path}>.`;

/** Writes the files that are named, and one into each folder. */
export function writeFiles(sandbox) {
  for (const { path, isFolder } of PROMPT_TEXTS) {
    const file = isFolder ? `${path || '.'}/in it.txt` : path;
    sandbox.file(file, `${contentOf(path)}\n`);
  }
}
