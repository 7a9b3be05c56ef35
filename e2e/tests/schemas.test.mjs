// Tests that each message passes the schemas of the real client, because one invalid message closes
// the client's connection permanently.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import test from 'node:test';

import * as ide from '@google/gemini-cli-core/dist/src/ide/types.js';

import { Session } from '../lib/http.mjs';
import { openWindow } from '../lib/scene.mjs';

/** The SDK that the client itself uses, which is not the one in our own dependencies. */
const requireAsClient = createRequire(import.meta.resolve('@google/gemini-cli-core'));
const sdk = requireAsClient('@modelcontextprotocol/sdk/types.js');

/** Asserts that the client's schemas accept a message. */
function assertTaken(message, schema) {
  assertNoNull(message);
  sdk.JSONRPCMessageSchema.parse(message);
  schema.parse('result' in message ? message.result : message);
}

function assertNoNull(value, place = 'message') {
  assert.notEqual(value, null, `${place} is null`);
  if (typeof value === 'object') {
    for (const [key, member] of Object.entries(value)) assertNoNull(member, `${place}.${key}`);
  }
}

test('the schemas are from the pinned client', () => {
  const sdkFile = requireAsClient.resolve('@modelcontextprotocol/sdk/types.js');
  assert.ok(sdkFile.startsWith(fileURLToPath(new URL('..', import.meta.url))));
  const packageOf = (file) => createRequire(file)('../../package.json');
  assert.equal(packageOf(sdkFile).version, '1.23.0');
});

test('the client’s first requests', async (t) => {
  const { sandbox, companion } = await openWindow(t);
  const session = await Session.open(sandbox, companion);
  const spoken = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
  for (const protocolVersion of [...spoken, '2024-10-07', '2199-01-01', '']) {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 't', version: '1' } };
    const response = await session.ask('initialize', params);
    assertTaken(response, sdk.InitializeResultSchema);
    const expected = spoken.includes(protocolVersion) ? protocolVersion : '2025-11-25';
    assert.equal(response.result.protocolVersion, expected);
  }
  assertTaken(await session.ask('initialize'), sdk.InitializeResultSchema);
  assertTaken(await session.ask('ping'), sdk.EmptyResultSchema);
  assertTaken(await session.ask('logging/setLevel', { level: 'debug' }), sdk.EmptyResultSchema);
  const tools = await session.ask('tools/list');
  assertTaken(tools, sdk.ListToolsResultSchema);
  assert.equal(tools.result.tools.length, 5);
});

test('errors', async (t) => {
  const { sandbox, companion } = await openWindow(t);
  const session = await Session.open(sandbox, companion);
  for (const [method, params, code] of [
    ['unknown', {}, -32601],
    ['tools/call', {}, -32602],
    ['tools/call', { name: 1 }, -32602],
    ['initialize', { protocolVersion: 1 }, -32602],
  ]) {
    const response = await session.ask(method, params);
    assertTaken(response, sdk.JSONRPCErrorSchema);
    assert.equal(response.error.code, code);
  }
  const batch = [
    session.message('ping'),
    session.message('unknown'),
    session.message('initialize'),
  ];
  const responses = JSON.parse((await session.post(batch)).body);
  assert.deepEqual(
    responses.map(({ id }) => id),
    batch.map(({ id }) => id),
  );
  assertTaken(responses[0], sdk.EmptyResultSchema);
  for (const response of responses.slice(1)) assertTaken(response, sdk.JSONRPCErrorSchema);
});

test('results and errors of the tools', async (t) => {
  const { sandbox, companion, editor } = await openWindow(t);
  const session = await Session.open(sandbox, companion);
  const filePath = sandbox.file('a.txt');
  const newContent = 'new';
  const call = async (name, args) => {
    const response = await session.ask('tools/call', { name, arguments: args });
    assertTaken(response, sdk.CallToolResultSchema);
    const { isError = false, content } = response.result;
    return [isError, ...content.map(({ text }) => text)];
  };
  const open = () => call('openDiff', { filePath, newContent });
  const good = [
    await open(),
    await call('closeDiff', { filePath }),
    await call('closeDiff', { filePath, suppressNotification: true }),
    await open(),
    await call('acceptDiff', { filePath }),
    await open(),
    await call('rejectDiff', { filePath }),
  ];
  assert.deepEqual(good, [
    [false],
    [false, '{"content":"new"}'],
    [false, '{}'],
    [false],
    [false, 'The diff was accepted.'],
    [false],
    [false, 'The diff was rejected.'],
  ]);

  for (const [name, args, text] of [
    ['openDiff', undefined, /filePath/],
    ['closeDiff', { filePath: '' }, /filePath/],
    // The client does not know this change yet.
    ['acceptDiff', { filePath }, /The diff was rejected/],
    ['acceptDiff', { filePath: `${filePath}.other` }, /No diff is open/],
    ['rejectDiff', { filePath: `${filePath}.other` }, /No diff is open/],
    ['unknown', { filePath }, /Unknown tool: unknown/],
    ['', {}, /Unknown tool/],
  ]) {
    const [isError, message] = await call(name, args);
    assert.equal(isError, true, name);
    assert.match(message, text);
  }
  editor.refusal = 'The editor says no.';
  assert.deepEqual(await open(), [true, 'The editor says no.']);
});

test('notifications, with all that they can have and with as little', async (t) => {
  const { sandbox, companion, editor } = await openWindow(t);
  const session = await Session.open(sandbox, companion);
  const stream = await session.stream();
  const next = async (schema) => {
    const message = await stream.next();
    assertTaken(message, schema);
    return message.params;
  };
  assert.deepEqual(await next(ide.IdeContextNotificationSchema), {
    workspaceState: { openFiles: [] },
  });

  const [active, other] = [sandbox.file('active.txt'), sandbox.file('other.txt')];
  companion.notify('editor/focused', { path: active });
  companion.notify('editor/cursor', { path: active, line: 1, character: 1 });
  companion.notify('editor/selection', { path: active, text: 'text' });
  companion.notify('editor/opened', { path: other });
  companion.notify('workspace/trust', { trusted: false });
  let context;
  do context = await next(ide.IdeContextNotificationSchema);
  while (context.workspaceState.isTrusted !== false);
  const [first, second] = context.workspaceState.openFiles;
  const keys = ['cursor', 'isActive', 'path', 'selectedText', 'timestamp'];
  assert.deepEqual(Object.keys(first).sort(), keys);
  assert.deepEqual(Object.keys(second).sort(), ['path', 'timestamp']);

  for (const content of ['', 'text']) {
    await session.callTool('openDiff', { filePath: active, newContent: '' });
    editor.accept(active, content);
    const accepted = await next(ide.IdeDiffAcceptedNotificationSchema);
    assert.deepEqual(accepted, { filePath: active, content });
  }
  await session.callTool('openDiff', { filePath: active, newContent: '' });
  editor.reject(active);
  const rejected = await next(ide.IdeDiffRejectedNotificationSchema);
  assert.deepEqual(rejected, { filePath: active });
});
