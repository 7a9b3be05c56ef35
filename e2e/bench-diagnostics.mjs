// Measures a request for problems, with an editor that answers at once: `GEMINI_COMPANION=PROGRAM
// node bench-diagnostics.mjs`.

import { Companion } from './lib/companion.mjs';
import { Editor } from './lib/editor.mjs';
import { edit, hook } from './lib/hook.mjs';
import { Session } from './lib/http.mjs';
import { Mcp } from './lib/mcp.mjs';
import { Sandbox } from './lib/sandbox.mjs';

const sandbox = new Sandbox();
const path = sandbox.file('a.json', '{');
const input = edit(path, { tool_response: { llmContent: 'x'.repeat(20_000) } });

async function measure(name, rounds, run) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now();
    await run();
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  const [p50, p95] = [0.5, 0.95].map((part) => times[Math.floor(times.length * part)].toFixed(1));
  console.log(`${name}: p50 ${p50} ms, p95 ${p95} ms`);
}

await measure('hook without a companion', 200, () => hook(sandbox, 'after-tool', input));
const companion = await Companion.start(sandbox);
new Editor(companion);
// A CLI that runs hooks is connected.
await (await Session.open(sandbox, companion, { name: 'gemini-cli', version: '1' })).stream();
await measure('hook before-tool', 200, () => hook(sandbox, 'before-tool', input));
await measure('hook after-tool', 200, () => hook(sandbox, 'after-tool', input));
const mcp = await Mcp.start(sandbox);
await measure('get_diagnostics', 500, () => mcp.ask({ path }));
await sandbox.close();
