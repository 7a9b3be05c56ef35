// Tests the companion with the MCP project's own client libraries, 1.x and 2.x, by the revisions with a
// handshake.

import assert from 'node:assert/strict';
import test from 'node:test';

import * as second from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';

import { Inbox } from '../lib/inbox.mjs';
import { openWindow } from '../lib/scene.mjs';

const libraries = {
  'SDK 1.x': { Client, StreamableHTTPClientTransport },
  'client 2.x': second,
};

/** Connects a client; `notifications` has its messages. */
async function connect({ sandbox, companion }, library) {
  const { url, authToken } = companion.ready;
  const client = new library.Client({ name: 'test', version: '1' });
  const notifications = new Inbox('a notification');
  const errors = [];
  client.fallbackNotificationHandler = async (notification) => notifications.push(notification);
  client.onerror = (error) => errors.push(error);
  const transport = new library.StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${authToken}` } },
    // Its timer would outlive the test by 20 s.
    reconnectionOptions: { maxRetries: 0 },
  });
  sandbox.defer(() => client.close());
  await client.connect(transport);
  return { client, transport, notifications, errors };
}

for (const [name, library] of Object.entries(libraries)) {
  test(`${name} connects, calls tools, gets notifications, and ends its session`, async (t) => {
    const window = await openWindow(t);
    const { sandbox, editor } = window;
    const { client, transport, notifications, errors } = await connect(window, library);
    assert.equal(client.getServerVersion().title, 'Companion for Gemini CLI');
    assert.deepEqual(await client.ping(), {});
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map((tool) => tool.name),
      ['openDiff', 'closeDiff', 'acceptDiff', 'rejectDiff', 'getDiagnostics'],
    );
    assert.equal((await notifications.next()).method, 'ide/contextUpdate');

    const filePath = sandbox.file('a.txt');
    const call = (name, args) => client.callTool({ name, arguments: { filePath, ...args } });
    assert.deepEqual((await call('openDiff', { newContent: 'first' })).content, []);
    editor.accept(filePath, 'changed');
    const { method, params } = await notifications.next();
    assert.deepEqual([method, params], ['ide/diffAccepted', { filePath, content: 'changed' }]);

    await call('openDiff', { newContent: 'second' });
    const { content } = await call('closeDiff', { suppressNotification: true });
    assert.deepEqual(content, [{ type: 'text', text: '{"content":"second"}' }]);
    assert.equal((await call('openDiff')).isError, true);
    assert.equal((await call('unknown')).isError, true);
    await assert.rejects(client.request({ method: 'unknown' }, ResultSchema), { code: -32601 });
    assert.deepEqual(errors, []);

    await transport.terminateSession();
    assert.equal(transport.sessionId, undefined);
  });
}

test('SDK 1.x resumes its stream and gets the missed messages once', async (t) => {
  const window = await openWindow(t);
  const { sandbox, companion, editor } = window;
  const { client, transport, notifications } = await connect(window, libraries['SDK 1.x']);
  assert.equal((await notifications.next()).method, 'ide/contextUpdate');

  const ids = new Inbox('an event id');
  const resume = async (lastEventId) => {
    await transport.resumeStream(lastEventId, { onresumptiontoken: (id) => ids.push(id) });
    assert.equal((await notifications.next()).method, 'ide/contextUpdate');
    return ids.next();
  };
  const filePath = sandbox.file('a.txt');
  const beforeDecision = await resume('of-another-server');
  await client.callTool({ name: 'openDiff', arguments: { filePath, newContent: '' } });
  editor.reject(filePath);
  assert.equal((await notifications.next()).method, 'ide/diffRejected');
  await ids.next();

  await resume(beforeDecision);
  assert.equal((await notifications.next()).method, 'ide/diffRejected');
  await resume(await ids.next());
  companion.notify('editor/focused', { path: filePath });
  assert.equal((await notifications.next()).method, 'ide/contextUpdate');
});
