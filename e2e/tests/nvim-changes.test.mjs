// Tests in Neovim what a CLI has changed: the list by prompt, the comparison with the text from before, and
// the way back.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { beforeEdit, edit, hook } from '../lib/hook.mjs';
import { openNeovimWithCli } from '../lib/neovim-cli.mjs';
import { noNeovim as skip, openNeovim, until } from '../lib/neovim.mjs';

const read = (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null);

/** Types a command of the plugin. */
const run = (neovim, command) => neovim.type(`:GeminiCompanion ${command}<CR>`);

const FAILS = (why) => new RegExp(`^GeminiCompanion: ${why}$`, 'm');

/** Waits for the number of changed files. */
const changed = (neovim, count) =>
  neovim.until(`require('gemini_companion').status().changes == ...`, count);

/** The prompts and their files, as the plugin's function returns them. */
const prompts = (neovim) => neovim.lua(`return require('gemini_companion').changes()`);

/** Waits until the user is in a comparison, and returns the lines and the bars of its sides. */
async function compared(neovim) {
  await neovim.until(`vim.wo.diff`);
  return neovim.lua(
    `return vim.tbl_map(function(window)
       local buffer = vim.api.nvim_win_get_buf(window)
       local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
       return { table.concat(lines, '|'), vim.wo[window].winbar }
     end, vim.api.nvim_tabpage_list_wins(0))`,
  );
}

/** Answers all further questions by the number of a choice, and collects them. */
const answerAll = (neovim, choice) =>
  neovim.lua(
    `local choice = ...
     _G.questions = {}
     vim.fn.confirm = function(question, choices)
       table.insert(_G.questions, { question, choices })
       return choice
     end`,
    choice,
  );

/** The questions since `answerAll`. */
const questions = async (neovim) => Object.values(await neovim.lua('return _G.questions'));

/** Waits until a file has this text; `null` is no file. */
const untilFile = (file, text) =>
  until(
    async () => read(file) === text,
    () => `${file} has ${JSON.stringify(read(file))}, not ${JSON.stringify(text)}`,
  );

/** A CLI that runs only its hooks, and that no discovery file led to the companion. */
class Hooks {
  #sandbox;
  #session;

  constructor(sandbox, session = 'a') {
    this.#sandbox = sandbox;
    this.#session = session;
  }

  /** Sends a prompt, and returns what the model gets besides. */
  async prompt(prompt) {
    const event = { session_id: this.#session, hook_event_name: 'BeforeAgent', prompt };
    const { stdout } = await hook(this.#sandbox, 'before-agent', JSON.stringify(event));
    return stdout ? JSON.parse(stdout).hookSpecificOutput.additionalContext : '';
  }

  /** Runs a tool that does `act`. */
  async tool(file, act, more = {}) {
    const all = { session_id: this.#session, ...more };
    await hook(this.#sandbox, 'before-tool', beforeEdit(file, all));
    await act();
    await hook(this.#sandbox, 'after-tool', edit(file, all));
  }

  write(file, content) {
    return this.tool(file, () => fs.writeFileSync(file, content));
  }

  shell(act) {
    const more = { tool_name: 'run_shell_command', tool_input: { command: 'x' } };
    return this.tool(undefined, act, more);
  }
}

const TEXT = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const EDITED = TEXT.replace('two', 'TWO').replace('nine', 'NINE');

/** Neovim and a CLI's hooks. `files` are the texts of the project's files, which Neovim has opened. */
async function open(t, files, options) {
  const window = await openNeovim(t, options);
  const paths = Object.entries(files).map(([name, text]) => [name, window.sandbox.file(name, text)]);
  for (const [, path] of paths) await window.neovim.edit(path);
  return { ...window, file: Object.fromEntries(paths), cli: new Hooks(window.sandbox) };
}

/** The same after a prompt that has edited a. */
async function openEdited(t, options) {
  const window = await open(t, { a: TEXT }, options);
  await window.cli.prompt('Rename them\nand more');
  await window.cli.write(window.file.a, EDITED);
  await changed(window.neovim, 1);
  await window.neovim.until(`vim.fn.getline(2) == 'TWO'`);
  return window;
}

/** The items of the quickfix list, without the time. */
async function listed(neovim) {
  const items = await neovim.lua(
    `return vim.tbl_map(function(item)
       return { item.bufnr > 0 and vim.fn.bufname(item.bufnr) or '', item.text }
     end, vim.fn.getqflist())`,
  );
  return items.map(([name, text]) => (name ? `${name}: ${text}` : text.replace(/^\d\d:\d\d /, '# ')));
}

/** Waits until the quickfix list has these items. */
async function lists(neovim, ...expected) {
  let found;
  const same = async () => {
    found = await listed(neovim);
    return JSON.stringify(found) === JSON.stringify(expected);
  };
  await until(same, () => `the list is ${JSON.stringify(found)}`);
}

test('three prompts in YOLO mode are listed, compared and taken back', { skip }, async (t) => {
  const replace = (file_path, old_string, new_string) => ({
    name: 'replace',
    args: { file_path, old_string, new_string, instruction: 'x' },
  });
  const write = (file_path, content) => ({ name: 'write_file', args: { file_path, content } });
  const shell = (command) => ({ name: 'run_shell_command', args: { command, description: 'x' } });
  const files = { a: TEXT, b: TEXT, c: TEXT, gone: 'gone\n', 'd.key': 'one\n', '.aiexclude': '*.key\n' };
  const steps = ({ a, b, c, 'd.key': key }) => [
    [replace(a, 'two', 'TWO'), replace(a, 'nine', 'NINE'), write(`${a}-new`, 'new\n')],
    'First.',
    [replace(a, 'five', 'FIVE'), shell('rm gone; printf "shell\\n" > c'), replace(b, 'two', 'TWO')],
    'Second.',
    [replace(b, 'six', 'SIX'), write(key, 'two\n'), replace(c, 'shell', 'SHELL')],
    'Third.',
    'Fourth.',
  ];
  const window = await openNeovimWithCli(t, files, steps, { yolo: true });
  const { neovim, cli, asked, file } = window;
  const created = `${file.a}-new`;
  for (const path of [file.gone, file.c, file.b, file.a]) await neovim.edit(path);
  const prompt = async (text, end) => {
    await cli.enter(text);
    await cli.shows(end);
    await neovim.type('<C-\\><C-n>:1tabnext<CR>');
  };
  await prompt('first prompt', 'First.');
  await prompt('second prompt', 'Second.');
  await neovim.until(`vim.fn.getline(5) == 'FIVE'`);
  await prompt('third prompt', 'Third.');
  await run(neovim, 'changes');
  await lists(
    neovim,
    '# third prompt',
    'b: +1 −1',
    'd.key: private',
    'c: +1 −1',
    '# second prompt',
    'a: +1 −1',
    'c: +1 −9',
    'gone: +0 −1, deleted',
    'b: +1 −1',
    '# first prompt',
    'a: +2 −2',
    'a-new: +1 −0, new',
  );
  const buffers = await neovim.lua(
    `return vim.tbl_map(function(name)
       return vim.fn.getbufline(vim.fn.bufnr('^' .. name .. '$'), 6)[1] or ''
     end, { 'b', 'c' })`,
  );
  assert.deepEqual(buffers, ['SIX', ''], 'hidden buffers are reloaded as well');

  // A hunk of the first prompt.
  await neovim.type('11G<CR>');
  const now = EDITED.replace('five', 'FIVE').replaceAll('\n', '|').slice(0, -1);
  const [left, right] = await compared(neovim);
  assert.deepEqual([left[0], right[0]], [TEXT.replaceAll('\n', '|').slice(0, -1), now]);
  assert.match(left[1], /^ Before: \d\d:\d\d first prompt$/);
  await neovim.type('Gdo:w<CR>:q<CR>');
  await untilFile(file.a, EDITED.replace('five', 'FIVE').replace('NINE', 'nine'));
  await neovim.until(`vim.bo.buftype == 'quickfix'`);

  // A file of the first prompt, which the user and the second prompt have changed since.
  await answerAll(neovim, 1);
  await run(neovim, 'revert');
  await untilFile(file.a, TEXT);
  assert.deepEqual(await questions(neovim), [
    ['a has changed since (+2 −2). Revert it?', '&Revert\n&Show what differs\n&Cancel'],
  ]);
  await neovim.command('buffer a');
  await neovim.type('u:w<CR>');
  await untilFile(file.a, EDITED.replace('five', 'FIVE').replace('NINE', 'nine'));

  // The last prompt, without the private file.
  await neovim.command('cclose');
  await answerAll(neovim, 1);
  await run(neovim, 'revert prompt');
  await untilFile(file.c, 'shell\n');
  await untilFile(file.b, TEXT.replace('two', 'TWO'));
  assert.deepEqual(await questions(neovim), []);
  assert.equal(read(file['d.key']), 'two\n');
  assert.match(await neovim.messages(), /1 of 3 files stay as they are/);

  // The deleted file and the new one.
  await run(neovim, 'revert gone');
  await untilFile(file.gone, 'gone\n');
  await run(neovim, 'revert a-new');
  await untilFile(created, null);
  await prompt('fourth prompt', 'Fourth.');
  const told = asked().at(-1);
  assert.match(told, /^fourth prompt/);
  for (const name of ['b', 'c', 'gone', 'a-new']) assert.match(told, new RegExp(`[ ,]${name}[,.]`));
  const log = await neovim.lua(`return require('gemini_companion.log').lines()`);
  assert.doesNotMatch(log.join('\n'), /TWO|(first|second|third) prompt/);
});

describe('the list of changes', { skip, concurrency: 2 }, () => {
  test('follows the CLI and the user, and ends with the companion', async (t) => {
    const init = `_G.events = {}
      vim.api.nvim_create_autocmd('User', { pattern = 'GeminiCompanionChanged', callback = function(event)
        table.insert(_G.events, event.data)
      end })`;
    const { neovim, cli, file, sandbox } = await openEdited(t, { init });
    const { session, prompt, title, time, files } = await neovim.lua('return _G.events[1]');
    assert.deepEqual([session, prompt, title], ['a', 1, 'Rename them']);
    assert.ok(Math.abs(Date.now() - time) < 60_000);
    assert.equal(files[0].path, file.a);
    await run(neovim, 'changes');
    await lists(neovim, '# Rename them', 'a: +2 −2');
    await cli.write(sandbox.file('b', 'one\n'), 'two\n');
    await lists(neovim, '# Rename them', 'a: +2 −2', 'b: +1 −1');
    await cli.prompt('');
    await cli.write(file.a, TEXT);
    await lists(neovim, '# prompt 2', 'a: +2 −2', '# Rename them', 'a: +2 −2', 'b: +1 −1');
    const status = await neovim.lua(`return vim.fn.execute('GeminiCompanion')`);
    assert.match(status, /^Files that a CLI has changed: 2\. Run :GeminiCompanion changes$/m);
    const complete = (line) => neovim.lua(`return vim.fn.getcompletion(..., 'cmdline')`, line);
    assert.deepEqual(await complete('GeminiCompanion revert '), ['prompt', 'a', 'b']);
    assert.deepEqual(await complete('GeminiCompanion keep p'), ['prompt']);
    assert.deepEqual(await complete('GeminiCompanion diff '), ['a', 'b']);

    await neovim.type('2G:GeminiCompanion keep<CR>');
    await lists(neovim, '# Rename them', 'a: +2 −2', 'b: +1 −1');
    await run(neovim, 'keep b');
    await lists(neovim, '# Rename them', 'a: +2 −2');
    await neovim.type('gg:GeminiCompanion keep<CR>');
    assert.match(await neovim.messages(), FAILS('this line is a prompt; go to a file'));
    await run(neovim, 'keep prompt');
    await lists(neovim);
    await changed(neovim, 0);
    await run(neovim, 'changes');
    assert.match(await neovim.messages(), FAILS('no CLI has changed a file'));

    await cli.write(file.a, EDITED);
    await changed(neovim, 1);
    await neovim.lua('_G.events = {}');
    await run(neovim, 'restart');
    await neovim.until('_G.events[1]');
    const { files: none } = await neovim.lua('return _G.events[1]');
    assert.deepEqual(Object.values(none), []);
    await changed(neovim, 0);
    await run(neovim, 'revert');
    assert.match(await neovim.messages(), FAILS('no CLI has changed a file'));
  });

  test('knows private files by name only', async (t) => {
    const { sandbox, neovim, cli, file } = await open(t, { 'a.key': 'one\n', b: 'one\n' });
    sandbox.file('.aiexclude', '*.key\n');
    await cli.prompt('go');
    await cli.write(file['a.key'], 'two\n');
    await changed(neovim, 1);
    await run(neovim, 'changes');
    await lists(neovim, '# go', 'a.key: private');
    await neovim.type('2G<CR>');
    await neovim.until(`vim.api.nvim_buf_get_name(0) == ...`, file['a.key']);
    const refused = FAILS('the text of a.key from before the prompt is not kept');
    for (const command of ['diff', 'revert', 'revert prompt']) {
      await neovim.command('messages clear');
      await run(neovim, command);
      const why = command === 'revert prompt' ? FAILS('the text of a.key.*') : refused;
      assert.match(await neovim.messages(), why);
    }
    await run(neovim, 'revert b');
    assert.match(await neovim.messages(), FAILS('no CLI has changed b'));
  });

  test('fails as a request does if the companion ends', async (t) => {
    const { neovim, file } = await openEdited(t);
    const pid = await neovim.companionPid();
    await neovim.lua(`vim.uv.kill(..., 'sigstop')`, pid);
    await run(neovim, 'diff');
    await run(neovim, 'revert');
    await neovim.lua(`vim.uv.kill(..., 'sigkill')`, pid);
    const ended = 'the companion is not running \\(:GeminiCompanion start\\)';
    const failed = new RegExp(`GeminiCompanion: ${ended}[^]*a is not reverted: ${ended}`);
    await until(async () => failed.test(await neovim.messages()), () => 'nothing fails');
    assert.equal(read(file.a), EDITED);
    assert.equal(await neovim.lua(`return vim.fn.tabpagenr('$')`), 1);
  });
});

describe('a file that a CLI has changed', { skip, concurrency: 2 }, () => {
  test('is reloaded at once, but not over unsaved changes', async (t) => {
    const { neovim, cli, file } = await open(t, { a: 'one\n', b: 'one\n', c: 'one\n' });
    const line = (path) =>
      neovim.lua(`return vim.fn.getbufline(vim.fn.bufnr(...), 1, '$')`, path);
    await neovim.edit(file.b);
    await neovim.type('omine<Esc>');
    await neovim.edit(file.c);
    await cli.prompt('go');
    // No CLI is connected, so Neovim does not look for changes every second.
    assert.equal((await neovim.ready()).clients, 0);
    for (const path of Object.values(file)) await cli.write(path, 'two\n');
    await changed(neovim, 3);
    await neovim.until(`vim.fn.getline(1) == 'two'`);
    assert.deepEqual(await line(file.a), ['two']);
    assert.deepEqual(await line(file.b), ['one', 'mine']);
    await cli.shell(() => fs.writeFileSync(file.a, 'three\n'));
    await neovim.until(`vim.fn.getbufline(vim.fn.bufnr(...), 1)[1] == 'three'`, file.a);
  });

  test('is compared with its text from before, and closing leaves nothing', async (t) => {
    const { neovim, file, cli } = await openEdited(t);
    const clean = async () => {
      await neovim.until(`vim.fn.tabpagenr('$') == 1`);
      await neovim.until(
        `not vim.iter(vim.api.nvim_list_bufs()):any(function(buffer)
           return vim.api.nvim_buf_get_name(buffer):find('^gemini%-companion')
         end)`,
      );
      await neovim.command('new', `buffer ${file.a}`);
      const options = await neovim.lua(
        `return vim.tbl_map(function(window)
           local o = vim.wo[window]
           return { o.diff, o.scrollbind, o.cursorbind, o.foldmethod, o.winbar }
         end, vim.api.nvim_list_wins())`,
      );
      for (const one of options) assert.deepEqual(one, [false, false, false, 'manual', '']);
      await neovim.command('only');
    };
    for (const close of [':q<CR>', '<C-w>h:q<CR>', ':tabclose<CR>', ':wq<CR>']) {
      await run(neovim, 'diff');
      await compared(neovim);
      assert.equal(await neovim.lua(`return vim.fn.line('.')`), 2, 'the first change');
      await run(neovim, 'diff a');
      assert.equal(await neovim.lua(`return vim.fn.tabpagenr('$')`), 2, 'the same comparison');
      await neovim.type(close);
      await clean();
    }
    await run(neovim, 'diff');
    await compared(neovim);
    await neovim.type(':edit other<CR>');
    await neovim.until(`vim.fn.winnr('$') == 1 and not vim.wo.diff`);
    await neovim.type(':q<CR>');
    await clean();

    // Both hunks are a revert.
    await run(neovim, 'diff');
    await compared(neovim);
    await neovim.type('do');
    await neovim.type(']cdo:w<CR>');
    await untilFile(file.a, TEXT);
    await changed(neovim, 0);
    assert.match(await neovim.messages(), /reverted a; the model learns it with your next prompt/);
    await neovim.type(':q<CR>');
    await clean();
    assert.match(await cli.prompt('next'), /reverted your changes to a\./);
  });

  test('is taken back; undo takes that back as well', async (t) => {
    // A formatter must not change the text.
    const init = `vim.api.nvim_create_autocmd('BufWritePre', { callback = function()
      vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'formatted' })
    end })`;
    const before = {
      lf: 'one\ntwo\n',
      crlf: 'one\r\ntwo\r\n',
      bom: '\uFEFFone\ntwo\n',
      end: 'one\ntwo',
      empty: '',
      mixed: 'one\r\ntwo\n',
    };
    const after = 'one\ntwo\nthree\n';
    const { neovim, cli, file } = await open(t, before, { init });
    await cli.prompt('go');
    for (const path of Object.values(file)) await cli.write(path, after);
    await changed(neovim, 6);
    await neovim.command('bdelete crlf', 'set noautoread');
    await run(neovim, 'revert prompt');
    for (const [name, path] of Object.entries(file)) await untilFile(path, before[name]);
    await changed(neovim, 0);
    for (const [name, path] of Object.entries(file)) {
      await neovim.edit(path);
      await neovim.type('u:noautocmd write<CR>');
      assert.equal(read(path), after, name);
      await neovim.type('<C-r>:noautocmd write<CR>');
      assert.equal(read(path), before[name], name);
    }
    await neovim.edit(file.lf);
    await neovim.type('u:noautocmd write<CR>');
    const told = await cli.prompt('next');
    assert.match(told, /reverted your changes to crlf/);
    assert.doesNotMatch(told, /\blf\b/);
  });

  test('is taken back only after a question if the user would lose something', async (t) => {
    const { sandbox, neovim, cli, file } = await open(t, { a: TEXT });
    const other = new Hooks(sandbox, 'b');
    await cli.prompt('go');
    await cli.write(file.a, EDITED);
    await changed(neovim, 1);
    const asks = async (choice, ...expected) => {
      await answerAll(neovim, choice);
      await run(neovim, 'revert a');
      await neovim.until('#_G.questions > 0');
      assert.deepEqual(await questions(neovim), [expected]);
    };
    const choices = '&Revert\n&Show what differs\n&Cancel';
    // Unsaved.
    await neovim.until(`vim.fn.getline(2) == 'TWO'`);
    await neovim.type('Gomine<Esc>');
    await asks(3, 'a has other, unsaved changes (+1 −0). Revert it?', choices);
    assert.equal(await neovim.lua(`return vim.fn.getline('$')`), 'mine');
    await asks(2, 'a has other, unsaved changes (+1 −0). Revert it?', choices);
    const [left, right] = await compared(neovim);
    assert.deepEqual([left[1], right[1]], [' As the CLI left it', ' Now']);
    assert.equal(right[0], `${left[0]}|mine`);
    await neovim.type(':q<CR>');
    await asks(1, 'a has other, unsaved changes (+1 −0). Revert it?', choices);
    await untilFile(file.a, TEXT);
    await neovim.type('u');
    assert.equal(await neovim.lua(`return vim.fn.getline('$')`), 'mine');
    // Saved.
    await neovim.command('write');
    await asks(3, 'a has changed since (+1 −0). Revert it?', choices);
    assert.equal(read(file.a), `${EDITED}mine\n`);
    // During the question.
    await answerAll(neovim, 1);
    await neovim.lua(
      `local confirm, path = vim.fn.confirm, ...
       vim.fn.confirm = function(...)
         vim.fn.writefile({ 'later' }, path)
         return confirm(...)
       end`,
      file.a,
    );
    await run(neovim, 'revert a');
    await until(
      async () => /a is not reverted: the file has just changed again/.test(await neovim.messages()),
      () => 'it is reverted',
    );
    assert.equal(read(file.a), 'later\n');
    // By another CLI.
    fs.writeFileSync(file.a, EDITED);
    await other.prompt('other');
    await other.write(file.a, TEXT);
    await other.write(file.a, EDITED.toUpperCase());
    fs.writeFileSync(file.a, EDITED);
    await neovim.until(`#require('gemini_companion').changes() == 2`);
    await run(neovim, 'changes');
    await neovim.type('4G');
    await answerAll(neovim, 2);
    await run(neovim, 'revert');
    await neovim.until('#_G.questions > 0');
    const later = 'a was changed by a later prompt, too. Revert it?';
    assert.deepEqual(await questions(neovim), [[later, '&Revert\n&Cancel']]);
  });

  test('is deleted if the CLI has created it, and written again if it has deleted it', async (t) => {
    const { sandbox, neovim, cli, file } = await open(t, { gone: 'gone\n', 'sub/also': 'gone\n', c: 'one\n' });
    const created = `${sandbox.project}/new`;
    await cli.prompt('go');
    await cli.write(created, 'new\n');
    await cli.write(file.c, 'two\n');
    await cli.shell(() => {
      fs.rmSync(file.gone);
      fs.rmSync(`${sandbox.project}/sub`, { recursive: true });
    });
    await changed(neovim, 4);
    await run(neovim, 'diff gone');
    const [, right] = await compared(neovim);
    assert.equal(right[1], ' Now deleted (:w writes this text again)');
    await neovim.type(':q<CR>');
    await neovim.until(`not vim.wo.diff`);
    await answerAll(neovim, 2);
    await run(neovim, 'revert prompt');
    await untilFile(file.c, 'one\n');
    assert.deepEqual([file.gone, created].map(read), [null, 'new\n']);
    const [[question, choices]] = await questions(neovim);
    assert.match(question, /^new was created by the CLI, and will be deleted$/m);
    assert.match(question, /^gone may have been changed by something else during the prompt$/m);
    assert.match(question, /\nRevert all 4 files\?$/);
    assert.equal(choices, '&All\n&Only the others\n&Cancel');

    await answerAll(neovim, 1);
    await run(neovim, 'revert gone');
    await untilFile(file.gone, 'gone\n');
    await run(neovim, 'revert sub/also');
    await untilFile(file['sub/also'], 'gone\n');
    await answerAll(neovim, 1);
    await run(neovim, 'revert new');
    await untilFile(created, null);
    assert.deepEqual(await questions(neovim), [['new was created by the CLI. Delete it?', '&Delete\n&Cancel']]);
    await neovim.edit(created);
    assert.equal(await neovim.lua(`return vim.fn.getline(1)`), '');
    assert.equal(await neovim.lua(`return vim.bo.modified`), false);
    await neovim.type('u:write<CR>');
    assert.equal(read(created), 'new\n');
  });

  test('stays unsaved if it can not be written', async (t) => {
    const { sandbox, neovim, cli, file } = await open(t, { 'sub/a': 'one\n' });
    await cli.prompt('go');
    await cli.write(file['sub/a'], 'two\n');
    await changed(neovim, 1);
    fs.rmSync(`${sandbox.project}/sub`, { recursive: true });
    sandbox.file('sub', 'a file');
    await answerAll(neovim, 1);
    await run(neovim, 'revert');
    const failed = /a is not reverted: its buffer has the text from before, unsaved/;
    await until(async () => failed.test(await neovim.messages()), () => 'nothing fails');
    assert.deepEqual(await questions(neovim), [
      ['sub/a was deleted since. Revert it?', '&Revert\n&Cancel'],
    ]);
    assert.equal(await neovim.lua(`return vim.fn.getline(1)`), 'one');
    assert.equal(await neovim.lua(`return vim.bo.modified`), true);
    await changed(neovim, 1);
    await neovim.command('edit!');
  });
});
