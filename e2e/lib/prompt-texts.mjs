// Lists the texts that the editors insert into a CLI's prompt for paths. The plugins' own tests
// check that they make the same texts.

import fs from 'node:fs';

const FILE = new URL(
  '../../plugin-kotlin/src/ideTest/resources/prompt-texts.json',
  import.meta.url,
);

/** Each `{path, isFolder, lines, text, notReadBy}`, the path being within the project. */
export const PROMPT_TEXTS = JSON.parse(fs.readFileSync(FILE, 'utf8'));

/** As the editors send it: as pasted text. */
export const pasted = (text) => `\x1b[200~ ${text} \x1b[201~`;

/** The content of each file. */
export const contentOf = (path) => `This is in <${path}>.`;

/** Writes the named files, and one file into each named folder. */
export function writeFiles(sandbox) {
  for (const { path, isFolder } of PROMPT_TEXTS) {
    const file = isFolder ? `${path || '.'}/in it.txt` : path;
    sandbox.file(file, `${contentOf(path)}\n`);
  }
}
