// Checks an editor by the rules of docs/editor-protocol.md: node editor-check.mjs [--timeout SECONDS] -- COMMAND…

import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { checkEditor } from './lib/editor-check.mjs';

const { values, positionals } = parseArgs({
  options: { timeout: { type: 'string', default: '10' } },
  allowPositionals: true,
});
if (positionals.length === 0) {
  console.error('usage: node editor-check.mjs [--timeout SECONDS] -- COMMAND…');
  process.exit(2);
}
// The editor starts in another folder.
const command = positionals.map((arg) => (fs.existsSync(arg) ? path.resolve(arg) : arg));
const results = await checkEditor(command, {
  timeout: Number(values.timeout),
  done: ({ rule, violation }) => console.log(violation ? `✗ ${rule}\n    ${violation}` : `✓ ${rule}`),
});
const kept = results.filter(({ violation }) => !violation).length;
console.log(`${kept} of ${results.length} rules are kept; docs/editor-protocol.md explains them.`);
process.exitCode = kept === results.length ? 0 : 1;
