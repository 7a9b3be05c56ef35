// Tests which sessions the hooks of the real CLIs name, and which process runs the hooks: a session
// changes while the process and its connection stay.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

import { write } from '../lib/conversation.mjs';
import { BY, prepareCli, startCli } from '../lib/extension.mjs';
import { HookRecorder } from '../lib/hook-recorder.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { openWindow } from '../lib/scene.mjs';
import { Terminal, noTerminal as skip } from '../lib/terminal.mjs';

/** A connected CLI at its prompt, whose hooks are recorded. */
async function open(t, name, steps) {
  const window = await openWindow(t);
  const recorder = new HookRecorder(window.sandbox, name);
  const { env } = window.companion.ready;
  const options = { env, by: BY.nothing, review: true };
  const { terminal } = await startCli(window.sandbox, name, steps, options);
  await window.companion.next('companion/clients');
  const start = await recorder.next('SessionStart');
  return { ...window, recorder, terminal, start };
}

/** Sends a prompt, waits for the answer, and returns the session that the hooks name. */
async function prompt({ terminal, recorder }, text, moments) {
  await terminal.enter(text);
  const [before, after] = [await recorder.next(moments[0]), await recorder.next(moments[1])];
  assert.equal(before.event.session_id, after.event.session_id);
  return after.event.session_id;
}

/** Asserts that all hooks ran below the same process of the CLI, with a shell between. */
function assertOneProcess({ recorder }, program) {
  const of = recorder.all().map(({ ancestors: [shell, cli] }) => {
    assert.equal(shell.parent, cli.pid);
    assert.ok(cli.args.some((arg) => path.basename(arg) === program), cli.args.join(' '));
    return `${cli.pid} ${cli.start}`;
  });
  assert.equal(new Set(of).size, 1, of.join());
}

/** Asserts that the companion has had one connection all the time. */
async function assertOneConnection({ companion }) {
  await companion.caughtUp();
  const methods = companion.inbox.takeAll().map(({ method }) => method);
  assert.ok(!methods.includes('companion/clients'), methods.join());
}

const namesOf = ({ recorder }) =>
  recorder.all().map(({ event }) => [event.hook_event_name, event.source ?? event.reason]);

/** Begins a second session, and returns its id. */
async function clear(window, first, moments) {
  const { terminal, recorder } = window;
  await terminal.enter('/clear');
  // Qwen Code does not wait for the first, so they come in any order.
  const [end, again] = [await recorder.next('SessionEnd'), await recorder.next('SessionStart')];
  assert.deepEqual([end.event.reason, end.event.session_id], ['clear', first]);
  assert.equal(again.event.source, 'clear');
  // Until then the CLI loses keys.
  await terminal.shows(/^(?![^]*one\.)[^]*Type your message/);
  const second = await prompt(window, 'again', moments);
  assert.notEqual(second, first);
  assert.equal(again.event.session_id, second);
  return second;
}

/** Selects the second of the sessions that a CLI lists. */
async function resumeSecond({ terminal }, first, second) {
  await terminal.enter('/resume');
  await terminal.shows(first);
  terminal.press('Down');
  await terminal.shows(second);
  await terminal.submit();
  await terminal.shows(/Type your message/);
}

describe('a session of Gemini CLI', { skip, concurrency: 2 }, () => {
  const PROMPT = ['BeforeAgent', 'AfterAgent'];

  test('changes with /clear and /resume, not with /chat resume', async (t) => {
    const window = await open(t, 'gemini', ['one.', 'two.', 'three.', 'four.']);
    const { terminal, recorder, start } = window;
    assert.equal(start.event.source, 'startup');
    const first = await prompt(window, 'hello', PROMPT);
    assert.equal(first, start.event.session_id);
    await terminal.enter('/chat save tag');
    await terminal.shows(/Conversation checkpoint saved/i);

    const second = await clear(window, first, PROMPT);

    terminal.send('/chat resume tag');
    await terminal.shows(/^ tag$/m); // before that, Enter would choose from another list
    await terminal.submit();
    await terminal.shows(/one\./);
    assert.equal(await prompt(window, 'third', PROMPT), second);

    // No hook announces that the first session is back.
    await resumeSecond(window, /❯ #1 /, /❯ #2 /);
    assert.equal(await prompt(window, 'fourth', PROMPT), first);
    const session = namesOf(window).filter(([name]) => name.startsWith('Session'));
    const names = ['SessionStart', 'SessionEnd', 'SessionStart'];
    assert.deepEqual(session.map(([name]) => name), names);
    assertOneProcess(window, 'gemini.js');
    await assertOneConnection(window);

    await terminal.enter('/quit');
    await recorder.next('SessionEnd');
    // The CLI runs this hook twice.
    const exit = await recorder.next('SessionEnd');
    assert.deepEqual([exit.event.reason, exit.event.session_id], ['exit', first]);
    assert.deepEqual((await window.companion.next('companion/clients')).params, { count: 0 });
  });

  test('goes on in another process with --resume', async (t) => {
    const sandbox = Sandbox.of(t);
    const recorder = new HookRecorder(sandbox, 'gemini');
    const { command, env } = await prepareCli(sandbox, 'gemini', ['one.'], { by: BY.nothing });
    const twice = ['sh', '-c', '"$@"; exec "$@" --resume -i again', 'sh', ...command];
    const terminal = new Terminal(sandbox, twice, { cwd: sandbox.project, env });
    await terminal.shows(/Type your message/);
    const start = await recorder.next('SessionStart');
    const first = await prompt({ terminal, recorder }, 'hello', PROMPT);
    await terminal.enter('/quit');
    const { event, ancestors } = await recorder.next('SessionStart');
    assert.deepEqual([event.source, event.session_id], ['resume', first]);
    assert.notEqual(ancestors[1].pid, start.ancestors[1].pid);
    assert.equal((await recorder.next('BeforeAgent')).event.session_id, first);
  });

  test('is one for a prompt on the command line, and for a subagent', async (t) => {
    const sandbox = Sandbox.of(t);
    const recorder = new HookRecorder(sandbox, 'gemini');
    const file = sandbox.file('a.txt', 'old\n');
    const steps = [
      { name: 'invoke_agent', args: { agent_name: 'generalist', prompt: 'write it' } },
      write(file, 'new\n'),
      { name: 'complete_task', args: { result: { response: 'done' } } },
      'That was all.',
    ];
    const { command, env } = await prepareCli(sandbox, 'gemini', steps, {
      by: BY.nothing,
      yolo: true,
    });
    const [program, ...args] = command;
    const run = promisify(execFile)(program, [...args, '-p', 'go'], {
      cwd: sandbox.project,
      env: sandbox.env(env),
    });
    run.child.stdin.end();
    const { stdout } = await run;
    assert.match(stdout, /That was all\./);
    const tools = recorder.all().map(({ event }) => [event.hook_event_name, event.tool_name]);
    assert.deepEqual(tools, [
      ['SessionStart', undefined],
      ['BeforeAgent', undefined],
      ['BeforeTool', 'invoke_agent'],
      ['BeforeTool', 'write_file'],
      ['AfterTool', 'write_file'],
      ['BeforeTool', 'complete_task'],
      ['AfterTool', 'complete_task'],
      ['AfterTool', 'invoke_agent'],
      ['AfterAgent', undefined],
      ['SessionEnd', undefined],
    ]);
    assert.equal(new Set(recorder.all().map(({ event }) => event.session_id)).size, 1);
    assertOneProcess({ recorder }, 'gemini.js');
  });
});

describe('a session of Qwen Code', { skip, concurrency: 2 }, () => {
  const PROMPT = ['UserPromptSubmit', 'Stop'];

  test('changes with /clear and /resume', async (t) => {
    const window = await open(t, 'qwen', ['one.', 'two.', 'three.']);
    const { terminal, recorder, start } = window;
    assert.equal(start.event.source, 'startup');
    const first = await prompt(window, 'hello', PROMPT);
    assert.equal(first, start.event.session_id);

    await clear(window, first, PROMPT);

    await resumeSecond(window, /› again/, /› hello/);
    const resumed = await recorder.next('SessionStart');
    assert.deepEqual([resumed.event.source, resumed.event.session_id], ['resume', first]);
    assert.equal(await prompt(window, 'third', PROMPT), first);
    assert.equal(recorder.of('SessionEnd').length, 1, 'the second session did not end');
    assertOneProcess(window, 'cli.js');
    await assertOneConnection(window);

    await terminal.enter('/quit');
    const exit = await recorder.next('SessionEnd');
    assert.deepEqual([exit.event.reason, exit.event.session_id], ['prompt_input_exit', first]);
  });
});
