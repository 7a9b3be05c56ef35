// Runs the real core of Gemini CLI without its terminal: its tools, their confirmation by the
// editor, and the model's history. The model calls the tools of the first argument. Prints the
// results as JSON.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { Config, ApprovalMode } from '@google/gemini-cli-core';
import { IdeClient } from '@google/gemini-cli-core/dist/src/ide/ide-client.js';
import { Scheduler } from '@google/gemini-cli-core/dist/src/scheduler/scheduler.js';

import { ENVIRONMENT } from './gemini-cli.mjs';

Object.assign(process.env, ENVIRONMENT);
const calls = JSON.parse(process.argv[2]);

const says = (parts) => ({
  method: 'generateContentStream',
  response: [{ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }],
});
const proposal = calls.map(({ name, args }, id) => ({
  functionCall: { id: `${id}`, name, args },
}));
const script = path.join(os.tmpdir(), 'core-replies.jsonl');
const replies = [says(proposal), says([{ text: 'done' }])];
fs.writeFileSync(script, replies.map((reply) => JSON.stringify(reply)).join('\n'));

const config = new Config({
  sessionId: 'session',
  targetDir: process.cwd(),
  cwd: process.cwd(),
  debugMode: false,
  model: 'gemini-2.5-pro',
  interactive: true,
  approvalMode: ApprovalMode.DEFAULT,
  trustedFolder: true,
  folderTrust: false,
  ideMode: true,
  disableLLMCorrection: true,
  fakeResponsesNonStrict: script,
  skipNextSpeakerCheck: true,
});
await config.storage.initialize();
await config.initialize();
await config.refreshAuth('gemini-api-key');
await (await IdeClient.getInstance()).connect({ logToConsole: false });
const client = config.getGeminiClient();
const { signal } = new AbortController();
const messageBus = config.getMessageBus();
const scheduler = new Scheduler({
  context: config,
  messageBus,
  getPreferredEditor: () => undefined,
  schedulerId: 'root',
});

const results = [];
let message = [{ text: 'edit it' }];
for (;;) {
  const requests = [];
  for await (const event of client.sendMessageStream(message, signal, 'prompt')) {
    if (event.type === 'tool_call_request') requests.push(event.value);
  }
  if (requests.length === 0) break;
  const done = await scheduler.schedule(requests, signal);
  message = done.flatMap((call) => call.response.responseParts);
  results.push(...message.map(({ functionResponse }) => functionResponse.response));
}
const history = JSON.stringify(client.getHistory()).length;
process.stdout.write(JSON.stringify({ results, history }), () => process.exit());
