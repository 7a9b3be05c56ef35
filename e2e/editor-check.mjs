// Checks an editor by the rules of docs/editor-protocol.md.

import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { checkEditor } from './lib/editor-check.mjs';
import { RULES } from './lib/editor-rules.mjs';

const { values, positionals } = parseArgs({
  options: { timeout: { type: 'string', default: '10' }, only: { type: 'string' } },
  allowPositionals: true,
});
if (positionals.length === 0 || (values.only && !RULES[values.only])) {
  console.error('usage: node editor-check.mjs [--timeout SECONDS] [--only RULE] -- COMMAND…');
  process.exit(2);
}
// An interruption must also end the editor.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
// The editor starts in another folder.
const command = positionals.map((arg) => (fs.existsSync(arg) ? path.resolve(arg) : arg));
const results = await checkEditor(command, {
  timeout: Number(values.timeout),
  only: values.only,
  done: ({ rule, violation }) => console.log(violation ? `✗ ${rule}\n    ${violation}` : `✓ ${rule}`),
});
const kept = results.filter(({ violation }) => !violation).length;
console.log(`${kept} of ${results.length} rules are kept; docs/editor-protocol.md explains them.`);
process.exitCode = kept === results.length ? 0 : 1;
