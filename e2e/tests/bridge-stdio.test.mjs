// Tests `gemini-companion bridge` byte by byte: on its stdin and stdout, and on the wire.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Bridge, byDiscovery, byPort } from '../lib/bridge.mjs';
import { Companion } from '../lib/companion.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { ScriptedCompanion } from '../lib/scripted-companion.mjs';

const INITIALIZE =
  '{"id" : 0.0, "method":"initialize", "jsonrpc":"2.0","params":{"protocolVersion":"2025-06-18","capabilities":{"x":1e2},"clientInfo":{"name":"é","version":"1"}}}';
const READY = '{"method":"notifications/initialized","jsonrpc":"2.0", "params":{"_meta":{}}}';

/** Starts a bridge; the test is the client and the companion. */
async function openBothEnds(t, args = []) {
  const sandbox = Sandbox.of(t);
  const companion = await ScriptedCompanion.start(sandbox);
  const bridge = Bridge.start(sandbox, [...byPort(sandbox, companion.port, 'the-secret'), ...args]);
  bridge.sendLine(INITIALIZE);
  bridge.messages.next().then(() => bridge.sendLine(READY));
  return { sandbox, bridge, companion, ...(await companion.begin()) };
}

const openDiff = (id, filePath) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'openDiff', arguments: { newContent: filePath, filePath } },
  });

const closeDiff = (id, filePath) => openDiff(id, filePath).replace('openDiff', 'closeDiff');

const answer = (id, result = { content: [] }) => JSON.stringify({ jsonrpc: '2.0', id, result });

const data = (message) => `data: ${JSON.stringify(message)}\n\n`;

/** Takes the next request, opens the view that it asks for, and returns its body. */
async function view(companion) {
  const request = await companion.requests.next();
  const body = JSON.parse(request.body);
  request.reply(200, {}, answer(body.id));
  return body;
}

describe('a bridge', { concurrency: 3 }, () => {
  test('begins as the client does, and sends nothing before the client is ready', async (t) => {
    const { bridge, initialize, ready, stream } = await openBothEnds(t);
    assert.equal(initialize.body, INITIALIZE);
    assert.equal(initialize.headers.authorization, 'Bearer the-secret');
    assert.equal(ready.body, READY);
    assert.equal(ready.headers['mcp-session-id'], 'session-1');
    assert.equal(stream.headers['mcp-session-id'], 'session-1');
    assert.equal(stream.headers['mcp-protocol-version'], '2025-06-18');
    assert.equal(stream.headers['last-event-id'], undefined);
    assert.match(bridge.lines[0], /^\{"jsonrpc":"2\.0","id":0,"result":\{"protocolVersion"/);

    bridge.sendLine(INITIALIZE);
    const { error } = await bridge.messages.next();
    assert.match(error.message, /has begun already/);
  });

  test('changes no byte of a message that has no path', async (t) => {
    const { bridge, companion, stream } = await openBothEnds(t, ['--map', '/a=/b']);
    for (const line of [
      '{"jsonrpc":"2.0", "id":"\\u0031","method":"x/y","params":{"filePath":"/a/1","n":1.50}}',
      '{"jsonrpc":"2.0","id":-7,"method":"tools/call","params":{"name":"other","arguments":{"filePath":"/a"}}}',
    ]) {
      bridge.sendLine(`  ${line}\r`);
      const request = await companion.requests.next();
      assert.equal(request.body, line);
      const { id } = JSON.parse(line);
      const text = `{ "jsonrpc":"2.0","id":${JSON.stringify(id)}, "result":{"path":"/b","e":1E1}}`;
      request.reply(200, {}, text);
      await bridge.messages.next((message) => message.id === id);
      assert.equal(bridge.lines.at(-1), text);
    }
    const text = '{"params":{"filePath":"/b/\\u00e9","x":[1.0]},"jsonrpc":"2.0","method":"other"}';
    stream.write(`id: 1\ndata: ${text}\n\n`);
    await bridge.next('other');
    assert.equal(bridge.lines.at(-1), text);
    stream.write(`data: ${'{"jsonrpc":"2.0","id":"s","method":"ping"}'}\n\n`);
    await bridge.next('ping');
    bridge.sendLine('{"jsonrpc":"2.0","id":"s","result":{ }}');
    assert.equal((await companion.requests.next()).body, '{"jsonrpc":"2.0","id":"s","result":{ }}');
  });

  test('answers each request, even if the companion fails', async (t) => {
    const { bridge, companion } = await openBothEnds(t);
    for (const [reply, expected] of [
      [[500, {}, 'what'], /answered 500/],
      [[413, {}, '{"error":{"code":-32000,"message":"too large"}}'], /answered 413: too large/],
      [[200, {}, 'no JSON'], /ended without an answer/],
      [[200, {}, '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}'], /without an answer/],
      [[202], /ended without an answer/],
    ]) {
      // The bridge repeats a call without side effects if its answer breaks off.
      const result = bridge.ask('tools/call', { name: 'other' });
      (await companion.requests.next()).reply(...reply);
      const { error } = await result;
      assert.match(error.message, expected);
      assert.equal(error.code, -32000);
    }
    assert.ok(bridge.lines.every((line) => line.startsWith('{"jsonrpc":"2.0",')));
  });

  test('skips lines that are not messages, and goes on', async (t) => {
    const { bridge, companion } = await openBothEnds(t);
    for (const line of ['', 'nonsense', '[]', '{"jsonrpc":"2.0"}', '\u{0}']) bridge.sendLine(line);
    const result = bridge.ask('tools/call', { name: 'other' });
    (await companion.requests.next()).reply(500, {}, 'what');
    const { id } = await result;
    assert.deepEqual(bridge.lines.slice(1).map((line) => JSON.parse(line).id), [id], 'it answers no such line');
  });

  test('ends with its client also while it waits for a companion', async (t) => {
    const sandbox = Sandbox.of(t);
    const bridge = Bridge.start(sandbox, [...byDiscovery(sandbox), '--wait', '60']);
    bridge.sendLine(INITIALIZE);
    assert.equal(await bridge.close(), 0);
  });

  test('ends its session when the client ends, by the end of stdin or by a signal', async (t) => {
    for (const end of [(bridge) => bridge.close(), (bridge) => bridge.signal('SIGTERM')]) {
      const { bridge, companion } = await openBothEnds(t);
      end(bridge);
      const request = await companion.requests.next();
      assert.equal(request.method, 'DELETE');
      assert.equal(request.headers['mcp-session-id'], 'session-1');
      request.reply(204);
      assert.equal(await bridge.exited(), 0);
    }
  });

  for (const [name, prepare, reason] of [
    [
      'no companion has the folder open',
      async (sandbox) => {
        await Companion.start(sandbox, { workspace: [sandbox.folder('elsewhere')] });
        return byDiscovery(sandbox);
      },
      /no editor has \S+project open, only \S+elsewhere/,
    ],
    ['nothing listens', (sandbox) => byPort(sandbox, 1, 'x'), /nothing listens at 127\.0\.0\.1:1\b/],
    [
      'nothing listens at an IPv6 address with brackets',
      (sandbox) => ['--host', '[::1]', ...byPort(sandbox, 1, 'x').slice(2)],
      /nothing listens at \[::1\]:1$|\[::1\]:1 can't be reached/m,
    ],
    [
      'the token is wrong',
      async (sandbox) => {
        const { ready } = await Companion.start(sandbox);
        return byPort(sandbox, ready.port, 'another-secret');
      },
      /127\.0\.0\.1:\d+ refused the token/,
    ],
  ]) {
    test(`reports to the client and to the user when ${name}`, async (t) => {
      const sandbox = Sandbox.of(t);
      const bridge = Bridge.start(sandbox, [...(await prepare(sandbox)), '--wait', '0']);
      const { error } = await bridge.begin();
      assert.match(error.message, reason);
      await bridge.close();
      assert.match(bridge.log, reason);
      assert.doesNotMatch(bridge.log + error.message, /another-secret/);
    });
  }

  test('starts a new session when the old one has ended, and rejects the lost diffs', async (t) => {
    const { bridge, companion } = await openBothEnds(t, ['--map', '/here=/there']);
    bridge.sendLine(openDiff(1, '/here/a'));
    assert.equal((await view(companion)).params.arguments.filePath, '/there/a');
    await bridge.messages.next(({ id }) => id === 1);
    companion.forget();
    bridge.sendLine(openDiff(2, '/here/b'));
    (await companion.requests.next()).reply(404);

    const { initialize, ready, stream } = await companion.begin();
    assert.deepEqual([initialize.body, ready.body], [INITIALIZE, READY]);
    assert.equal(stream.headers['mcp-session-id'], 'session-2');
    assert.equal(stream.headers['last-event-id'], undefined);
    assert.equal((await view(companion)).id, 2);
    await bridge.messages.next(({ id }) => id === 2);
    const rejected = bridge.messages.takeAll().map(({ params }) => params);
    assert.deepEqual(rejected, [{ filePath: '/here/a' }]);
  });

  test('resumes its session after an outage, and closes the diffs that the client abandoned', async (t) => {
    const maps = ['--map', '/here=/there', '--wait', '3'];
    const { bridge, companion, stream } = await openBothEnds(t, maps);
    stream.write(`id: 7\n${data({ jsonrpc: '2.0', method: 'm' })}`);
    await bridge.next('m');
    stream.end();
    const second = await companion.streams.next();
    assert.equal(second.headers['last-event-id'], '7');
    second.write(data({ jsonrpc: '2.0', method: 'without an id' }));
    await bridge.next('without an id');
    for (const [id, path] of ['/here/a', '/here/b', '/here/c'].entries()) {
      bridge.sendLine(openDiff(id, path));
      await view(companion);
      await bridge.messages.next((message) => message.id === id);
    }

    await companion.stop();
    const { params } = await bridge.next('ide/contextUpdate');
    assert.deepEqual(params, { workspaceState: { openFiles: [] } });
    const { error } = await bridge.ask('ping');
    assert.match(error.message, /^No companion can be reached: /);
    // The user decides in the terminal: the client uses its own text, and proposes another one.
    bridge.sendLine(closeDiff(3, '/here/a'));
    assert.ok((await bridge.messages.next(({ id }) => id === 3)).error);
    bridge.sendLine(openDiff(4, '/here/b'));
    assert.deepEqual(await bridge.messages.next(), JSON.parse(answer(4)));

    await companion.listen();
    const { headers, write } = await companion.streams.next();
    assert.deepEqual([headers['mcp-session-id'], headers['last-event-id']], ['session-1', '7']);
    const closings = [await companion.requests.next(), await companion.requests.next()];
    const calls = closings.map(({ body }) => JSON.parse(body).params);
    assert.deepEqual(
      calls.map((call) => [call.name, call.arguments]).sort(),
      ['/there/a', '/there/b'].map((filePath) => ['closeDiff', { filePath }]),
      'the editor keeps their texts, which nobody takes',
    );
    const result = bridge.ask('ping');
    for (const filePath of ['/there/a', '/there/b', '/there/c']) {
      const params = { filePath, content: 'decided meanwhile' };
      write(data({ jsonrpc: '2.0', method: 'ide/diffAccepted', params }));
    }
    const message = await bridge.messages.next();
    assert.equal(message.params.filePath, '/here/c', 'of the others the client has received an end');
    for (const { reply } of closings) reply(200, {}, answer(0));
    (await companion.requests.next()).reply(200, {}, answer('ping', {}));
    assert.deepEqual((await result).result, {});
    assert.deepEqual(bridge.messages.takeAll(), [], 'the client did not ask for that closeDiff');
  });

  test('resumes its first session after it has started another one', async (t) => {
    const { bridge, companion, stream } = await openBothEnds(t, ['--wait', '1']);
    bridge.sendLine(openDiff(1, '/a'));
    await view(companion);
    await bridge.messages.next(({ id }) => id === 1);
    companion.breaksStreams = true;
    stream.end();
    const initialized = companion.initialize();
    initialized.then(() => (companion.breaksStreams = false));
    await initialized;
    const { headers, write } = await companion.streams.next();
    assert.equal(headers['mcp-session-id'], 'session-1');
    const ended = await companion.requests.next();
    assert.deepEqual([ended.method, ended.headers['mcp-session-id']], ['DELETE', 'session-2']);
    ended.reply(200);
    const params = { filePath: '/a', content: 'decided meanwhile' };
    write(data({ jsonrpc: '2.0', method: 'ide/diffAccepted', params }));
    const end = await bridge.messages.next(({ method }) => method.startsWith('ide/diff'));
    assert.deepEqual(end.params, params, 'and no rejection before');
  });

  /** A client whose openDiff reached the companion, but whose answer was lost. */
  async function loseAnswer(t) {
    const ends = await openBothEnds(t, ['--wait', '1']);
    ends.bridge.sendLine(openDiff(1, '/a'));
    await ends.companion.requests.next();
    await ends.companion.stop();
    const message = await ends.bridge.messages.next(({ id }) => id === 1);
    assert.deepEqual(message.result, { content: [] }, 'it is for the terminal');
    return ends;
  }

  test('sends the decision about a diff whose answer was lost', async (t) => {
    const { bridge, companion } = await loseAnswer(t);
    await companion.listen();
    const { write } = await companion.streams.next();
    const params = { filePath: '/a', content: 'decided meanwhile' };
    write(data({ jsonrpc: '2.0', method: 'ide/diffAccepted', params }));
    assert.deepEqual((await bridge.next('ide/diffAccepted')).params, params);
  });

  test('repeats the close of an abandoned diff until the companion acknowledges it', async (t) => {
    const { bridge, companion } = await loseAnswer(t);
    bridge.sendLine(closeDiff(2, '/a'));
    assert.ok((await bridge.messages.next(({ id }) => id === 2)).error);
    for (const isAnswered of [false, true]) {
      await companion.listen();
      const { write } = await companion.streams.next();
      const closing = await companion.requests.next();
      const { name, arguments: args } = JSON.parse(closing.body).params;
      assert.deepEqual([name, args], ['closeDiff', { filePath: '/a' }]);
      write(data({ jsonrpc: '2.0', id: 'p', method: 'ping' }));
      await bridge.next('ping');
      bridge.sendLine(answer('p', {}));
      const pong = await companion.requests.next();
      assert.equal(pong.body, answer('p', {}), 'by which the companion knows what has arrived');
      pong.reply(202);
      if (isAnswered) closing.reply(200, {}, answer(0));
      else await companion.stop();
    }
    bridge.sendLine(openDiff(3, '/a'));
    assert.equal((await view(companion)).id, 3);
    await bridge.messages.next(({ id }) => id === 3);
    await companion.stop();
    await companion.listen();
    (await companion.streams.next()).write(data({ jsonrpc: '2.0', method: 'm' }));
    await bridge.next('m');
    const asked = bridge.ask('ping');
    const next = await companion.requests.next();
    assert.equal(JSON.parse(next.body).method, 'ping', 'the next diff is not closed');
    next.reply(200, {}, answer('ping', {}));
    await asked;
  });

  test('sends the decision about a diff even if an earlier one could not be closed', async (t) => {
    const { bridge, companion } = await openBothEnds(t, ['--wait', '1']);
    bridge.sendLine(openDiff(1, '/a'));
    await view(companion);
    await bridge.messages.next(({ id }) => id === 1);
    // The user answers in the terminal; the editor is too slow, and the client goes on without its
    // text.
    bridge.sendLine(closeDiff(2, '/a'));
    const text = 'The editor did not answer in time.';
    (await companion.requests.next()).reply(200, {}, answer(2, { content: [{ type: 'text', text }], isError: true }));
    await bridge.messages.next(({ id }) => id === 2);
    // The next proposal for the file arrives and shows, and then the connection is lost for a
    // while.
    bridge.sendLine(openDiff(3, '/a'));
    await companion.requests.next();
    await companion.stop();
    const message = await bridge.messages.next(({ id }) => id === 3);
    assert.deepEqual(message.result, { content: [] });
    await companion.listen();
    const { write } = await companion.streams.next();
    const params = { filePath: '/a', content: 'decided meanwhile' };
    write(data({ jsonrpc: '2.0', method: 'ide/diffAccepted', params }));
    assert.deepEqual((await bridge.next('ide/diffAccepted')).params, params);
  });

  test('repeats an unanswered request after the stream was renewed', async (t) => {
    const { bridge, companion, stream } = await openBothEnds(t);
    bridge.sendLine(closeDiff(1, '/a'));
    const first = await companion.requests.next();
    assert.equal(first.headers['companion-repeated'], undefined);
    stream.end();
    await companion.streams.next();
    const second = await companion.requests.next();
    assert.equal(second.headers['companion-repeated'], 'true');
    assert.equal(second.body, first.body);
    second.reply(200, {}, answer(1, { content: [{ type: 'text', text: '{}' }] }));
    await bridge.messages.next(({ id }) => id === 1);
  });

  test('lets the CLI continue immediately when the user decides in the terminal', async (t) => {
    const { bridge, companion } = await openBothEnds(t, ['--wait', '3600']);
    await companion.stop();
    bridge.sendLine(openDiff(1, '/a'));
    bridge.sendLine(closeDiff(2, '/a'));
    assert.deepEqual((await bridge.messages.next()).result, { content: [] });
    const closed = await bridge.messages.next();
    assert.deepEqual(closed.result, { content: [{ type: 'text', text: '{}' }] });
    bridge.sendLine(openDiff(3, '/a'));
    await companion.listen();
    assert.equal((await view(companion)).id, 3, 'the first one is not shown any more');
  });

  test('sends the calls about a path one after the other', async (t) => {
    const { bridge, companion } = await openBothEnds(t);
    bridge.sendLine(openDiff(1, '/a'));
    const first = await companion.requests.next();
    bridge.sendLine(closeDiff(2, '/a'));
    bridge.sendLine(openDiff(3, '/b'));
    const other = await companion.requests.next();
    assert.equal(JSON.parse(other.body).id, 3);
    first.reply(200, {}, answer(1));
    assert.equal(JSON.parse((await companion.requests.next()).body).id, 2);
  });
});
