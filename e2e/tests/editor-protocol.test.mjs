// Tests the messages that the editor gets about the companion, and the answers to its mistakes.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { inContainer } from '../lib/container.mjs';
import { UNCHANGED } from '../lib/decision.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { openWindowWithClient } from '../lib/scene.mjs';

test('the first line contains everything for the editor', async (t) => {
  const sandbox = Sandbox.of(t);
  const second = sandbox.folder('second');
  const { ready } = await Companion.start(sandbox, {
    workspace: [sandbox.project, second],
    args: ['--ide-pid', '4711'],
  });
  const { port, authToken } = ready;
  assert.match(authToken, /^[0-9a-f]{64}$/);
  assert.deepEqual(ready, {
    port,
    url: `http://127.0.0.1:${port}/mcp`,
    listening: [`127.0.0.1:${port}`],
    authToken,
    discoveryFiles: {
      gemini: path.join(sandbox.tmp, 'gemini', 'ide', `gemini-ide-server-4711-${port}.json`),
    },
    env: {
      GEMINI_CLI_IDE_SERVER_PORT: String(port),
      GEMINI_CLI_IDE_WORKSPACE_PATH: [sandbox.project, second].join(path.delimiter),
      GEMINI_CLI_IDE_AUTH_TOKEN: authToken,
      GEMINI_CLI_IDE_PID: '4711',
      QWEN_CODE_IDE_SERVER_PORT: String(port),
      QWEN_CODE_IDE_WORKSPACE_PATH: [sandbox.project, second].join(path.delimiter),
      ...(inContainer && { REMOTE_CONTAINERS: '1' }),
    },
  });
});

test('an editor can ask for everything that it shows about the companion', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const { port, listening, discoveryFiles, authToken, env } = companion.ready;
  const file = sandbox.file('.env', 'TOKEN=secret\n');
  companion.notify('editor/focused', { path: file });
  const { params } = await companion.next('companion/private');
  const { tasks, clis, ...status } = await companion.request('companion/status', {});
  assert.equal(typeof tasks, 'number');
  assert.equal(clis.length, 1);
  assert.match(clis[0].version, /^\d+\.\d+\.\d+/);
  assert.deepEqual(clis[0], { ...clis[0], name: 'Gemini CLI', awaitsHook: true });
  assert.deepEqual(status, {
    port,
    listening,
    notListening: [],
    discoveryFiles: [{ client: 'gemini', path: discoveryFiles.gemini, inPlace: true }],
    openDiffs: 0,
    privateFiles: params.reasons,
  });

  assert.deepEqual(await companion.request('companion/environment', {}), { env });
  const other = sandbox.folder('other');
  companion.notify('workspace/folders', { paths: [other] });
  const changed = await companion.request('companion/environment', {});
  assert.deepEqual(changed.env, {
    ...env,
    GEMINI_CLI_IDE_WORKSPACE_PATH: other,
    QWEN_CODE_IDE_WORKSPACE_PATH: other,
  });

  // A later request does not wait for the diagnosis.
  const diagnosis = companion.request('companion/diagnosis', {});
  await companion.request('companion/status', {});
  const { text } = await diagnosis;
  assert.match(text, /Gemini CLI/);
  assert.ok(!text.includes(authToken));
  await client.close();
  await companion.inbox.next(({ method, params }) => method === 'companion/clients' && params.count === 0);
  assert.deepEqual((await companion.request('companion/status', {})).clis, []);
});

test('an invalid line is answered with an error and changes nothing', async (t) => {
  const { sandbox, companion, editor, client } = await openWindowWithClient(t);
  const file = sandbox.file('a.txt');
  companion.notify('editor/focused', { path: file });
  companion.notify('editor/cursor', { path: file, line: 1, character: 1 });
  await client.openFiles(([file]) => file?.cursor);
  const { decision } = await client.propose(editor, file, 'proposed');

  const notification = (method, params) => JSON.stringify({ jsonrpc: '2.0', method, params });
  const cursor = (place) => notification('editor/cursor', { path: file, ...place });
  for (const [line, code, id = null] of [
    ['not JSON, secret', -32700],
    ['{"jsonrpc":"2.0","method":"editor/closed","params":{"path":', -32700],
    ['"secret"', -32600],
    ['{"method":"editor/closed","params":{"path":"/secret"}}', -32600],
    ['{"jsonrpc":"1.0","method":"editor/closed","params":{"path":"/secret"}}', -32600],
    ['[]', -32600],
    [`[${notification('editor/closed', { path: file })}]`, -32600],
    [notification('editor/closed', [file]), -32600],
    [notification('editor/unknown', { path: file }), -32601],
    ['{"jsonrpc":"2.0","id":"seven","method":"editor/closed","params":{}}', -32601, 'seven'],
    ['{"jsonrpc":"2.0","id":7,"method":"tools/list"}', -32601, 7],
    [notification('editor/closed'), -32602],
    [notification('editor/closed', { path: 'secret.txt' }), -32602],
    [notification('editor/closed', { path: '' }), -32602],
    [notification('editor/closed', { path: null }), -32602],
    [notification('editor/renamed', { from: file, to: 'secret.txt' }), -32602],
    [notification('editor/selection', { path: file, text: ['secret'] }), -32602],
    [notification('editor/selection', { path: file, text: 'half \ud83d' }), -32602],
    [cursor({ line: 0, character: 1 }), -32602],
    [cursor({ line: 1, character: 0 }), -32602],
    [cursor({ line: -1, character: 1 }), -32602],
    [cursor({ line: 1.5, character: 1 }), -32602],
    [cursor({ line: '1', character: 1 }), -32602],
    [cursor({ line: 1 }), -32602],
    [cursor({ line: 2 ** 32, character: 1 }), -32602],
    [notification('workspace/folders', { paths: [sandbox.project, 'secret'] }), -32602],
    [notification('workspace/trust', { trusted: 'secret' }), -32602],
    [notification('diff/accepted', { filePath: file }), -32602],
    [notification('diff/accepted', { filePath: file, content: null }), -32602],
    [notification('diff/rejected', {}), -32602],
  ]) {
    companion.sendLine(line);
    const answer = await companion.inbox.next((message) => 'error' in message);
    const { message } = answer.error;
    assert.deepEqual(answer, { jsonrpc: '2.0', id, error: { code, message } }, line);
    assert.doesNotMatch(message, /secret/, 'an error does not quote what may be the user’s text');
  }

  companion.notify('editor/selection', { path: file, text: 'valid' });
  const context = await client.events.context.next();
  const [{ timestamp, ...shown }, ...others] = context.workspaceState.openFiles;
  const cursorThen = { line: 1, character: 1 };
  assert.deepEqual(shown, { path: file, isActive: true, cursor: cursorThen, selectedText: 'valid' });
  assert.deepEqual(others, []);
  assert.ok(!('isTrusted' in context.workspaceState));
  editor.accept(file);
  assert.deepEqual(await decision, UNCHANGED);
});

test('valid messages without content are ignored', async (t) => {
  const { sandbox, companion, client } = await openWindowWithClient(t);
  const file = sandbox.file('a.txt');
  await client.openFiles(() => true);
  for (const line of [
    '',
    '   \t',
    '{"jsonrpc":"2.0","id":4711,"result":{}}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"?"}}',
    '{"jsonrpc":"2.0","method":"diff/rejected","params":{"filePath":"never opened"}}',
    `{"jsonrpc":"2.0","method":"editor/closed","params":{"path":"${file}","more":1}}`,
    `{"jsonrpc":"2.0","method":"editor/cursor","params":{"path":"${file}","line":1,"character":1}}`,
  ]) {
    companion.sendLine(`${line}\r`);
  }
  companion.notify('editor/focused', { path: file });
  await companion.caughtUp();
  const [shown] = await client.openFiles(() => true);
  assert.deepEqual([shown.path, shown.cursor], [file, undefined]);
  const answers = companion.inbox.takeAll().filter((message) => 'error' in message);
  assert.deepEqual(answers, []);
});

test('the log keeps the user’s secrets, even the most talkative one', async (t) => {
  const { sandbox, companion, editor, client } = await openWindowWithClient(t, {
    args: ['--log-level', 'trace'],
  });
  const file = sandbox.file('secret-name.txt');
  companion.notify('editor/focused', { path: file });
  companion.notify('editor/selection', { path: file, text: 'secret-selection' });
  await client.openFiles(([file]) => file?.selectedText);
  const { decision } = await client.propose(editor, file, 'secret-proposal');
  editor.accept(file, 'secret-decision');
  await decision;
  companion.sendLine('{"secret-line"');
  await companion.inbox.next((message) => message.error);
  await client.disconnect();
  await companion.close();
  assert.match(companion.log, /diff \S+ ended/, 'the log is on');
  assert.doesNotMatch(companion.log, /secret/);
  const ours = /^$|^\[\S+ \w+ +(gemini_)?companion/;
  const others = companion.log.split('\n').filter((line) => !ours.test(line));
  assert.deepEqual(others, [], 'libraries have no part in it');
  assert.ok(!companion.log.includes(companion.ready.authToken), 'the token is in the log');
});
