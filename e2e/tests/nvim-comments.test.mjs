// Tests comments on lines in Neovim: the user comments on lines for the model, and the plugin follows
// the lines until a model has the comment.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { HookCli } from '../lib/hook-cli.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { FAILS } from '../lib/neovim-changes.mjs';
import { goTo, openNeovimWithCli } from '../lib/neovim-cli.mjs';
import {
  Neovim,
  noNeovim as skip,
  openNeovim,
  openNeovimWithClient,
  openProposal,
} from '../lib/neovim.mjs';

const PROGRAM = process.env.GEMINI_COMPANION;

const TEXT = 'one\ntwo\nthree\nfour\n';

/** The marks of the current buffer on the screen: the text of each marked line with its comment. */
const marks = (neovim) =>
  neovim.lua(
    `vim.cmd('redraw')
     local info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
     local marks = {}
     for row = info.winrow + info.winbar, info.winrow + info.winbar + info.height - 1 do
       local cells = {}
       for column = info.wincol, info.wincol + info.width - 1 do
         table.insert(cells, vim.fn.screenstring(row, column))
       end
       table.insert(marks, table.concat(cells):match('^%s*»%s*(.-)%s*$'))
     end
     return #marks > 0 and marks or vim.empty_dict()`,
  );

/** Waits until the current buffer has these marks. */
async function hasMarks(neovim, ...expected) {
  let found;
  const same = async () => {
    found = Object.values(await marks(neovim));
    return JSON.stringify(found) === JSON.stringify(expected);
  };
  await until(() => `the marks are ${JSON.stringify(found)}`, same);
}

/** Returns the comments that a model gets with a prompt, as soon as it gets some. */
const delivered = (sandbox) =>
  until('a comment for a model', async () => {
    const text = await new HookCli(sandbox).prompt('go');
    return text.match(/^- .*$/gm);
  });

/** Waits until the companion has checked the files of the last comments. */
async function untilChecked({ neovim, sandbox }) {
  const outside = `${sandbox.home}/outside`;
  const refusals = `#vim.tbl_filter(function(line)
    return line:find('lies outside of the workspace', 1, true)
  end, require('gemini_companion.log').lines())`;
  const before = await neovim.lua(`return ${refusals}`);
  await neovim.lua(
    `local buffer = vim.fn.bufadd(...)
     vim.fn.bufload(buffer)
     vim.api.nvim_buf_call(buffer, function()
       require('gemini_companion').comment('Check', 1)
     end)`,
    outside,
  );
  await neovim.until(`${refusals} > ...`, before);
}

const waiting = (neovim, count) =>
  neovim.until(`require('gemini_companion').status().comments == ...`, count);

/** Neovim with the text in front. */
async function openText(t, options) {
  const window = await openNeovim(t, options);
  const file = window.sandbox.file('a', TEXT);
  await window.neovim.edit(file);
  return { ...window, file };
}

/** Types a command of the plugin. */
const run = (neovim, command) => neovim.type(`:${command}<CR>`);

test('comments in a proposal and in a file reach the model', { skip }, async (t) => {
  const write = ({ a }) => ({
    name: 'write_file',
    args: { file_path: a, content: 'zero\none\ntwo\n' },
  });
  const files = { a: 'one\ntwo\n', b: TEXT };
  const steps = (file) => [write(file), 'That was all.'];
  const window = await openNeovimWithCli(t, files, steps, { review: true });
  const { neovim, cli, results, file } = window;
  await cli.enter('change it');
  await goTo(window, file.a);
  await neovim.type('\\mName it nil<CR>');
  await neovim.type(':1tabnext<CR>');
  await neovim.edit(file.b);
  await neovim.type('jVj:GeminiCompanion comment Swap these<CR>');
  await hasMarks(neovim, 'two Swap these');
  await untilChecked(window);
  await neovim.command(`GeminiCompanion accept ${file.a}`);
  await cli.shows('That was all.');
  await hasMarks(neovim);
  const note =
    'The user commented on these lines:\n' +
    '- a, line 1 (`zero`): Name it nil\n- b, lines 2-3 (`two three`): Swap these';
  assert.ok(results()[0].includes(note), results()[0]);
  assert.match(await neovim.messages(), /the model has your 2 comments$/m);
  assert.doesNotMatch(await neovim.log(), /nil|Swap/);
});

describe('a comment', { skip, concurrency: 2 }, () => {
  test('is asked for, changed, and removed', async (t) => {
    const { sandbox, neovim } = await openText(t);
    await neovim.type('j:GeminiCompanion comment<CR>');
    await neovim.until(`vim.fn.getcmdprompt() == 'Comment on line 2: '`);
    await neovim.type('<Esc>');
    await run(neovim, 'GeminiCompanion comment');
    await neovim.type('  <CR>');
    await hasMarks(neovim);
    await waiting(neovim, 0);

    await run(neovim, 'GeminiCompanion comment');
    await neovim.type('First<CR>');
    await hasMarks(neovim, 'two First');
    for (const answer of ['<CR>', ' and more<Esc>']) {
      await run(neovim, 'GeminiCompanion comment');
      await neovim.until(`vim.fn.getcmdline() == 'First'`);
      await neovim.type(answer);
      await hasMarks(neovim, 'two First');
    }
    await run(neovim, 'GeminiCompanion comment');
    await neovim.type(' and more<CR>');
    await hasMarks(neovim, 'two First and more');
    assert.deepEqual(await delivered(sandbox), ['- a, line 2 (`two`): First and more']);
    await hasMarks(neovim);
    assert.match(await neovim.messages(), /the model has your comment on a:2$/m);

    await run(neovim, 'GeminiCompanion comment Second');
    await hasMarks(neovim, 'two Second');
    await run(neovim, 'GeminiCompanion comment');
    await neovim.type('<C-u><CR>');
    await hasMarks(neovim);
    await waiting(neovim, 0);
    await run(neovim, 'GeminiCompanion comment Third');
    await run(neovim, '4GeminiCompanion comment Fourth');
    await run(neovim, '3,4GeminiCompanion comment Both');
    await hasMarks(neovim, 'two Third', 'three Both', 'four Fourth');
    await run(neovim, '2,3GeminiCompanion uncomment');
    await hasMarks(neovim, 'four Fourth');
    await run(neovim, 'GeminiCompanion uncomment');
    assert.match(await neovim.messages(), FAILS('no comment is on this line'));
    await run(neovim, '4GeminiCompanion comment Fifth');
    assert.match(await neovim.status(), /^Comments that no model has got: 1$/m);
    assert.deepEqual(await delivered(sandbox), ['- a, line 4 (`four`): Fifth']);
  });

  test('follows its lines', async (t) => {
    const { sandbox, neovim, file } = await openText(t);
    const says = async (...texts) => {
      await untilChecked({ sandbox, neovim });
      assert.deepEqual(await delivered(sandbox), texts);
      await hasMarks(neovim);
    };
    await neovim.command('2,3GeminiCompanion comment Move');
    await neovim.type('ggOzero<Esc>');
    await hasMarks(neovim, 'two Move');
    await neovim.command('write');
    await says('- a, lines 3-4 (`two three`): Move');

    await neovim.command('3GeminiCompanion comment Edit');
    await neovim.type('3ggAX<Esc>ggdd');
    await neovim.command('write');
    await says('- a, line 2 (`twoX`): Edit');

    await neovim.command('2GeminiCompanion comment Away');
    await neovim.type('2Gdd');
    await hasMarks(neovim, 'three Away');
    await neovim.type('Gp');
    await hasMarks(neovim, 'twoX Away');
    await neovim.command('write');
    await says('- a, line 4 (`twoX`): Away');

    // As formatters do that replace the whole text.
    await neovim.command('2GeminiCompanion comment Format');
    const formatted = ['new', 'one', '  three', 'end'];
    await neovim.lua(`vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)`, formatted);
    await hasMarks(neovim, 'three Format');
    await neovim.command('write');
    await says('- a, line 3 (`three`): Format');

    await neovim.command('3GeminiCompanion comment Elsewhere');
    fs.writeFileSync(file, 'a\nb\nnew\none\n  three\nend\n');
    await neovim.command('checktime');
    await hasMarks(neovim, 'three Elsewhere');
    await neovim.command('write');
    await says('- a, line 5 (`three`): Elsewhere');

    await neovim.command('5GeminiCompanion comment Gone');
    fs.writeFileSync(file, 'a\nb\n');
    await neovim.command('edit!');
    await hasMarks(neovim, 'b Gone');
    await says('- a, line 5 (`three`): Gone');
  });

  test('is listed', async (t) => {
    const { sandbox, neovim, file } = await openText(t);
    await run(neovim, 'GeminiCompanion comments');
    assert.match(await neovim.messages(), FAILS('no comment waits'));
    const other = sandbox.file('b', TEXT);
    await run(neovim, '3GeminiCompanion comment Third');
    await run(neovim, '2GeminiCompanion comment Second');
    await neovim.edit(other);
    await run(neovim, '4GeminiCompanion comment Fourth');
    await run(neovim, 'GeminiCompanion comments');
    const items = await neovim.lua(
      `return vim.tbl_map(function(item)
         return { vim.fn.bufname(item.bufnr), item.lnum, item.text }
       end, vim.fn.getqflist())`,
    );
    assert.deepEqual(items, [['a', 2, 'Second'], ['a', 3, 'Third'], ['b', 4, 'Fourth']]);
    await neovim.type('2G<CR>');
    const at = await neovim.lua(`return { vim.fn.expand('%:p'), vim.fn.line('.') }`);
    assert.deepEqual(at, [file, 3]);
  });

  test('is refused where no model may get it', async (t) => {
    const { sandbox, neovim, file } = await openText(t);
    sandbox.file('.aiexclude', '*.hid\n');
    await neovim.edit(sandbox.file('a.hid', TEXT));
    await run(neovim, '2GeminiCompanion comment Secret');
    const message =
      /a\.hid:2 \(the next comment offers your text\): No model gets this comment: /;
    await neovim.says(message);
    await hasMarks(neovim);

    await run(neovim, '3GeminiCompanion comment');
    await neovim.until(`vim.fn.getcmdline() == 'Secret'`);
    await neovim.type('<Esc>');

    const cannot = (why) => FAILS(`the model can't get a comment: ${why}`);
    await neovim.edit(file);
    await neovim.command('GeminiCompanion share off');
    await run(neovim, 'GeminiCompanion comment Silent');
    assert.match(await neovim.messages(), cannot('sharing with CLIs is off'));
    await neovim.command('GeminiCompanion share on', 'GeminiCompanion stop');
    await neovim.until(`require('gemini_companion.server').status() == nil`);
    await run(neovim, 'GeminiCompanion comment Stopped');
    const stopped = 'the companion is not running \\(:GeminiCompanion start\\)';
    assert.match(await neovim.messages(), cannot(stopped));
    await neovim.command('GeminiCompanion start');
    for (const elsewhere of ['enew', `edit ${sandbox.project}`]) {
      await neovim.command('messages clear', elsewhere);
      await run(neovim, 'GeminiCompanion comment Nothing');
      assert.match(await neovim.messages(), FAILS('this buffer has no file to comment on'), elsewhere);
    }
    await neovim.ready();
    await waiting(neovim, 0);
  });

  test('that is refused is offered again, also if several are', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    sandbox.file('.aiexclude', '*.hid\n');
    await neovim.edit(sandbox.file('a.hid', 'one\ntwo\n'));
    await run(neovim, 'GeminiCompanion comment First');
    await neovim.type(':2GeminiCompanion comment Second<CR>');
    await neovim.until(`select(2, vim.fn.execute('messages'):gsub('No model gets this comment', '')) == 2`);
    await neovim.edit(sandbox.file('a.txt', 'one\ntwo\n'));
    const offered = [];
    for (const line of [1, 2]) {
      await neovim.type(`:${line}GeminiCompanion comment<CR>`);
      offered.push(await neovim.until(`vim.fn.getcmdprompt():find('^Comment on') and vim.fn.getcmdline()`));
      await neovim.type('<CR>');
    }
    assert.deepEqual(offered.sort(), ['First', 'Second']);
    await run(neovim, '2GeminiCompanion uncomment');
    await run(neovim, '2GeminiCompanion comment');
    await neovim.until(`vim.fn.getcmdprompt() == 'Comment on line 2: '`);
    assert.equal(await neovim.lua(`return vim.fn.getcmdline()`), '');
    await neovim.type('<Esc>');
    await waiting(neovim, 1);
  });

  test('that is refused during another question is offered again', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    await neovim.edit(sandbox.file('b.txt', 'one\n'));
    await run(neovim, 'GeminiCompanion comment Precious');
    await neovim.edit(sandbox.file('a.txt', 'one\ntwo\n'));
    await neovim.type(':GeminiCompanion comment<CR>Other');
    sandbox.file('.geminiignore', 'b.txt\n');
    await new HookCli(sandbox).prompt('go');
    await waiting(neovim, 0);
    await neovim.type('<CR>:2GeminiCompanion comment<CR>');
    assert.equal(await neovim.until(`vim.fn.getcmdprompt():find('^Comment on') and vim.fn.getcmdline()`), 'Precious');
    await neovim.type('<CR>');
  });

  test('is not lost if the model gets it during the question', async (t) => {
    // As plugins do that ask in a floating window.
    const init = `vim.ui.input = function(_, answer) _G.answer = answer end`;
    const { sandbox, neovim } = await openText(t, { init });
    await neovim.command('2GeminiCompanion comment First');
    await neovim.command('2GeminiCompanion comment');
    assert.deepEqual(await delivered(sandbox), ['- a, line 2 (`two`): First']);
    await hasMarks(neovim);
    await neovim.lua(`_G.answer('Second')`);
    await hasMarks(neovim, 'two Second');
    assert.deepEqual(await delivered(sandbox), ['- a, line 2 (`two`): Second']);

    await neovim.command('3GeminiCompanion comment');
    await neovim.type('ggOzero<Esc>');
    await neovim.lua(`_G.answer('Third')`);
    await hasMarks(neovim, 'three Third');
    assert.deepEqual(await delivered(sandbox), ['- a, line 4 (`three`): Third']);
  });

  test('is not lost if the model gets the old text while the user changes it', async (t) => {
    const { sandbox, neovim } = await openText(t);
    await neovim.command('2GeminiCompanion comment First');
    await untilChecked({ sandbox, neovim });
    const prompt = JSON.stringify({ session_id: 'a', hook_event_name: 'BeforeAgent', prompt: 'go' });
    // Neovim reads no message of the companion meanwhile.
    const output = await neovim.lua(
      `local output = vim.fn.system(...)
       require('gemini_companion').comment('Second', 2)
       return output`,
      ['sh', '-c', 'printf %s "$2" | "$1" hook before-agent', 'sh', PROGRAM, prompt],
    );
    assert.match(output, /First/);
    const had = 'the model had your comment before you changed or removed it';
    await neovim.until(`vim.fn.execute('messages'):find(..., 1, true)`, had);
    await hasMarks(neovim, 'two Second');
    assert.deepEqual(await delivered(sandbox), ['- a, line 2 (`two`): Second']);
  });

  test('follows its text into the file that it is saved as', async (t) => {
    const { sandbox, neovim } = await openText(t);
    await neovim.command('2GeminiCompanion comment Why', 'saveas renamed');
    assert.deepEqual(await delivered(sandbox), ['- renamed, line 2 (`two`): Why']);
  });

  test('survives a restart of the companion', async (t) => {
    const { sandbox, neovim } = await openText(t);
    await neovim.command('2GeminiCompanion comment Stays', '3GeminiCompanion comment Goes');
    await untilChecked({ sandbox, neovim });
    const pid = await neovim.companionPid();
    await neovim.lua(
      `vim.uv.kill(..., 'sigkill')
       vim.fn.jobwait({ vim.tbl_filter(function(channel)
         return channel.pty == nil and channel.argv ~= nil
       end, vim.api.nvim_list_chans())[1].id }, 5000)`,
      pid,
    );
    const server = `require('gemini_companion.server').status()`;
    await neovim.until(`(${server} or { pid = ... }).pid ~= ...`, pid);
    await neovim.ready();
    await hasMarks(neovim, 'two Stays', 'three Goes');
    await neovim.command('GeminiCompanion stop');
    await neovim.until(`${server} == nil`);
    await neovim.command('3GeminiCompanion uncomment', 'normal! ggOzero');
    await neovim.command('GeminiCompanion start');
    await neovim.ready();
    await hasMarks(neovim, 'two Stays');
    await untilChecked({ sandbox, neovim });
    await hasMarks(neovim, 'two Stays');
    assert.deepEqual(await delivered(sandbox), ['- a, line 3 (`two`): Stays']);
    await waiting(neovim, 0);
  });

  test('survives a restart of Neovim', async (t) => {
    const { sandbox, neovim, file } = await openText(t);
    await neovim.command('2,3GeminiCompanion comment Stays');
    await untilChecked({ sandbox, neovim });
    neovim.quit('qa!');
    assert.equal(await neovim.exited(), 0);
    fs.writeFileSync(file, `zero\n${TEXT}`);
    const again = await Neovim.start(sandbox);
    await again.ready();
    await waiting(again, 1);
    await again.edit(file);
    await hasMarks(again, 'two Stays');
    await again.command('write');
    await untilChecked({ sandbox, neovim: again });
    assert.deepEqual(await delivered(sandbox), ['- a, lines 3-4 (`two three`): Stays']);
    await hasMarks(again);
  });
});

describe('a comment in a proposal', { skip, concurrency: 2 }, () => {
  test('is on its lines, also after a round trip to another buffer', async (t) => {
    const { sandbox, neovim, file } = await openProposal(t);
    await neovim.type('jVk\\mBoth<CR>');
    await hasMarks(neovim, 'new Both');
    await neovim.type(':edit mine.txt<CR>');
    await neovim.until(`vim.fn.execute('messages'):find('a proposal waits', 1, true)`);
    await run(neovim, `GeminiCompanion show ${file}`);
    await neovim.view(file);
    await hasMarks(neovim, 'new Both');
    await neovim.type('Oabove<Esc>');
    await hasMarks(neovim, 'new Both');
    await neovim.command('1tabnext', 'GeminiCompanion comments');
    await neovim.type('<CR>');
    await neovim.view(file);
    assert.equal(await neovim.lua(`return vim.fn.line('.')`), 2);
    assert.deepEqual(await delivered(sandbox), ['- a.txt, lines 2-3 (`new new2`): Both']);
    await hasMarks(neovim);
  });

  test('goes to the file if the proposal ends', async (t) => {
    const { sandbox, neovim, client } = await openNeovimWithClient(t);
    const file = sandbox.file('a.txt', 'old\nend\n');
    await neovim.edit(file);
    const { decision } = await client.propose(neovim, file, 'new\nnew2\nend\n');
    await run(neovim, '2GeminiCompanion comment Why');
    await hasMarks(neovim, 'new2 Why');
    await neovim.type(':w<CR>');
    assert.equal((await decision).status, 'accepted');
    fs.writeFileSync(file, 'new\nnew2\nend\n');
    await neovim.until(`vim.api.nvim_buf_get_name(0) == ...`, file);
    await hasMarks(neovim, 'new2 Why');
    assert.deepEqual(await delivered(sandbox), ['- a.txt, line 2 (`new2`): Why']);
  });

  test('follows its lines into a newer proposal', async (t) => {
    const { sandbox, neovim, client } = await openNeovimWithClient(t);
    const file = sandbox.file('a.txt', 'old\n');
    client.openDiff(file, 'new\n');
    await neovim.view(file);
    await run(neovim, 'GeminiCompanion comment Why');
    const other = await IdeClient.connect(sandbox);
    other.openDiff(file, 'first\nnew\n');
    await neovim.until(`vim.fn.getline(1) == 'first'`);
    await hasMarks(neovim, 'new Why');
    await untilChecked({ sandbox, neovim });
    assert.deepEqual(await delivered(sandbox), ['- a.txt, line 2 (`new`): Why']);
  });

  test('whose lines are gone costs little time while the user types, and is found again', async (t) => {
    // Each begins with another character that is not ASCII.
    const letter = (index) => String.fromCodePoint(0x430 + (index % 32));
    const lines = Array.from({ length: 30_000 }, (_, index) => `${letter(index)} ${index + 1} ${letter(index + 7).repeat(60)}`);
    const { sandbox, neovim } = await openNeovim(t);
    await neovim.edit(sandbox.file('large', `${lines.join('\n')}\n`));
    for (let line = 1; line <= 10; line++) await run(neovim, `${14_000 + line}GeminiCompanion comment Why ${line}`);
    // As a formatter replaces them at once.
    await neovim.lua(`vim.api.nvim_buf_set_lines(0, 14000, 14010, false, { 'gone' })`);
    const milliseconds = await neovim.lua(
      `local before = vim.uv.hrtime()
       vim.cmd('doautocmd BufLeave')
       return (vim.uv.hrtime() - before) / 1e6`,
    );
    assert.ok(milliseconds < 200, `${milliseconds} ms`);
    const moved = lines.slice(14_000, 14_010);
    await neovim.lua(`vim.api.nvim_buf_set_lines(0, 15000, 15000, false, ...)`, moved);
    await neovim.type('15001Gzt');
    await hasMarks(neovim, ...moved.map((line, index) => `${line} Why ${index + 1}`));
  });
});
