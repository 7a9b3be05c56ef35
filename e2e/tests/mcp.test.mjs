// Tests `gemini-companion mcp`, which reports the editor's problems to a model.

import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';

import { Bridge, bridgeEnv, byDiscovery } from '../lib/bridge.mjs';
import { Companion } from '../lib/companion.mjs';
import { Editor, problem } from '../lib/editor.mjs';
import { until } from '../lib/inbox.mjs';
import { Mcp } from '../lib/mcp.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { openWindow } from '../lib/scene.mjs';
import { ScriptedCompanion } from '../lib/scripted-companion.mjs';

/** A window, and a model that may ask about it. */
async function openWindowWithModel(t, options, mcp) {
  const window = await openWindow(t, options);
  return { ...window, mcp: await Mcp.start(window.sandbox, mcp) };
}

const BROKEN = '1:1: error: a value is expected [JSON]';

describe('get_diagnostics', { concurrency: 3 }, () => {
  test('is the only tool, and a client sees that it changes nothing', async (t) => {
    const { mcp } = await openWindowWithModel(t);
    const [tool, ...others] = await mcp.tools();
    assert.equal(tool.name, 'get_diagnostics');
    assert.deepEqual(tool.annotations, { readOnlyHint: true, openWorldHint: false });
    assert.deepEqual(others, []);
  });

  test('returns the problems of a file, for any form of its path', async (t) => {
    const { sandbox, mcp } = await openWindowWithModel(t);
    const file = sandbox.file('sub/a.json', '{ "a": }');
    const others = ['sub/a.json', './sub/../sub/a.json', `${sandbox.project}//sub/a.json`];
    for (const name of [file, ...others]) {
      assert.equal(await mcp.ask({ path: name }), `${file}:${BROKEN}`, name);
    }
    const { structuredContent } = await mcp.call({ path: 'sub/a.json' });
    const diagnostics = [problem(1, 'a value is expected')];
    assert.deepEqual(structuredContent, { files: [{ path: file, diagnostics }] });
    sandbox.file('sub/a.json', '{}');
    assert.equal(await mcp.ask({ path: file, severity: 'hint' }), `No problems in ${file}.`);
  });

  test('refuses files outside of the workspace', async (t) => {
    const { sandbox, mcp } = await openWindowWithModel(t);
    for (const name of [path.join(sandbox.home, 'a.json'), '../home/a.json', '/etc/passwd']) {
      assert.match((await mcp.ask({ path: name })).error, /outside of the workspace/, name);
    }
  });

  test('uses the editor that the CLI is connected to, if two have the folder', async (t) => {
    const { sandbox, companion, editor } = await openWindow(t);
    const other = await Companion.start(sandbox);
    new Editor(other).diagnose = () => [problem(1, 'by the other one')];
    editor.diagnose = () => [problem(1, 'by this one')];
    const file = sandbox.file('a.json');
    for (const [{ ready }, whose] of [
      [companion, 'this'],
      [other, 'the other'],
    ]) {
      const mcp = await Mcp.start(sandbox, { env: ready.env });
      assert.equal(await mcp.ask({ path: file }), `${file}:1:1: error: by ${whose} one [JSON]`);
    }
  });

  test('uses the other editor if one of two does not share problems', async (t) => {
    const { sandbox, companion } = await openWindow(t, { args: ['--no-diagnostics'] });
    new Editor(await Companion.start(sandbox));
    const mcp = await Mcp.start(sandbox, { env: companion.ready.env });
    const file = sandbox.file('a.json', '{');
    assert.equal(await mcp.ask({ path: file }), `${file}:${BROKEN}`);
  });

  test('works after an editor’s restart, and returns the reason without an editor', async (t) => {
    const { sandbox, companion, mcp } = await openWindowWithModel(t);
    const file = sandbox.file('a.json', '{');
    assert.equal(await mcp.ask({ path: file }), `${file}:${BROKEN}`);
    await companion.kill();
    const { error } = await mcp.ask({ path: file });
    assert.match(error, /^No editor is connected\. .*nothing listens at 127\.0\.0\.1:/);
    new Editor(await Companion.start(sandbox));
    assert.equal(await mcp.ask({ path: file }), `${file}:${BROKEN}`);
    assert.equal((await mcp.tools()).length, 1, 'it is offered all the time');
  });

  test('uses the CLI’s bridge', async (t) => {
    const { sandbox } = await openWindow(t);
    const args = [...byDiscovery(sandbox), '--map', `/work=${sandbox.project}`];
    const more = ['--wait', '1', '--log-level', 'debug'];
    const mcp = await Mcp.start(sandbox, { env: bridgeEnv(sandbox, [...args, ...more]) });
    const file = sandbox.file('a.json', '{');
    assert.equal(await mcp.ask({ path: '/work/a.json' }), `/work/a.json:${BROKEN}`);
    assert.equal(await mcp.ask({ path: file }), `/work/a.json:${BROKEN}`);
  });

  test('works behind a slow network, as of SSH', async (t) => {
    const { sandbox, companion } = await openWindow(t);
    const proxy = await Proxy.start(sandbox, companion);
    proxy.latency = 260;
    const mcp = await Mcp.start(sandbox, { env: proxy.env });
    const file = sandbox.file('a.json', '{');
    // One question may be late on a busy machine.
    await until('an answer', async () => (await mcp.ask({ path: file })) === `${file}:${BROKEN}`);
  });

  test('does not count as a connected CLI', async (t) => {
    const { sandbox, companion, mcp } = await openWindowWithModel(t);
    await mcp.ask({ path: sandbox.file('a.json') });
    await companion.caughtUp();
    const methods = companion.inbox.takeAll().map(({ method }) => method);
    assert.deepEqual(methods, []);
  });
});

test('invalid messages of a client are answered if possible', async (t) => {
  const mcp = Bridge.start(Sandbox.of(t), ['--log-level', 'off'], 'mcp');
  const batch = '[{"jsonrpc":"2.0","id":1,"method":"ping"}]';
  for (const line of ['?', '[]', batch, '{"jsonrpc":"2.0"}', '{"id":1}']) mcp.sendLine(line);
  assert.deepEqual((await mcp.ask('ping')).result, {});
  assert.equal((await mcp.ask('prompts/list')).error.code, -32601);
  assert.equal((await mcp.ask('tools/call')).error.code, -32602);
  const { capabilities } = (await mcp.ask('initialize', { protocolVersion: 'x' })).result;
  assert.deepEqual(capabilities.tools, { listChanged: true });
  assert.equal(mcp.lines.length, 4);
});

describe('without an editor', { concurrency: 3 }, () => {
  test('a silent program at its port does not delay a CLI', async (t) => {
    const sandbox = Sandbox.of(t);
    const env = (await ScriptedCompanion.start(sandbox)).env(sandbox);
    const mcp = await Mcp.start(sandbox, { env });
    assert.equal((await mcp.tools()).length, 1);
    assert.match((await mcp.ask({})).error, /took the connection but did not answer in time\)$/);
  });

  test('the tool is withdrawn, and announced when an editor can answer', async (t) => {
    const sandbox = Sandbox.of(t);
    const mcp = await Mcp.start(sandbox);
    await mcp.changes.next();
    assert.deepEqual(await mcp.tools(), []);
    await Companion.start(sandbox, { args: ['--no-diagnostics'] });
    new Editor(await Companion.start(sandbox));
    await mcp.changes.next();
    assert.equal((await mcp.tools()).length, 1);
    const file = sandbox.file('a.json', '{');
    assert.equal(await mcp.ask({ path: file }), `${file}:${BROKEN}`);
  });
});
