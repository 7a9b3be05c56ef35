// Tests that the main model of Qwen Code gets the user's comments, although other models run tools in
// the same session, and although the user cancels a prompt; and that the changes of a subagent are
// listed.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';

import {
  comment,
  commentOf,
  look,
  open as openCli,
  shell,
  untilChecked,
} from '../lib/conversation.mjs';
import { QwenModel } from '../lib/qwen-model.mjs';
import { noTerminal as skip } from '../lib/terminal.mjs';

/** Qwen Code in a terminal, which asks nothing by default. */
async function open(t, options) {
  const model = await QwenModel.start(t);
  const all = { name: 'qwen', yolo: true, ...options };
  const window = await openCli(t, { a: 'one\ntwo\n' }, () => model, all);
  const { companion, terminal } = window;
  let id = 0;
  /** The user comments on the file. */
  const write = async () => {
    id += 1;
    companion.notify('comment/set', comment(window.file.a, `${id}`));
    await untilChecked(window);
  };
  /** How often the model has the newest comment. */
  const count = ({ texts }) => texts.join('\n').split(commentOf(`${id}`)).length - 1;
  /** The user sends a prompt. Returns the request to the model. */
  const ask = async (prompt) => {
    await terminal.enter(prompt);
    return model.next();
  };
  /** The model answers, and the turn ends. */
  const finish = async (request) => {
    request.end('That was all.');
    await companion.next('cli/finished');
  };
  /** The user cancels a prompt that has no answer, and empties the line with it. */
  const cancel = async (prompt) => {
    terminal.press('Escape');
    await terminal.shows(new RegExp(`─\\s*\\n[>*] ${prompt}`));
    terminal.press('C-u');
  };
  return { ...window, model, write, count, ask, finish, cancel };
}

/** Starts a subagent, while the main model waits for the answer to its call. */
async function startSubagent({ model, ask }, subagent_type) {
  const request = await ask('first');
  const args = { description: 'work', prompt: 'work on the file', subagent_type };
  request.end({ name: 'agent', args });
  const [main, subagent] = await Promise.all([model.next(), model.next('subagent')]);
  return { main, subagent };
}

describe('the main model of Qwen Code gets a comment', { skip, concurrency: 2 }, () => {
  test('that the user writes while the CLI looks for memories', async (t) => {
    const window = await open(t, { settings: { memory: { enableManagedAutoDream: false } } });
    const { model, file, write, count, ask, finish } = window;
    await finish(await ask('remember that I prefer tabs'));
    let memory = await model.next('memory');
    await write();
    memory.end(look(file.a));
    memory = await model.next('memory');
    assert.equal(count(memory), 0);
    const next = await ask('and now');
    assert.equal(count(next), 1);

    await write();
    memory.end(look(file.a));
    memory = await model.next('memory');
    assert.equal(count(memory), 0, 'the turn that runs is not that of the memories');
    next.end(look(file.a));
    const last = await model.next();
    assert.equal(count(last), 1);
    memory.end('Nothing to remember.');
    last.end('That was all.');
  });

  test('that the user writes while a subagent runs', async (t) => {
    const window = await open(t);
    const { model, file, write, count } = window;
    const { main, subagent } = await startSubagent(window, 'Explore');
    await write();
    subagent.end(look(file.a));
    const second = await model.next('subagent');
    assert.equal(count(second), 0);
    main.end('I wait for it.');
    assert.equal(count(await model.next()), 1, 'the turn goes on with it');
    second.end('It has two lines.');
  });

  test('of a prompt that the user has cancelled, and each only once', async (t) => {
    const { model, terminal, file, write, count, ask, finish, cancel } = await open(t);
    for (const prompt of ['the first prompt', 'another prompt']) {
      await write();
      assert.equal(count(await ask(prompt)), 1);
      await cancel(prompt);
      const again = await ask('and now');
      assert.equal(count(again), 1, again.texts.join('\n'));
      await finish(again);
      const later = await ask('thanks');
      assert.equal(count(later), 1);
      await finish(later);
    }

    await write();
    const request = await ask('look at it');
    assert.equal(count(request), 1);
    await write();
    request.end(look(file.a));
    assert.equal(count(await model.next()), 1);
    terminal.press('Escape');
    await terminal.shows(/Request cancelled/);
    // The CLI keeps the results in the history.
    assert.equal(count(await ask('and now')), 1);
  });

  test('of a prompt once, although the user has denied a command', async (t) => {
    const { companion, model, terminal, write, count, ask } = await open(t, { yolo: false });
    await write();
    const request = await ask('make it');
    assert.equal(count(request), 1);
    companion.inbox.takeAll();
    request.end(shell('touch made'));
    await companion.next('cli/waiting');
    await terminal.shows(/once/);
    terminal.press('Escape');
    await terminal.shows(/- Shell touch made/);
    assert.equal(count(await ask('and now')), 1);
  });
});

test('a command of a subagent outlives the turn of the main model, and a prompt', { skip }, async (t) => {
  const window = await open(t);
  const { sandbox, companion, model, file, ask } = window;
  companion.notify('editor/focused', { path: file.a });
  const { main, subagent } = await startSubagent(window, 'general-purpose');
  const pipe = path.join(sandbox.root, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const command = shell(`cat ${pipe} >> ${file.a}`);
  subagent.end({ ...command, args: { ...command.args, is_background: false } });
  const begun = (await companion.next('cli/command')).params;
  assert.equal(begun.running, true);
  main.end('I wait for it.');
  await ask('and now');
  await companion.caughtUp();
  const isEnd = ({ method }) => method === 'cli/command';
  assert.ok(!companion.inbox.takeAll().some(isEnd), 'the command runs');

  await fs.writeFile(pipe, 'three\n');
  assert.deepEqual((await companion.next('cli/command')).params, { ...begun, running: false });
  const { files, prompt } = (await companion.next('cli/changed')).params;
  assert.equal(prompt, begun.prompt, 'the subagent works for the prompt in which it began');
  assert.deepEqual(files.map(({ path }) => path), [file.a]);
  (await model.next('subagent')).end('It is done.');
});
