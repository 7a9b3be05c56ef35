// Tests the conversation around an edit in Neovim, with the real Gemini CLI in Neovim's terminal: the
// reason of a rejection, unsaved files, the review of every edit, and the notifications to the user.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { inPlaceOfResult, read, replace, shell, withPrompt } from '../lib/conversation.mjs';
import { REJECTED, accepted } from '../lib/decision.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import { beforeEdit } from '../lib/hook.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { TERMINAL, goTo, openNeovimWithCli } from '../lib/neovim-cli.mjs';
import { noNeovim as skip, openNeovim, openNeovimWithClient, openProposal } from '../lib/neovim.mjs';

const PROGRAM = process.env.GEMINI_COMPANION;
const REASON = 'Use the name seven, please.';

/** Collects the data of the plugin's events in `_G.events`, by the event. */
const WITH_EVENTS = `_G.events = {}
  for _, name in ipairs({ 'GeminiCompanionWaiting', 'GeminiCompanionAnswered', 'GeminiCompanionFinished' }) do
    vim.api.nvim_create_autocmd('User', { pattern = name, callback = function(event)
      _G.events[name] = event.data
    end })
  end`;

/** Setup with the program in a shell that reports each answer as one of so many seconds. */
const setupWithAnswers = (seconds, options = '') =>
  `{ ${options} cmd = { 'sh', '-c', [["$0" "$@" | sed -u 's/"seconds":[0-9]*/"seconds":${seconds}/']],
     [[${PROGRAM}]] } }`;

/** Neovim with Gemini CLI in a terminal, see `openNeovimWithCli`. The plugin's events are collected. */
const open = (t, files, steps, { init = '', ...options } = {}) =>
  openNeovimWithCli(t, files, steps, { ...options, init: `${WITH_EVENTS}\n${init}` });

/** Waits until the last line of the screen has this text. */
const asks = (neovim, text) =>
  neovim.until(
    `(function(text)
       local cells = {}
       for column = 1, vim.o.columns do
         table.insert(cells, vim.fn.screenstring(vim.o.lines, column))
       end
       return table.concat(cells):find(text, 1, true)
     end)(...)`,
    text,
  );

const NOW = 'Reason (the CLI gets it and goes on): ';
const NEXT_PROMPT = 'Reason (the CLI gets it with your next prompt): ';

describe('a rejection with a reason', { skip, concurrency: 2 }, () => {
  test('reaches the model at once, and the turn goes on', async (t) => {
    const files = { a: 'one\ntwo\n', b: 'one\ntwo\n', c: 'one\ntwo\n' };
    const steps = ({ a, b, c }) => [[replace(a), replace(b), replace(c)], 'That was all.'];
    const window = await open(t, files, steps);
    const { neovim, cli, results, file } = window;
    await cli.enter('rename it');
    await goTo(window, file.a);
    const words = 'Proposal by the CLI (:w accepts, :q rejects, \\c says why)';
    assert.ok((await neovim.bars()).includes(words));
    await neovim.type('\\c');
    await asks(neovim, NOW);
    await neovim.type(`${REASON}<CR>`);
    await neovim.proposalBehind(file.b);
    assert.match(await neovim.messages(), /the CLI gets the reason and goes on: a$/m);
    const ok = await neovim.lua(`return require('gemini_companion').reject(...)`, file.b, REASON);
    assert.equal(ok, true);
    await goTo(window, file.c);
    await neovim.type(':w<CR>');
    await cli.shows('That was all.');
    const expected = [file.a, file.b].map((path) => inPlaceOfResult(path, REASON));
    assert.deepEqual(results().slice(0, 2), expected);
    assert.deepEqual(Object.values(file).map(read), [files.a, files.b, 'one\nTWO\n']);
    assert.doesNotMatch(await neovim.log(), /seven/);
  });

  test('reaches the model with the next prompt where it can not at once', async (t) => {
    const files = { mixed: 'one\r\ntwo\n', changed: 'one\ntwo\n' };
    const steps = (file) => [replace(file.mixed), replace(file.changed), 'That was all.'];
    const window = await open(t, files, steps);
    const { neovim, cli, asked, file } = window;
    await cli.enter('first');
    await goTo(window, file.mixed);
    for (const answer of ['<CR>', '  <CR>', `${REASON}<Esc>`]) {
      await neovim.type('\\c');
      await asks(neovim, NEXT_PROMPT);
      await neovim.type(answer);
      assert.equal((await neovim.ready()).proposals, 1, `${answer} rejects nothing`);
    }
    await cli.run(`reject ${REASON}`);
    await cli.shows('Request cancelled');
    const message = /the CLI gets the reason with your next prompt: mixed$/m;
    assert.match(await neovim.messages(), message);
    assert.equal(read(file.mixed), files.mixed);

    await cli.enter('second');
    await goTo(window, file.changed);
    fs.writeFileSync(file.changed, 'zero\none\ntwo\n');
    await neovim.type('\\c');
    await asks(neovim, NEXT_PROMPT);
    await neovim.type(`${REASON}<CR>`);
    // Until then the CLI takes no text.
    await neovim.until(`select(2, ${TERMINAL}:gsub('Request cancelled', '')) >= 2`);
    await cli.enter('third');
    await cli.shows('That was all.');
    assert.ok(asked().at(-2).endsWith(`second${withPrompt('mixed', REASON)}`), asked().at(-2));
    // The CLI has taken the second prompt out of the model's history, with the reason in it.
    const reasons = ['mixed', 'changed'].map((name) => withPrompt(name, REASON).replace(/<.?hook_context>/g, ''));
    assert.equal(asked().at(-1), `third<hook_context>${reasons.join('\n\n')}</hook_context>`);
    assert.equal(read(file.changed), 'zero\none\ntwo\n');
  });

  test('keeps the user’s text', async (t) => {
    const { sandbox, neovim, client } = await openNeovimWithClient(t);
    const file = sandbox.file('a', 'two\n');
    await client.hook('before-tool', beforeEdit(file));
    const { decision } = await client.propose(neovim, file, 'TWO\n');
    await neovim.type('ccmine<Esc>');
    const words = 'Proposal, edited (:w accepts, :q! rejects, \\c says why)';
    assert.ok((await neovim.bars()).includes(words));
    await neovim.lua(`vim.o.columns = 108 vim.cmd('wincmd =')`);
    await neovim.until(`vim.wo.winbar:find('says why') and not vim.wo.winbar:find('edited')`);
    await neovim.type(`\\c${REASON}<CR>`);
    assert.deepEqual(await decision, accepted('two\n'), 'the file’s own text');
    const kept = await neovim.lua(
      `return vim.tbl_filter(function(buffer)
         return vim.fn.getbufline(buffer, 1)[1] == 'mine'
       end, vim.api.nvim_list_bufs())`,
    );
    assert.equal(kept.length, 1);
  });

  test('is impossible where the model can not get it', async (t) => {
    const { sandbox, neovim, client } = await openNeovimWithClient(t);
    const file = sandbox.file('a.txt', 'old\n');
    const secret = sandbox.file('a.hid', 'old\n');
    sandbox.file('.aiexclude', '*.hid\n');
    const reject = `return { require('gemini_companion').reject(nil, ...) }`;
    const cause = (why) => `the model can't get a reason: ${why}`;
    const extension = cause('its CLI is not known (see gemini-companion doctor)');
    for (const [path, before, why] of [
      [file, '', extension],
      [secret, '', cause('the file is private')],
      [file, 'GeminiCompanion share off', cause('sharing with CLIs is off')],
    ]) {
      const { decision } = await client.propose(neovim, path, 'new\n');
      assert.match((await neovim.bars())[1], /\(:w accepts, :q rejects\)$/);
      await neovim.command('messages clear', before);
      await neovim.type('\\c');
      await neovim.until(`vim.endswith(vim.fn.execute('messages'), ...)`, `GeminiCompanion: ${why}`);
      await neovim.command('messages clear');
      await neovim.type(`:GeminiCompanion reject ${REASON}<CR>`);
      assert.ok((await neovim.messages()).endsWith(`GeminiCompanion: ${why}`));
      assert.deepEqual(await neovim.lua(reject, REASON), [false, why]);
      assert.equal((await neovim.ready()).proposals, 1);
      await neovim.type(':GeminiCompanion reject<CR>');
      assert.deepEqual(await decision, REJECTED);
    }
  });

  test('is impossible for a proposal that opened while nothing was shared', async (t) => {
    const { sandbox, neovim, client } = await openNeovimWithClient(t);
    const file = sandbox.file('a.txt', 'old\n');
    await client.hook('before-tool', beforeEdit(file));
    await neovim.command('GeminiCompanion share off');
    const { decision } = await client.propose(neovim, file, 'new\n');
    await neovim.command('GeminiCompanion share on');
    const reject = `return { require('gemini_companion').reject(nil, ...) }`;
    const why = "the model can't get a reason: sharing with CLIs was off when this proposal opened";
    assert.deepEqual(await neovim.lua(reject, REASON), [false, why]);
    await neovim.command('GeminiCompanion share off');
    await neovim.restart();
    await neovim.until(`vim.wo.winbar:find(':w accepts')`);
    await neovim.command('GeminiCompanion share on');
    assert.deepEqual(await neovim.lua(reject, REASON), [false, why]);
    await neovim.type(':q<CR>');
    assert.deepEqual(await decision, REJECTED);
  });

  test('is not sent if its proposal ends or changes during the question', async (t) => {
    // As plugins do that ask in a floating window.
    const init = `vim.ui.input = function(options, answer)
      _G.prompt, _G.default, _G.answer = options.prompt, options.default, answer
    end`;
    const { sandbox, neovim, client } = await openNeovimWithClient(t, { init });
    const other = await IdeClient.connect(sandbox);
    const [a, b] = ['a', 'b'].map((name) => sandbox.file(name, 'old\n'));
    const propose = async (by, path, content) => {
      await by.hook('before-tool', beforeEdit(path));
      return { decision: by.openDiff(path, content) };
    };
    const ask = async (path) => {
      await neovim.view(path);
      await neovim.lua('_G.prompt = nil');
      await neovim.type('\\c');
      return neovim.until('_G.prompt');
    };
    const answer = async () => {
      await neovim.command('messages clear');
      await neovim.lua('_G.answer(...)', REASON);
      return neovim.messages();
    };
    const ended = /^GeminiCompanion: the proposal has ended, so nothing is rejected$/m;
    const first = await propose(client, a, 'first\n');
    assert.equal(await ask(a), NOW);
    const second = await propose(other, a, 'second\n');
    assert.deepEqual(await first.decision, REJECTED);
    await neovim.until(`vim.fn.getline(1) == 'second'`);
    assert.match(await answer(), ended);
    await neovim.seen();
    await neovim.type(':w<CR>');
    assert.equal((await second.decision).status, 'accepted');

    const third = await propose(client, b, 'third\n');
    assert.equal(await ask(b), NOW);
    await client.resolveDiffFromCli(b, 'rejected');
    assert.deepEqual(await third.decision, REJECTED);
    await neovim.until(`require('gemini_companion').status().proposals == 0`);
    assert.match(await answer(), ended);
    await propose(client, b, 'fourth\n');
    await ask(b);
    assert.equal(await neovim.lua('return _G.default'), REASON, 'the next question offers it');
    await answer();
    await propose(client, b, 'fifth\n');
    await ask(b);
    assert.equal(await neovim.lua('return _G.default'), null, 'it is sent by now');
    for (const why of ['one', 'two']) {
      await neovim.lua(`require('gemini_companion.reason').on_lost({ filePath = '/x', reason = ..., why = '' })`, why);
    }
    for (const why of ['one', 'two']) {
      await propose(client, b, `${why}\n`);
      await ask(b);
      assert.equal(await neovim.lua('return _G.default'), why, 'each question offers one');
      await answer();
    }
  });

  test('is not taken for the name of a file, nor the name for a reason', async (t) => {
    const { sandbox, neovim, decision } = await openProposal(t);
    sandbox.file('README');
    for (const name of ['nosuch.txt', 'src/nosuch', 'README']) {
      await neovim.type(`:GeminiCompanion reject ${name}<CR>`);
      const messages = await neovim.messages();
      assert.ok(messages.endsWith(`GeminiCompanion: no proposal is open for ${name}`), messages);
    }
    await neovim.type(':GeminiCompanion reject a.txt is wrong<CR>');
    assert.match(await neovim.messages(), /the model can't get a reason/);
    assert.equal((await neovim.ready()).proposals, 1);
    await neovim.type(':GeminiCompanion reject a.txt<CR>');
    assert.deepEqual(await decision, REJECTED);
  });
});

test('the bar shows the user’s own key', { skip }, async (t) => {
  const init = `vim.g.maplocalleader = ' '`;
  const { sandbox, neovim, client } = await openNeovimWithClient(t, { options: `mappings = { reason = '<LocalLeader>%' }`, init });
  const file = sandbox.file('a', 'two\n');
  await client.hook('before-tool', beforeEdit(file));
  const { decision } = await client.propose(neovim, file, 'TWO\n');
  assert.match((await neovim.bars())[1], /, <Space>% says why\)$/);
  await neovim.type(' %');
  await asks(neovim, NOW);
  await neovim.type('<Esc>:q<CR>');
  assert.deepEqual(await decision, REJECTED);
});

test('the model learns which files are not saved', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const names = ['a', 'b', 'c.hid'];
  const [a, b, hidden] = names.map((name) => sandbox.file(name, 'one\n'));
  sandbox.file('.aiexclude', '*.hid\n');
  for (const path of [a, b, hidden, `${sandbox.project}/new`]) {
    await neovim.edit(path);
    await neovim.type('onew<Esc>');
  }
  await neovim.command('enew', 'file other://server/file');
  await neovim.type('onew<Esc>');
  await neovim.command(`buffer ${b}`, 'write');
  const cli = new HookCli(sandbox);
  const note =
    'These files have changes in the user\'s editor that are not saved, so the disk has an older text: ';
  assert.equal(await cli.prompt('first'), `${note}a, new`);
  await neovim.command('silent! wall');
  assert.equal(await cli.prompt('second'), '');
});

describe('a user who is elsewhere', { skip, concurrency: 2 }, () => {
  const steps = () => [shell('touch made'), 'That was all.', 'That was all again.'];
  const event = (neovim, name) => neovim.until(`_G.events[...]`, name);
  const WAITS = /the CLI asks in its terminal: .*(touch|shell)/i;
  const FINISHED = /the CLI has finished after 1 min 15 s/;

  /** Enters a prompt and leaves the terminal at once. */
  async function enterAndLeave({ neovim, cli }, text) {
    await cli.enter(text);
    await neovim.type('<C-\\><C-n>:1tabnext<CR>');
  }

  /** Allows the command, with the focus in the terminal. */
  async function allow({ neovim, cli }) {
    await cli.shows('Allow once');
    await neovim.type(':2tabnext<CR>i<CR>');
  }

  test('is notified that the CLI asks something, and that it has finished', async (t) => {
    const setup = setupWithAnswers(75);
    const window = await open(t, {}, steps, { setup });
    const { neovim, cli } = window;
    await enterAndLeave(window, 'make it');
    const { session, message, seen } = await event(neovim, 'GeminiCompanionWaiting');
    assert.match(message, /touch|shell/i);
    assert.equal(seen, false);
    assert.match(await neovim.messages(), WAITS);
    assert.doesNotMatch(await neovim.log(), /touch/, 'the question may contain secrets');

    await allow(window);
    await cli.shows('That was all.');
    assert.deepEqual(await event(neovim, 'GeminiCompanionAnswered'), { session });
    assert.deepEqual(await event(neovim, 'GeminiCompanionFinished'), { session, seconds: 75, seen: true });
    assert.doesNotMatch(await neovim.messages(), FINISHED, 'the user sees the terminal');

    await neovim.lua('_G.events = {}');
    await neovim.command('doautocmd FocusLost');
    await cli.enter('again');
    assert.deepEqual(await event(neovim, 'GeminiCompanionFinished'), { session, seconds: 75, seen: false });
    assert.match(await neovim.messages(), FINISHED, 'Neovim has no focus');
  });

  test('is not notified of short answers', async (t) => {
    const { sandbox, neovim } = await openNeovim(t, { init: WITH_EVENTS, setup: setupWithAnswers(9) });
    const cli = new HookCli(sandbox);
    await cli.prompt('go');
    await cli.end();
    const finished = await event(neovim, 'GeminiCompanionFinished');
    assert.deepEqual(finished, { session: 'a', seconds: 9, seen: false });
    assert.doesNotMatch(await neovim.messages(), /has finished/);
  });

  test('is not notified if an option says so; scripts still are', async (t) => {
    const setup = setupWithAnswers(12, 'notify = false,');
    const { sandbox, neovim } = await openNeovim(t, { init: WITH_EVENTS, setup });
    const cli = new HookCli(sandbox);
    await cli.prompt('make it');
    const question = { hook_event_name: 'Notification', message: 'Allow touch made?', details: null };
    await cli.run('notification', question);
    await event(neovim, 'GeminiCompanionWaiting');
    await cli.end();
    await event(neovim, 'GeminiCompanionFinished');
    assert.doesNotMatch(await neovim.messages(), /asks in its terminal|has finished/);
  });
});

test('every edit is reviewed, also after a restart, until the user ends that', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t, { options: `review_all = true` });
  const file = sandbox.file('a', 'two\n');
  const cli = new HookCli(sandbox, 'a', client);
  assert.equal(await cli.before(file), 'ask');
  await neovim.type(':GeminiCompanion review off<CR>');
  assert.equal(await cli.before(file), undefined);

  await neovim.type(':GeminiCompanion review on<CR>');
  await neovim.restart();
  assert.equal((await neovim.ready()).review_all, true);
  assert.equal(await cli.before(file), 'ask');

  await neovim.type(':GeminiCompanion review<CR>');
  assert.match(await neovim.messages(), /use :GeminiCompanion review on, or review off$/);
  assert.equal((await neovim.ready()).review_all, true);
});
