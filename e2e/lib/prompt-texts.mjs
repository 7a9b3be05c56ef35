// Lists the texts that the editors insert into a CLI's prompt for paths. The plugins' own tests
// check that they make the same texts.

import fs from 'node:fs';

const FILE = new URL(
  '../../plugin-kotlin/src/ideTest/resources/prompt-texts.json',
  import.meta.url,
);

/** The texts, as `{path, isFolder, lines, text, notReadBy}`. `path` is relative to the project. */
export const PROMPT_TEXTS = JSON.parse(fs.readFileSync(FILE, 'utf8'));

/** Returns the content of each file. */
export const contentOf = (path) => `This is in <${path}>.`;

/** Writes the named files, and one file into each named folder. */
export function writeFiles(sandbox) {
  for (const { path, isFolder } of PROMPT_TEXTS) {
    const file = isFolder ? `${path || '.'}/in it.txt` : path;
    sandbox.file(file, `${contentOf(path)}\n`);
  }
}
