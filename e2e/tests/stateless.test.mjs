// Tests the MCP revision without handshake and sessions, 2026-07-28, with the MCP project's client.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { Companion } from '../lib/companion.mjs';
import { Editor } from '../lib/editor.mjs';
import { Inbox } from '../lib/inbox.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { openWindow } from '../lib/scene.mjs';

const REVISION = '2026-07-28';
const CONTEXT = 'companion://context';

/** Connects a client that has only this revision; `posted` has its methods. */
async function connect({ sandbox, companion }, { name = 'test', mode = { pin: REVISION } } = {}) {
  const { url, authToken } = companion.ready;
  const posted = [];
  const client = new Client({ name, version: '1' }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: (to, init) => {
      if (init.method === 'POST') posted.push(JSON.parse(init.body).method);
      return fetch(to, init);
    },
    requestInit: { headers: { authorization: `Bearer ${authToken}` } },
    reconnectionOptions: { maxRetries: 0 },
  });
  sandbox.defer(() => client.close());
  await client.connect(transport);
  const call = (tool, args, options) => client.callTool({ name: tool, arguments: args }, options);
  return { client, transport, posted, call };
}

async function openWindowWithClient(t, options) {
  const window = await openWindow(t, options);
  return { ...window, ...(await connect(window)) };
}

/** Posts a message with these headers, and returns the status and the answer. */
async function post({ companion }, message, headers = {}) {
  const { url, authToken } = companion.ready;
  const { method, params } = message;
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    headers: {
      authorization: `Bearer ${authToken}`,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      ...(method && { 'mcp-method': method }),
      ...((params?.name ?? params?.uri) && { 'mcp-name': params.name ?? params.uri }),
      ...headers,
    },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, ...(text && JSON.parse(text)) };
}

const meta = (revision = REVISION) => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': {},
  },
});

test('a client without handshake finds the tools and reviews edits', async (t) => {
  const { sandbox, editor, client, transport, posted, call } = await openWindowWithClient(t);
  assert.equal(client.getNegotiatedProtocolVersion(), REVISION);
  assert.equal(client.getServerVersion().title, 'Companion for Gemini CLI');
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  assert.deepEqual(names, ['openDiff', 'acceptDiff', 'rejectDiff', 'getDiagnostics']);

  const filePath = sandbox.file('a.txt', 'old\n');
  const accepted = call('openDiff', { filePath, newContent: 'new\n' });
  assert.equal((await editor.view(filePath)).newContent, 'new\n');
  assert.equal(editor.reasons.get(filePath), 'never');
  editor.accept(filePath, 'changed\n');
  const { structuredContent } = await accepted;
  assert.deepEqual(structuredContent, { decision: 'accepted', content: 'changed\n' });

  const rejected = call('openDiff', { filePath, newContent: 'new\n' });
  await editor.view(filePath);
  editor.reject(filePath);
  assert.deepEqual((await rejected).structuredContent, { decision: 'rejected' });
  assert.equal(transport.sessionId, undefined);
  assert.ok(!posted.includes('initialize'));
});

test('a cancelled call withdraws its proposal', async (t) => {
  const window = await openWindowWithClient(t);
  const { sandbox, companion, editor, call } = window;
  const filePath = sandbox.file('a.txt');
  const cancel = new AbortController();
  const opened = call('openDiff', { filePath, newContent: 'new\n' }, { signal: cancel.signal });
  await editor.view(filePath);
  assert.equal((await companion.next('companion/clients')).params.count, 1);
  cancel.abort();
  await assert.rejects(opened);
  await editor.closed.next();
  assert.equal((await companion.next('companion/clients')).params.count, 0);
});

test('a call is cancelled while its proposal opens', async (t) => {
  const { sandbox, companion, call } = await openWindowWithClient(t);
  const filePath = sandbox.file('a.txt');
  const cancel = new AbortController();
  companion.onRequest(undefined);
  const opened = call('openDiff', { filePath, newContent: 'new\n' }, { signal: cancel.signal });
  const { id } = await companion.next('diff/open');
  cancel.abort();
  await assert.rejects(opened);
  companion.respond(id, {});
  const { params } = await companion.next('diff/close');
  assert.deepEqual(params, { filePath, abandoned: true });
});

test('wrong arguments are a result that the model reads', async (t) => {
  const { editor, call, sandbox } = await openWindowWithClient(t);
  const filePath = sandbox.file('a.txt');
  for (const [tool, args, text] of [
    ['openDiff', { filePath: 'a.txt', newContent: '' }, /filePath/],
    ['openDiff', { filePath }, /newContent is missing/],
    ['closeDiff', { filePath }, /Unknown tool: closeDiff/],
    ['größer', {}, /Unknown tool/],
  ]) {
    const { content, isError } = await call(tool, args);
    assert.ok(isError, tool);
    assert.match(content[0].text, text);
  }
  editor.refusal = 'The disk is full.';
  const { content } = await call('openDiff', { filePath, newContent: '' });
  assert.match(content[0].text, /The disk is full/);
});

test('a client reads the context, and is notified of its changes', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const updates = new Inbox('an update');
  client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
    updates.push(params.uri),
  );
  const { resources } = await client.listResources();
  assert.deepEqual(
    resources.map(({ uri }) => uri),
    [CONTEXT],
  );
  assert.deepEqual((await client.listResourceTemplates()).resourceTemplates, []);
  const subscription = await client.listen({ resourceSubscriptions: [CONTEXT, 'x://y'] });
  assert.deepEqual(subscription.honoredFilter, { resourceSubscriptions: [CONTEXT] });
  await updates.next();

  const path = sandbox.file('a.txt', 'text\n');
  companion.notify('editor/focused', { path });
  assert.equal(await updates.next(), CONTEXT);
  const read = async (uri) => JSON.parse((await client.readResource({ uri })).contents[0].text);
  const [file] = (await read(CONTEXT)).workspaceState.openFiles;
  assert.deepEqual([file.path, file.isActive], [path, true]);
  await assert.rejects(read('x://y'), { code: -32602 });

  await companion.next('companion/clients');
  await subscription.close();
  assert.equal((await companion.next('companion/clients')).params.count, 0);
});

test('the end of the companion answers what waits', async (t) => {
  const { sandbox, companion, editor, client, call } = await openWindowWithClient(t);
  const subscription = await client.listen({});
  assert.deepEqual(subscription.honoredFilter, {});
  const filePath = sandbox.file('a.txt');
  const opened = call('openDiff', { filePath, newContent: 'new\n' });
  await editor.view(filePath);
  companion.closeStdin();
  await assert.rejects(opened, { message: 'The proposal has ended without a decision of the user.' });
  assert.equal(await subscription.closed, 'graceful');
  assert.equal(await companion.exited(), 0);
});

test('the next companion expects no client without a session', async (t) => {
  const sandbox = Sandbox.of(t);
  const options = { args: ['--resume'] };
  const first = await Companion.start(sandbox, options);
  const editor = new Editor(first);
  const { call } = await connect({ sandbox, companion: first });
  const filePath = sandbox.file('a.txt');
  const quit = new AbortController();
  const opened = call('openDiff', { filePath, newContent: 'new\n' }, { signal: quit.signal });
  await editor.view(filePath);
  const broken = assert.rejects(opened);
  await first.kill();
  // If the answer had begun, the SDK waits for its rest without end.
  quit.abort();
  await broken;
  const second = await Companion.start(sandbox, { args: ['--resume', '--log-level', 'info'] });
  await second.logged(/clients wait for 0/);
  const again = (await connect({ sandbox, companion: second })).call;
  const { isError, content } = await again('acceptDiff', { filePath });
  assert.deepEqual([isError, content[0].text], [true, 'No diff is open for this filePath.']);
});

test('a client of both kinds takes this one; a CLI takes the handshake', async (t) => {
  const window = await openWindow(t);
  const generic = await connect(window, { mode: 'auto' });
  assert.equal(generic.client.getNegotiatedProtocolVersion(), REVISION);
  const cli = await connect(window, { mode: 'auto', name: 'streamable-http-client' });
  assert.deepEqual(cli.posted.slice(0, 2), ['server/discover', 'initialize']);
  assert.equal(cli.client.getNegotiatedProtocolVersion(), '2025-11-25');
});

test('a wrong request gets the error of the revision', async (t) => {
  const window = await openWindow(t);
  const list = { method: 'tools/list', params: meta() };
  for (const [message, headers, status, code] of [
    [list, { 'mcp-method': 'tools/call' }, 400, -32020],
    [{ method: 'tools/list', params: meta('2027-01-01') }, {}, 400, -32020],
    [{ method: 'tools/list', params: {} }, {}, 400, -32602],
    [{ method: 'tools/list' }, {}, 400, -32602],
    [{ method: 'ping', params: meta() }, {}, 404, -32601],
    [
      { method: 'tools/call', params: { ...meta(), name: 'openDiff' } },
      { 'mcp-name': 'x' },
      400,
      -32020,
    ],
    [list, { 'mcp-protocol-version': '1900-01-01' }, 400, -32022],
    [{ method: undefined, result: {} }, {}, 400, -32600],
  ]) {
    const answer = await post(window, message, headers);
    assert.deepEqual([answer.status, answer.error.code], [status, code], JSON.stringify(answer));
    if (code === -32022) assert.equal(answer.error.data.supported[0], REVISION);
  }
  const notified = await post(window, { id: undefined, method: 'notifications/x', params: meta() });
  assert.equal(notified.status, 202);
  const { result, headers } = await post(window, list);
  assert.deepEqual([result.resultType, result.cacheScope], ['complete', 'private']);
  assert.equal(headers.get('mcp-session-id'), null);
});
