// Tests `gemini-companion hook`: its report to the model after an edit, and that it never disturbs
// an edit.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { Companion } from '../lib/companion.mjs';
import { Editor, problem } from '../lib/editor.mjs';
import { until } from '../lib/inbox.mjs';
import { NOTHING, beforeEdit, edit, hook } from '../lib/hook.mjs';
import { Proxy } from '../lib/proxy.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { openWindow } from '../lib/scene.mjs';
import { ScriptedCompanion } from '../lib/scripted-companion.mjs';
import { suspend } from '../lib/suspend.mjs';

const BEGINNING = "The user's editor shows these problems after the edit:\n";

/** The context of an answer that adds some. */
function context({ code, stdout, stderr }, event = 'AfterTool') {
  assert.deepEqual([code, stderr], [0, '']);
  const { hookSpecificOutput, ...rest } = JSON.parse(stdout);
  assert.deepEqual([hookSpecificOutput.hookEventName, rest], [event, {}]);
  return hookSpecificOutput.additionalContext;
}

/** Runs the hooks around an edit that causes these problems. */
async function change({ sandbox, editor }, file, diagnostics) {
  assert.deepEqual(await hook(sandbox, 'before-tool', beforeEdit(file)), NOTHING);
  editor.diagnose = () => diagnostics;
  return hook(sandbox, 'after-tool', edit(file));
}

describe('after an edit', { concurrency: 3 }, () => {
  test('without new problems, or without the edit, there is no report', async (t) => {
    const window = await openWindow(t);
    const file = window.sandbox.file('a.json', '{');
    window.editor.diagnose = () => [problem(1, 'old'), problem(2, 'older')];
    assert.deepEqual(await change(window, file, [problem(3, 'older')]), NOTHING);
    window.editor.diagnose = () => [problem(1, 'new')];
    const tool_response = { llmContent: 'no', error: { message: 'no', type: 'file_write_failure' } };
    assert.deepEqual(await hook(window.sandbox, 'after-tool', edit(file, { tool_response })), NOTHING);
  });

  test('problems that the editor reports late, but before the edit, are not new', async (t) => {
    const sandbox = Sandbox.of(t);
    const companion = await Companion.start(sandbox);
    const file = sandbox.file('a.json', '{');
    const answer = async (...diagnostics) => {
      const { id } = await companion.next('editor/diagnostics');
      companion.respond(id, { files: [{ path: file, diagnostics }] });
    };
    assert.deepEqual(await hook(sandbox, 'before-tool', beforeEdit(file)), NOTHING);
    await answer(problem(1, 'old'));
    await companion.caughtUp();
    const after = hook(sandbox, 'after-tool', edit(file));
    await answer(problem(1, 'old'), problem(2, 'new'));
    const expected = `${BEGINNING}${file}:2:1: error: new [JSON]\n${file}: 1 problem was there before.`;
    assert.equal(context(await after), expected);
  });

  test('a path is resolved like in the CLI', async (t) => {
    const { sandbox } = await openWindow(t);
    const file = sandbox.file('sub/a.json', '{');
    const problem = `${BEGINNING}${file}:1:1: error: a value is expected [JSON]`;
    const cwd = path.join(sandbox.project, 'sub');
    const report = await hook(sandbox, 'after-tool', edit('a.json', { cwd }));
    assert.equal(context(report), problem);
    sandbox.file('sub/b.json', '{');
    const dots = await hook(sandbox, 'after-tool', edit('sub/../sub/b.json'));
    assert.equal(context(dots), problem.replace('a.json', 'b.json'));
  });

  test('Qwen Code gets its own name of the event', async (t) => {
    const { sandbox } = await openWindow(t);
    const input = edit(sandbox.file('a.json', '{'), { hook_event_name: 'PostToolUse' });
    const report = await hook(sandbox, 'after-tool', input);
    assert.match(context(report, 'PostToolUse'), /value is expected/);
  });

  test('the console’s encoding does not change the report', async (t) => {
    const window = await openWindow(t);
    const file = window.sandbox.file('ä.json');
    const report = await change(window, file, [problem(1, 'no € <b> 😀')]);
    assert.match(report.stdout, /^[ -~]+$/);
    assert.equal(context(report), `${BEGINNING}${file}:1:1: error: no € <b> 😀 [JSON]`);
  });
});

/** The file that says that the companion at `port` did not answer. */
const mark = (sandbox, port) =>
  path.join(sandbox.home, '.local/state/companion-for-gemini-cli/suspended', String(port));

/** Makes a mark so old that a hook tries again. */
function age(mark) {
  const old = new Date(Date.now() - 11_000);
  fs.utimesSync(mark, old, old);
}

describe('behind a slow network, as of SSH,', { concurrency: 3 }, () => {
  const far = async (t) => {
    const { sandbox, companion } = await openWindow(t);
    const proxy = await Proxy.start(sandbox, companion);
    proxy.latency = 100;
    const input = edit(sandbox.file('a.json', '{'));
    return { sandbox, proxy, run: () => hook(sandbox, 'after-tool', input, { env: proxy.env }) };
  };

  test('one answer that is late does not stop the next hook', async (t) => {
    const { proxy, run } = await far(t);
    proxy.hold('POST');
    assert.deepEqual(await run(), NOTHING);
    assert.match(context(await run()), /a value is expected/);
  });

  test('hooks run again after a longer outage', async (t) => {
    const { sandbox, proxy, run } = await far(t);
    const set = mark(sandbox, proxy.env.GEMINI_CLI_IDE_SERVER_PORT);
    fs.mkdirSync(path.dirname(set), { recursive: true });
    fs.writeFileSync(set, '');
    age(set);
    assert.match(context(await run()), /a value is expected/);
    assert.ok(!fs.existsSync(set));
  });
});

describe('an edit is not disturbed', { concurrency: 3 }, () => {
  const quiet = async (sandbox, input, options) => {
    for (const moment of ['before-tool', 'after-tool']) {
      assert.deepEqual(await hook(sandbox, moment, input, options), NOTHING);
    }
  };

  test('where there is no companion', async (t) => {
    const sandbox = Sandbox.of(t);
    await quiet(sandbox, edit(sandbox.file('a.json', '{')));
  });

  test('by what stdin has, or has not', async (t) => {
    const { sandbox } = await openWindow(t);
    const event = '{"hook_event_name":"AfterTool"}';
    for (const input of ['', 'no JSON', '[]', '{}', '"a"', event, '\0']) {
      await quiet(sandbox, input);
    }
    await quiet(sandbox, edit(7));
    await quiet(sandbox, edit(''));
    await quiet(sandbox, Buffer.from([0xff, 0xfe]));
    await quiet(sandbox, null);
  });

  test('by a file that is none of the workspace', async (t) => {
    const { sandbox } = await openWindow(t);
    const outside = path.join(sandbox.home, 'a.json');
    fs.writeFileSync(outside, '{');
    fs.symlinkSync(outside, path.join(sandbox.project, 'link.json'));
    const dots = ['../home/a.json', 'sub/../../home/a.json', '..'];
    for (const file of [outside, ...dots, 'link.json', '/']) {
      await quiet(sandbox, edit(file));
    }
  });

  test('by an editor that never answers, or refuses', async (t) => {
    const { sandbox, companion } = await openWindow(t);
    const input = edit(sandbox.file('a.json', '{'));
    companion.onRequest(() => {
      throw new Error('no');
    });
    await quiet(sandbox, input);
    companion.onRequest(undefined);
    await quiet(sandbox, input);
  });

  test('by something at the companion’s port that never answers', async (t) => {
    const sandbox = Sandbox.of(t);
    const companion = await ScriptedCompanion.start(sandbox);
    const env = companion.env(sandbox);
    const input = edit(sandbox.file('a.json', '{'));
    await quiet(sandbox, input, { env });
    await quiet(sandbox, input, { env });
    assert.equal(companion.requests.takeAll().length, 1, 'only one hook has tried');
    age(mark(sandbox, companion.port));
    await quiet(sandbox, input, { env });
    assert.equal(companion.requests.takeAll().length, 1, 'one tries again after some time');
  });

  test('by a companion that runs again just before it is marked as suspended', async (t) => {
    const sandbox = Sandbox.of(t);
    const companion = await ScriptedCompanion.start(sandbox);
    companion.isAlive = true;
    const env = companion.env(sandbox);
    const input = edit(sandbox.file('a.json', '{'));
    for (let count = 0; count < 2; count++) {
      assert.deepEqual(await hook(sandbox, 'after-tool', input, { env }), NOTHING);
    }
    assert.equal(companion.requests.takeAll().length, 2, 'the next hook has tried, too');
  });

  test('by a companion that reads a large event slowly', async (t) => {
    const sandbox = Sandbox.of(t);
    const companion = await ScriptedCompanion.start(sandbox);
    const env = companion.env(sandbox);
    const tool_input = { file_path: 'a.json', content: 'x'.repeat(1 << 20) };
    const input = beforeEdit('a.json', { tool_input });
    for (let count = 0; count < 2; count++) {
      assert.deepEqual(await hook(sandbox, 'before-tool', input, { env }), NOTHING);
    }
    assert.equal(companion.requests.takeAll().length, 2, 'the next hook has tried, too');
  });

  test('by a companion that is suspended', async (t) => {
    const { sandbox, companion } = await openWindow(t);
    const file = sandbox.file('a.json', '{');
    const input = edit(file);
    const times = [];
    const timed = async () => {
      const begin = performance.now();
      assert.deepEqual(await hook(sandbox, 'after-tool', input), NOTHING);
      times.push(performance.now() - begin);
    };
    await suspend(companion.pid);
    sandbox.defer(() => companion.signal('SIGCONT'));
    for (let count = 0; count < 10; count++) await timed();
    const [first, ...others] = times;
    assert.ok(first >= 300, `${first}`);
    // The test above counts attempts. A busy machine may delay some of these.
    assert.ok(Math.min(...others) < 300, `${others}`);
    companion.signal('SIGCONT');
    const set = mark(sandbox, companion.ready.port);
    await until('the companion clears its mark', () => !fs.existsSync(set));
    assert.match(context(await hook(sandbox, 'after-tool', input)), /a value is expected/);
  });

  test('by invalid arguments', async (t) => {
    const { sandbox } = await openWindow(t);
    const input = edit(sandbox.file('a.json', '{'));
    await quiet(sandbox, input, { args: ['--workspace', '/no/such/folder'] });
    await quiet(sandbox, input, { args: ['--port', '9', '--token-file', '/no/such/file'] });
  });

  test('by a user who keeps problems private', async (t) => {
    const { sandbox } = await openWindow(t, { args: ['--no-diagnostics'] });
    await quiet(sandbox, edit(sandbox.file('a.json', '{')));
  });

  test('by an editor that restarts between the two moments', async (t) => {
    const { sandbox, companion } = await openWindow(t);
    const file = sandbox.file('a.json', '{');
    const input = edit(file);
    assert.deepEqual(await hook(sandbox, 'before-tool', beforeEdit(file)), NOTHING);
    await companion.kill();
    assert.deepEqual(await hook(sandbox, 'after-tool', input), NOTHING);
    new Editor(await Companion.start(sandbox));
    assert.match(context(await hook(sandbox, 'after-tool', input)), /a value is expected/);
  });
});
