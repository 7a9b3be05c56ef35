// Runs the MCP project's conformance suite. Lists the parts that do not apply to a server with only
// tools, with reasons.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { openWindow } from '../lib/scene.mjs';

const fromHere = (file) => fileURLToPath(new URL(file, import.meta.url));
const RUNNER = fromHere('../node_modules/@modelcontextprotocol/conformance/dist/index.js');
const PRELOAD = fromHere('../lib/conformance-preload.mjs');

const applies = [
  'server-initialize',
  'ping',
  'logging-set-level',
  'tools-list',
  'server-sse-multiple-streams',
];

/** The failing checks of the other scenarios, with their messages. */
const doesNotApply = {
  // We have no web page, so a request with any Origin, a local one too, comes from a stranger's.
  'localhost-host-valid-accepted': /got 403$/,
  // Completion, resources and prompts are capabilities that we do not announce.
  'completion-complete': /^Failed: MCP error -32601: Method not found/,
  'resources-list': /Method not found/,
  'resources-read-text': /Method not found/,
  'resources-read-binary': /Method not found/,
  'resources-templates-read': /Method not found/,
  'resources-subscribe': /Method not found/,
  'resources-unsubscribe': /Method not found/,
  'prompts-list': /Method not found/,
  'prompts-get-simple': /Method not found/,
  'prompts-get-with-args': /Method not found/,
  'prompts-get-embedded-resource': /Method not found/,
  'prompts-get-with-image': /Method not found/,
  // Sampling and elicitation: a companion asks nothing of the model or the user behind a client.
  'tools-call-sampling': /Server did not request sampling/,
  'tools-call-elicitation': /Server did not request elicitation/,
  'elicitation-sep1034-general': /Server did not request elicitation/,
  'elicitation-sep1330-general': /Server did not request elicitation/,
  // These call fixture tools of fixed names. Two more, tools-call-simple-text and
  // tools-call-error, pass only because an unknown tool is answered with an error in a text;
  // server-sse-polling ends early, because we answer a POST with JSON.
  'tools-call-image': /No image content/,
  'tools-call-audio': /No audio content/,
  'tools-call-embedded-resource': /No resource content/,
  'tools-call-mixed-content': /Expected multiple content items/,
  'tools-call-with-logging': /No log notifications/,
  'tools-call-with-progress': /No progress notifications/,
  'json-schema-2020-12-tool-found': /not found\. Available tools: openDiff,/,
};

/** Runs all scenarios, and returns the checks of each by its name. */
async function runAll({ sandbox, companion }) {
  const { url, authToken } = companion.ready;
  const results = sandbox.folder('results');
  const args = ['--import', PRELOAD, RUNNER, 'server', '--suite', 'all', '--url', url];
  const env = sandbox.env({ CONFORMANCE_URL: url, CONFORMANCE_TOKEN: authToken });
  const options = { env, timeout: 120_000, killSignal: 'SIGKILL' };
  // It exits with 1, as some checks do not pass.
  await new Promise((resolve) => {
    execFile(process.execPath, [...args, '--output-dir', results], options, resolve);
  });
  const scenarios = new Map();
  for (const folder of fs.readdirSync(results)) {
    const [, name] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(folder);
    const checks = fs.readFileSync(path.join(results, folder, 'checks.json'), 'utf8');
    scenarios.set(name, JSON.parse(checks));
  }
  return scenarios;
}

test('the conformance suite passes where it applies', async (t) => {
  const scenarios = await runAll(await openWindow(t));
  for (const name of applies) {
    const statuses = scenarios.get(name)?.map(({ status }) => status);
    assert.ok(statuses?.includes('SUCCESS'), `${name}: ${statuses}`);
  }
  const checks = [...scenarios.values()].flat();
  const rebinding = checks.find(({ id }) => id === 'localhost-host-rebinding-rejected');
  assert.equal(rebinding.status, 'SUCCESS');

  const failures = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  assert.deepEqual(failures.map(({ id }) => id).sort(), Object.keys(doesNotApply).sort());
  for (const { id, errorMessage } of failures) assert.match(errorMessage, doesNotApply[id]);
});
