// Tests HTTP as other clients speak it: a newer protocol version, large headers, and a connection
// whose client has sent everything.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import test from 'node:test';

import { Session } from '../lib/http.mjs';
import { within } from '../lib/inbox.mjs';
import { openWindow } from '../lib/scene.mjs';

/** A message with the token, as bytes. `headers` are further lines. */
function bytes({ ready }, message, headers = []) {
  const body = JSON.stringify(message);
  const lines = [
    'POST /mcp HTTP/1.1',
    `host: 127.0.0.1:${ready.port}`,
    `authorization: Bearer ${ready.authToken}`,
    'accept: application/json, text/event-stream',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Sends bytes, and returns the reply. `isHalf` ends the sending direction at once. */
async function send({ ready }, text, isHalf = false) {
  const socket = net.connect({ port: ready.port, host: '127.0.0.1', allowHalfOpen: true });
  let reply = '';
  socket.setEncoding('utf8').on('data', (part) => (reply += part));
  socket.on('end', () => socket.end());
  socket.on('error', () => {}); // `close` follows
  if (isHalf) socket.end(text);
  else socket.write(text);
  await within(once(socket, 'close'), 'the reply');
  return reply;
}

test('a client of a newer protocol falls back to one that the companion knows', async (t) => {
  const { companion } = await openWindow(t);
  const message = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: {} };
  const version = 'mcp-protocol-version: 2026-07-28';
  const reply = await send(companion, bytes(companion, message, [version]));
  const [head, body] = reply.split('\r\n\r\n');
  assert.match(head, /^HTTP\/1\.1 200 /);
  assert.equal(JSON.parse(body).error.code, -32601);
});

test('a proposal of a client that has ended its direction is answered', async (t) => {
  const { sandbox, companion, editor } = await openWindow(t);
  const session = await Session.open(sandbox, companion);
  const file = sandbox.file('a', 'one\n');
  const args = { filePath: file, newContent: 'new\n' };
  const message = session.message('tools/call', { name: 'openDiff', arguments: args });
  const name = `mcp-session-id: ${session.headers['mcp-session-id']}`;
  const reply = send(companion, bytes(companion, message, [name]), true);
  await editor.view(file);
  assert.match(await reply, /^HTTP\/1\.1 200 [^]*"content":\[\]/);
});

test('headers above the documented 32 KB are refused', async (t) => {
  const { companion } = await openWindow(t);
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
  for (const [length, status] of [
    [30, 4], // without a session
    [40, 431],
  ]) {
    const long = `x: ${'x'.repeat(length << 10)}`;
    const reply = await send(companion, bytes(companion, message, [long]));
    assert.ok(reply.startsWith(`HTTP/1.1 ${status}`), reply.slice(0, 40));
  }
});
