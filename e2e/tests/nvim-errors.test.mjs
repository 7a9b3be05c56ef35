// Tests that an error in Neovim costs only the step where it occurs, and that the user sees no stack trace.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { accepted } from '../lib/decision.mjs';
import { Neovim, noNeovim as skip, openNeovim, openNeovimWithClient } from '../lib/neovim.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { OPEN, ready, ScriptedProgram } from '../lib/scripted-program.mjs';

const FILE = { kind: 'changed', revertible: true, reverted: false, private: false, mixed: false };
const CHANGED = { session: 'a', prompt: 1, title: 'go', time: 1 };

/** The messages contain no stack, and Neovim waits for no key. */
async function staysQuiet(neovim) {
  assert.doesNotMatch(await neovim.messages(), /traceback|\.lua:\d|E5108/);
  assert.equal((await neovim.lua('return vim.api.nvim_get_mode()')).blocking, false);
}

describe('messages of the companion', { skip, concurrency: 2 }, () => {
  test('invalid ones are answered or logged', async (t) => {
    const sandbox = Sandbox.of(t);
    const program = new ScriptedProgram(
      sandbox,
      'no JSON',
      '[]',
      '7',
      { method: 7 },
      { method: 'companion/unknown' },
      { id: 1, method: 'diff/unknown', params: [] },
      { id: 2, method: 'diff/open', params: null },
      { id: 3, method: 'diff/open', params: { filePath: 7, newContent: {} } },
      { id: 4, method: 'diff/close', params: { filePath: '/none' } },
      { id: null, error: { code: -32700, message: 'm' } },
      { method: 'companion/ready', params: {} },
      { method: 'companion/clients', params: { count: 'x' } },
    );
    const neovim = await Neovim.start(sandbox, { setup: program.setup });
    for (const id of [1, 2, 3, 4]) assert.ok((await program.answer(id)).error, id);
    await neovim.edit(sandbox.file('a.txt'));
    await neovim.type('ihello<Esc>');
    assert.equal(await neovim.lua('return vim.fn.getline(1)'), 'hello');
    assert.equal((await neovim.messages()).trim(), '', 'the log is for that');
  });

  test('one that lacks a field does not lose the next message', async (t) => {
    const sandbox = Sandbox.of(t);
    const program = new ScriptedProgram(sandbox, ready);
    const neovim = await Neovim.start(sandbox, { setup: program.setup });
    const messages = [
      ['cli/changed', CHANGED],
      ['cli/changed', { ...CHANGED, files: [FILE] }],
      ['cli/changed', { ...CHANGED, files: null }],
      ['cli/finished'],
      ['cli/waiting', {}],
      ['comment/delivered'],
      ['comment/pending', { comments: [{}] }],
      ['comment/refused'],
      ['companion/clients', { count: null }],
    ];
    for (const [index, [method, params]] of messages.entries()) {
      const file = sandbox.file(`${index}.txt`, 'old\n');
      program.send({ method, params }, OPEN(index, file));
      assert.deepEqual((await program.answer(index)).result, {});
      await neovim.proposalBehind(file);
      await staysQuiet(neovim);
      const log = await neovim.log();
      assert.ok(log.includes(`${method} has no `), log);
    }
  });

  for (const [name, init] of Object.entries({
    'FileType qf': `vim.api.nvim_create_autocmd('FileType', { pattern = 'qf', callback = function() error('mine') end })`,
    'BufReadPost quickfix': `vim.api.nvim_create_autocmd('BufReadPost', {
      pattern = 'quickfix', callback = function() error('mine') end })`,
    'User GeminiCompanionChanged': `vim.api.nvim_create_autocmd('User', {
      pattern = 'GeminiCompanionChanged', callback = function() error('mine') end })`,
    'vim.notify': `vim.notify = function() error('mine') end`,
  })) {
    test(`an error in the user’s ${name} does not lose the next message`, async (t) => {
      const sandbox = Sandbox.of(t);
      const file = sandbox.file('a.txt', 'old\n');
      const files = [{ ...FILE, path: file }];
      const program = new ScriptedProgram(sandbox, ready, { method: 'cli/changed', params: { ...CHANGED, files } });
      const neovim = await Neovim.start(sandbox, { init, setup: program.setup });
      await neovim.until(`require('gemini_companion').status().changes == 1`);
      await neovim.lua(`pcall(require('gemini_companion.changes').list)`);
      program.send({ method: 'cli/changed', params: { ...CHANGED, prompt: 2, files } }, OPEN(1, file));
      assert.deepEqual((await program.answer(1)).result, {});
      await staysQuiet(neovim);
    });
  }
});

for (const events of [`{ 'BufNew', 'BufFilePre', 'BufFilePost' }`, `'CmdlineLeave'`]) {
  test(`a proposal opens and is accepted though the user’s autocommands for ${events} fail`, { skip }, async (t) => {
    const init = `vim.api.nvim_create_autocmd(${events}, { callback = function()
      if vim.g.fails then error('mine') end
    end })`;
    const { sandbox, neovim, client } = await openNeovimWithClient(t, { init });
    await neovim.command('let g:fails = v:true');
    const file = sandbox.file('a.txt', 'old\n');
    const { decision } = await client.propose(neovim, file, 'new\n');
    await neovim.press('ccmine<Esc>:w<CR>');
    assert.deepEqual(await decision, accepted('mine\n'));
    await neovim.press('<Esc>'); // Neovim may show the error
    const { decision: ended } = await client.propose(neovim, file, 'newer\n');
    await neovim.press('ccmy own');
    await client.resolveDiffFromCli(file, 'rejected');
    await ended;
    await neovim.until(`vim.wo.winbar:find('has ended')`);
    await neovim.type(' words');
    assert.equal(await neovim.lua('return vim.fn.getline(1)'), 'my own words');
  });
}

test('a proposal opens and closes though the user’s autocommand for OptionSet fails', { skip }, async (t) => {
  const init = `vim.api.nvim_create_autocmd('OptionSet', { callback = function() if vim.g.fails then error('mine') end end })`;
  const { sandbox, neovim, client } = await openNeovimWithClient(t, { init });
  await neovim.command('let g:fails = v:true');
  const file = sandbox.file('a.txt', 'old\n');
  const { decision } = await client.propose(neovim, file, 'new\n');
  await staysQuiet(neovim);
  await neovim.type(':w<CR>');
  assert.equal((await decision).status, 'accepted');
  await neovim.until('#vim.api.nvim_list_tabpages() == 1');
  await staysQuiet(neovim);
  await neovim.command('let g:fails = v:false');
});

test('a proposal closes though the user’s autocommands fail', { skip }, async (t) => {
  const init = `vim.api.nvim_create_autocmd(
    { 'BufHidden', 'BufUnload', 'BufWinLeave', 'BufWipeout', 'TabClosed', 'WinClosed' },
    { callback = function() if vim.g.fails then error('mine') end end })`;
  const { sandbox, neovim, client } = await openNeovimWithClient(t, { init });
  const file = sandbox.file('a.txt', 'old\n');
  await client.propose(neovim, file, 'new\n');
  await neovim.command('let g:fails = v:true');
  await client.resolveDiffFromCli(file, 'accepted');
  await neovim.until(`vim.fn.bufnr('gemini-companion://') == -1 and #vim.api.nvim_list_tabpages() == 1`);
  await staysQuiet(neovim);
  await neovim.command('let g:fails = v:false');
});

test('an error in one step of the start does not stop the next ones', { skip }, async (t) => {
  const init = `require('gemini_companion.comments').resend = function() error('mine') end`;
  const { sandbox, neovim, client } = await openNeovimWithClient(t, { init });
  const file = sandbox.file('a.txt', 'old\n');
  await neovim.edit(file);
  await client.openFiles((files) => files[0]?.path === file);
  await staysQuiet(neovim);
});

describe('options', { skip, concurrency: 2 }, () => {
  test('are refused by their names, and change nothing', async (t) => {
    const { neovim } = await openNeovim(t);
    for (const [options, problem] of [
      ['{ focsu = true }', /^gemini_companion: unknown option focsu; the options are autostart, clients, cmd, /],
      ['{ focus = 1 }', /^gemini_companion: option focus must be true or false, not 1$/],
      [`{ trusted = 'no' }`, /option trusted must be true or false, not "no"/],
      ['{ mappings = true }', /option mappings must be a table or false, not true/],
      ['{ mappings = { accept = 5 } }', /option mappings.accept must be keys or false, not 5/],
      [`{ mappings = { accept = '' } }`, /option mappings.accept must be keys or false, not ""/],
      [`{ mappings = { accept = ('x'):rep(51) } }`, /option mappings.accept must be keys or false/],
      [`{ mappings = { acept = 'x' } }`, /unknown option mappings.acept; the options are mappings.accept, mappings.comm/],
      ['{ clients = {} }', /option clients must be a list of "gemini" and "qwen", not {}/],
      [`{ clients = { 'foo' } }`, /option clients must be a list of "gemini" and "qwen", not { "foo" }/],
      [`{ clients = 'gemini' }`, /option clients must be/],
      [`{ cmd = {} }`, /option cmd must be/],
      [`{ cmd = { 'x', 1 } }`, /option cmd must be/],
      [`{ log_level = 'x' }`, /option log_level must be "off", .*, not "x"/],
      [`{ workspace = {} }`, /option workspace must be a list of folders, or a function, not {}/],
      [`{ workspace = '/' }`, /option workspace must be/],
      [`{ workspace = { 1 } }`, /option workspace must be/],
      [`{ 'x' }`, /unknown option 1/],
      ['5', /^gemini_companion: setup takes a table of options, not 5$/],
    ]) {
      const why = await neovim.lua(`return select(2, pcall(require('gemini_companion').setup, ${options}))`);
      assert.match(String(why), problem, options);
    }
    assert.equal(await neovim.lua(`return require('gemini_companion.config').options.mappings.accept`), '<LocalLeader>a');
    assert.equal(await neovim.lua(`return pcall(require('gemini_companion').setup, nil)`), true);
  });
});
