// Tests that an edit is known by the file that the CLI has really written: Gemini CLI corrects the
// paths of its model.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { REASON, open, replace, write } from '../lib/conversation.mjs';
import { edit, hook } from '../lib/hook.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import { propose, startCli } from '../lib/notes.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';
import { openWindow } from '../lib/scene.mjs';

/** The changes of a prompt once it has so many files, as paths in the project and kinds. */
async function changes({ companion, sandbox }, title, count) {
  const { params } = await companion.inbox.next(
    ({ method, params }) =>
      method === 'cli/changed' && params.title === title && params.files.length === count,
  );
  const nameOf = (file) => path.relative(sandbox.project, file);
  const named = params.files.map((file) => [nameOf(file.path), file.kind]);
  return { ...params, named: Object.fromEntries(named) };
}

describe('Gemini CLI', { skip, concurrency: 2 }, () => {
  test('gets the reason for an edit whose path was wrong, and changes the file that it finds', async (t) => {
    const steps = () => [
      replace('foo.txt'),
      'That was all.',
      replace('foo.txt'),
      write('@src/new.txt', 'new\n'),
      'That was the second.',
    ];
    const window = await open(t, { 'src/foo.txt': 'one\ntwo\n' }, steps);
    const { sandbox, companion, editor, terminal, results, asked } = window;
    const file = window.file['src/foo.txt'];
    await terminal.enter('rename it');
    await editor.view(file);
    assert.notEqual(editor.reasons.get(file), 'never');
    editor.reject(file, REASON);
    if (editor.reasons.get(file) === 'nextPrompt') {
      await terminal.shows(/Request cancelled/);
      await terminal.enter('and now');
    }
    await terminal.shows(/That was all\./);
    assert.match([...results(), ...asked()].join('\n'), /the name (<|&lt;)seven/);
    assert.equal(fs.readFileSync(file, 'utf8'), 'one\ntwo\n');

    await terminal.enter('Change it');
    for (const one of [file, path.join(sandbox.project, 'src', 'new.txt')]) {
      await editor.view(one);
      editor.accept(one);
    }
    await terminal.shows(/That was the second\./);
    const { session, prompt, named } = await changes(window, 'Change it', 2);
    assert.deepEqual(named, { 'src/foo.txt': 'changed', 'src/new.txt': 'created' });
    assert.equal(fs.readFileSync(file, 'utf8'), 'one\nTWO\n');
    assert.ok(!fs.existsSync(path.join(sandbox.project, 'foo.txt')));
    const key = { session, prompt, path: file };
    assert.equal((await companion.request('cli/texts', key)).after, 'one\nTWO\n');
  });

  test('changes nothing in the project in its plan mode', async (t) => {
    const steps = () => [write('plan.md', 'the plan\n'), 'That was all.'];
    const options = { mode: 'plan' };
    const window = await open(t, { 'a.txt': 'one\n' }, steps, options);
    await window.terminal.enter('Plan it');
    await window.terminal.shows(/That was all\./);
    await window.companion.caughtUp();
    const sent = window.companion.inbox.takeAll();
    const changed = sent.filter(({ method }) => method === 'cli/changed');
    assert.deepEqual(changed.flatMap(({ params }) => params.files), []);
  });
});

/** A CLI whose tool names one path and writes `written`, as its result says. */
async function correct(window, named, written, { before, after }) {
  const cli = new HookCli(window.sandbox);
  await cli.prompt('Change it');
  const input = { tool_input: { file_path: named, content: after } };
  await cli.before(named, input);
  fs.mkdirSync(path.dirname(written), { recursive: true });
  fs.writeFileSync(written, after);
  const returnDisplay = {
    filePath: written,
    originalContent: before ?? '',
    newContent: after,
    isNewFile: before === undefined,
  };
  return cli.after(named, { ...input, tool_response: { returnDisplay } });
}

describe('an edit is listed', { concurrency: 3 }, () => {
  for (const [how, named, written] of [
    ['with a NUL character in its path', 'fo\0o.txt', 'foo.txt'],
    ['of another folder than the hook’s', 'foo.txt', 'deep/er/foo.txt'],
    ['with a path that is a folder’s', 'src', 'src/foo.txt'],
  ]) {
    test(how, async (t) => {
      const window = await openWindow(t);
      const file = window.sandbox.file(written, 'old\n');
      await correct(window, named, file, { before: 'old\n', after: 'new\n' });
      const { named: listed } = await changes(window, 'Change it', 1);
      assert.deepEqual(listed, { [written]: 'changed' });
    });
  }
});

describe('an edit is not listed', { concurrency: 3 }, () => {
  test('of a file outside of the workspace', async (t) => {
    const window = await openWindow(t);
    const file = path.join(window.sandbox.home, 'plans', 'plan.md');
    await correct(window, 'plan.md', file, { before: undefined, after: 'the plan\n' });
    await assertNoChange(window);
  });

  for (const place of ['project', 'home']) {
    test(`of a file that does not exist, in the ${place}`, async (t) => {
      const window = await openWindow(t);
      const file = path.join(window.sandbox[place], 'absent.txt');
      const cli = new HookCli(window.sandbox);
      await cli.prompt('Change it');
      const returnDisplay = { filePath: file, originalContent: 'planted\n', newContent: 'x\n' };
      // Without the hook before, and with it.
      await cli.after(file, { tool_response: { returnDisplay } });
      await cli.before(file);
      await cli.after(file, { tool_response: { returnDisplay } });
      await assertNoChange(window);
    });
  }

  async function assertNoChange({ companion, sandbox }) {
    // A later change is the only one.
    const marker = sandbox.file('marker', 'old\n');
    await new HookCli(sandbox).write(marker, 'new\n');
    const { params } = await companion.inbox.next(
      ({ method, params }) =>
        method === 'cli/changed' && params.files.some((file) => file.path === marker),
    );
    assert.deepEqual(params.files.map((file) => file.path), [marker]);
  }
});

test('a text that only the CLI has reported can not be written by a revert', async (t) => {
  const window = await openWindow(t);
  const file = window.sandbox.file('a', 'new\n');
  const cli = new HookCli(window.sandbox);
  await cli.prompt('Change it');
  const returnDisplay = { filePath: file, originalContent: 'planted\n', newContent: 'new\n' };
  await cli.after(file, { tool_response: { returnDisplay } });
  const { files } = await changes(window, 'Change it', 1);
  assert.ok(!files[0].revertible || files[0].mixed, 'the user is asked');
});

test('the problems after an edit are those of the file that was written', async (t) => {
  const { sandbox } = await openWindow(t);
  const file = sandbox.file('src/foo.json', '{');
  const tool_response = { returnDisplay: { filePath: file, originalContent: '', newContent: '{' } };
  const { stdout } = await hook(sandbox, 'after-tool', edit('foo.json', { tool_response }));
  assert.match(stdout, /src\/foo\.json:1:1: error: a value is expected/);
});

test('a file that is open by a link is listed once', async (t) => {
  const window = await openWindow(t);
  const { sandbox, companion } = window;
  const file = sandbox.file('target', 'old\n');
  const link = path.join(sandbox.project, 'link');
  fs.symlinkSync(file, link);
  companion.notify('editor/opened', { path: link });
  const cli = new HookCli(sandbox);
  await cli.prompt('Run it');
  await cli.write(file, 'new\n');
  await cli.shell(() => fs.writeFileSync(file, 'newer\n'));
  const { named } = await changes(window, 'Run it', 1);
  assert.deepEqual(named, { target: 'changed' });
  await companion.caughtUp();
  const later = companion.inbox.takeAll().filter(({ method }) => method === 'cli/changed');
  assert.deepEqual(later.filter(({ params }) => params.files.length !== 1), []);
});

test('a percent sign in a name of Qwen Code means itself', async (t) => {
  const window = await openWindow(t);
  const file = window.sandbox.file('a%20b', 'old\n');
  const cli = new HookCli(window.sandbox);
  await cli.run('before-agent', { hook_event_name: 'UserPromptSubmit', prompt: 'Change it' });
  await cli.before(file, { hook_event_name: 'PreToolUse' });
  fs.writeFileSync(file, 'new\n');
  await cli.after(file, { hook_event_name: 'PostToolUse' });
  const { named } = await changes(window, 'Change it', 1);
  assert.deepEqual(named, { 'a%20b': 'changed' });
});

test('the reason about a file outside of the workspace reaches the model', async (t) => {
  const window = await openWindow(t);
  const { sandbox, editor } = window;
  const file = path.join(sandbox.folder('outside'), 'new');
  const cli = await startCli(window, 'a');
  await propose(window, cli, file);
  assert.equal(editor.reasons.get(file), 'nextPrompt');
  editor.reject(file, 'not so');
  await window.companion.caughtUp();
  assert.match(await cli.hooks.prompt('go'), /rejected your last edit of .*outside\/new,.*not so/);
});
