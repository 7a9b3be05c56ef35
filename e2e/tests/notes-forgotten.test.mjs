// Tests that a model gets a note although it had no use of the first delivery: Gemini CLI takes a turn
// that the user cancels, or that fails, out of its model's history, and of a tool that fails the model
// gets the error alone.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  comment,
  commentsOf,
  look,
  open as openCli,
  replace,
  untilChecked,
} from '../lib/conversation.mjs';
import { GeminiModel } from '../lib/gemini-model.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import { until } from '../lib/inbox.mjs';
import { comment as saved, commentOn, commentsIn, firstNote, isSaved } from '../lib/notes.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';
import { Window } from '../lib/window.mjs';

const NO_ANSWER = '[no response text]';

/** A window with the comment `1` on a file, and a CLI whose hooks the test runs. */
async function open(t) {
  const window = await Window.open(t);
  const file = window.sandbox.file('a', 'one\n');
  await saved(window, commentOn(file, 1));
  const cli = new HookCli(window.sandbox);
  return { window, file, cli };
}

describe('a comment', { concurrency: 3 }, () => {
  test('that waits again does so after a restart', async (t) => {
    const { window, cli } = await open(t);
    assert.deepEqual(commentsIn(await cli.prompt('go')), ['1']);
    await cli.end({ prompt_response: NO_ANSWER });
    await until('it is saved', () => isSaved(window, 'remark 1'));
    await window.kill();
    await window.start();
    assert.deepEqual(commentsIn(await firstNote(cli)), ['1']);
  });
});

/** Gemini CLI in a terminal. */
async function openGemini(t, options) {
  const model = await GeminiModel.start(t);
  const window = await openCli(t, { a: 'one\ntwo\n' }, () => model, options);
  const { companion, editor, terminal, file } = window;
  let id = 0;
  /** The user comments on the file. */
  const write = async () => {
    id += 1;
    companion.notify('comment/set', comment(file.a, `${id}`));
    await untilChecked(window);
  };
  /** The model has the newest comments once. */
  const assertIn = ({ texts }, count = 1) => {
    const comments = Array.from({ length: count }, (_, index) => `${id - count + index + 1}`);
    const text = texts.join('\n');
    assert.equal(text.split(commentsOf(comments)).length, 2, text);
  };
  /** The user cancels the turn, and the CLI has run its hooks. */
  const cancel = async () => {
    terminal.press('Escape');
    await terminal.shows(/Request cancelled/);
    await companion.next('comment/pending');
    await companion.next('cli/finished');
    companion.inbox.takeAll();
    terminal.press('C-u'); // the CLI offers the prompt again
  };
  /** The model answers with an edit, which the user rejects. */
  const rejectEdit = async (request) => {
    request.end(replace(file.a));
    await editor.view(file.a);
    editor.reject(file.a);
    await terminal.shows(/Request cancelled/);
  };
  /** The model answers, and the turn ends. */
  const finish = async (request) => {
    request.end(`That was ${id}.`);
    await terminal.shows(`That was ${id}.`);
    await companion.next('cli/finished');
    companion.inbox.takeAll();
  };
  /** The user sends another prompt, and the model has the newest comment once. */
  const isInNext = async () => {
    await terminal.enter(`and now ${id}`);
    const next = await model.next();
    assertIn(next);
    await finish(next);
  };
  return { ...window, model, write, assertIn, cancel, rejectEdit, finish, isInNext };
}

describe('the model of Gemini CLI gets a comment', { skip, concurrency: 2 }, () => {
  test('of the first prompt, an answer and a prompt that the user has ended', async (t) => {
    const { terminal, model, write, assertIn, cancel, rejectEdit, isInNext } = await openGemini(t);
    await write();
    await terminal.enter('the first prompt');
    assertIn(await model.next());
    await cancel();
    await isInNext();

    await terminal.enter('an answer');
    const answer = await model.next();
    answer.say('I see two lines');
    await terminal.shows('I see two lines');
    await write();
    await cancel();
    await isInNext();

    await write();
    await terminal.enter('a prompt');
    const request = await model.next();
    assertIn(request);
    await rejectEdit(request);
    await isInNext();
  });

  test('with a prompt whose command the user has denied', async (t) => {
    const window = await openGemini(t);
    const { terminal, model, write, assertIn, finish, isInNext } = window;
    await terminal.enter('the first prompt');
    await finish(await model.next());
    await write();
    await terminal.enter('a command');
    const request = await model.next();
    assertIn(request);
    request.end({ name: 'run_shell_command', args: { command: 'rm -r x' } });
    await terminal.shows(/Allow execution/);
    terminal.press('Escape');
    await terminal.shows(/Request cancelled/);
    await isInNext();
  });

  test('of the prompt and the one that the turn goes on with', async (t) => {
    const window = await openGemini(t);
    const { terminal, model, write, assertIn, cancel, rejectEdit, finish } = window;
    await terminal.enter('the first prompt');
    await finish(await model.next());
    for (const [index, end] of [rejectEdit, cancel].entries()) {
      await write();
      await terminal.enter(`prompt ${index}`);
      const request = await model.next();
      assertIn(request);
      await write();
      request.end('I see.');
      const goingOn = await model.next();
      assertIn(goingOn);
      await end(goingOn);
      await terminal.enter(`and now ${index}`);
      const next = await model.next();
      assertIn(next, 2);
      await finish(next);
    }
  });

  test('that the user writes while a subagent ends', async (t) => {
    const window = await openGemini(t, { yolo: true });
    const { terminal, model, write, assertIn, finish } = window;
    await terminal.enter('the first prompt');
    const call = { agent_name: 'generalist', prompt: 'do it' };
    (await model.next()).end({ name: 'invoke_agent', args: call });
    const subagent = await model.next();
    await write();
    subagent.end({ name: 'complete_task', args: { result: { response: 'It is done.' } } });
    const request = await model.next();
    assertIn(request);
    await finish(request);
  });

  test('of the first prompt once and of a result, although the user has rejected an edit, or a tool has failed', async (t) => {
    const window = await openGemini(t);
    const { terminal, model, file, write, assertIn, rejectEdit, finish, isInNext } = window;
    await write();
    await terminal.enter('the first prompt');
    const first = await model.next();
    assertIn(first);
    await rejectEdit(first);
    await isInNext();

    await terminal.enter('a result');
    const request = await model.next();
    await write();
    request.end(look(file.a));
    const second = await model.next();
    assertIn(second);
    await rejectEdit(second);
    await isInNext();

    await terminal.enter('a tool that fails');
    const third = await model.next();
    await write();
    third.end(look(`${file.a}-missing`));
    (await model.next()).end(look(file.a));
    const last = await model.next();
    assertIn(last);
    await finish(last);
  });
});
