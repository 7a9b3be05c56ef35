// Tests HTTP as other clients speak it: a newer protocol version, and large headers.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import test from 'node:test';

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

/** Sends bytes, and returns the reply. */
async function send({ ready }, text) {
  const socket = net.connect({ port: ready.port, host: '127.0.0.1' });
  let reply = '';
  socket.setEncoding('utf8').on('data', (part) => (reply += part));
  socket.on('error', () => {}); // `close` follows
  socket.write(text);
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
