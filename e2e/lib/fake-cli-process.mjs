// Runs one CLI of `conversation-fuzz.mjs`: its connection to the companion, directly or through a
// bridge, and its hooks. Its parent sends it the steps.

import { Bridge } from './bridge.mjs';
import { Session } from './http.mjs';
import { runHook } from './run-hook.mjs';

const GEMINI = { name: 'streamable-http-client', version: '0.61.0' };
const sandbox = { project: process.cwd(), home: process.env.HOME, defer() {} };

const take = ({ method, params }) => {
  if (/^ide\/diff/.test(method)) process.send({ event: { method, ...params } });
};

/** Passes decisions on until the messages end. */
async function follow(messages) {
  for (;;) take(await messages.next(({ method }) => method));
}

let session;
let stream;
let lastId;
let bridge;

const calls = {
  hook: runHook,

  async connect(ready) {
    session = await Session.open(sandbox, { ready }, GEMINI);
    lastId = undefined;
    await calls.listen(ready);
  },

  /** Opens the stream again, after a restart at `ready`. */
  async listen(ready) {
    await stream?.close();
    lastId = stream?.lastId ?? lastId;
    session.resume({ ready });
    stream = await session.stream(lastId);
    follow(stream.messages).catch(() => {});
  },

  async connectBridge(args) {
    bridge = new Bridge(sandbox, args);
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: GEMINI };
    await bridge.ask('initialize', params);
    bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    (async () => {
      for (;;) {
        const message = await bridge.messages.next(({ method }) => method);
        if (message.method === 'ping') bridge.send({ jsonrpc: '2.0', id: message.id, result: {} });
        else take(message);
      }
    })().catch(() => {});
  },

  async callTool(name, args, id) {
    if (!bridge) return session.callTool(name, args);
    return (await bridge.ask('tools/call', { name, arguments: args }, id)).result;
  },
};

process.on('unhandledRejection', () => {});
process.on('disconnect', async () => {
  await bridge?.close().catch(() => {});
  process.exit();
});
process.on('message', async ({ id, call, args }) => {
  try {
    process.send({ id, value: await calls[call](...args) });
  } catch (error) {
    process.send({ id, error: error.stack });
  }
});
