// Tests the diagnostics from a Neovim, with linters and a real language server.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { breakAndAsk } from '../lib/extension.mjs';
import { noNeovim as skip, openNeovim } from '../lib/neovim.mjs';
import { noTerminal } from '../lib/terminal.mjs';

const JSON_SERVER = fileURLToPath(
  new URL('../node_modules/vscode-json-languageserver/bin/vscode-json-languageserver', import.meta.url),
);

/** Starts a language server for each opened JSON file. */
const WITH_JSON_SERVER = `vim.filetype.add({ extension = { json = 'json' } })
  vim.cmd('filetype on')
  vim.api.nvim_create_autocmd('FileType', { pattern = 'json', callback = function(event)
    _G.server = _G.server or vim.lsp.start_client({
      cmd = { [[${process.execPath}]], [[${JSON_SERVER}]], '--stdio' },
      init_options = { handledSchemaProtocols = {} },
    })
    vim.lsp.buf_attach_client(event.buf, _G.server)
  end })`;

/** A linter that sets the result of `report` for the lines of a buffer immediately. */
const WITH_LINTER = `_G.lint = function(report)
    vim.diagnostic.set(vim.api.nvim_create_namespace('linter'), 0, report)
  end`;

/** A Neovim and a function that calls the tool; its text names files without the folder. */
async function open(t, options) {
  const { sandbox, neovim } = await openNeovim(t, options);
  const session = await neovim.session(sandbox);
  const call = async (args) => {
    const result = await session.callTool('getDiagnostics', args);
    const text = result.content[0].text.replaceAll(`${sandbox.project}/`, '');
    return { text, files: result.structuredContent?.files };
  };
  return { sandbox, neovim, call };
}

test("a linter's problems are sent from top to bottom, in UTF-16 units", { skip }, async (t) => {
  const { sandbox, neovim, call } = await open(t, { init: WITH_LINTER });
  const file = sandbox.file('a.txt', 'one\n😀 two\n');
  await neovim.edit(file);
  await neovim.lua(
    `local S = vim.diagnostic.severity
     lint({
       { lnum = 1, col = 5, end_lnum = 1, end_col = 8, message = 'a\\nlong one', severity = S.ERROR,
         source = 'lint', code = 7 },
       { lnum = 0, col = 0, message = 'unused', severity = S.INFO },
       { lnum = 0, col = 1, message = 'taste', severity = S.HINT },
     })`,
  );
  const problems = 'a.txt:1:1: information: unused\na.txt:2:4: error: a long one [lint 7]';
  assert.equal((await call({ filePath: file })).text, problems);
  const all = await call({ filePath: file, severity: 'hint' });
  assert.match(all.text, /^a\.txt:1:2: hint: taste$/m);
  const worst = await call({ filePath: file, severity: 'error' });
  assert.deepEqual(worst.files[0].diagnostics[0].range, {
    start: { line: 2, character: 4 },
    end: { line: 2, character: 7 },
  });
  assert.equal((await call({})).text, problems, 'it is among the open files');
});

test('a language server checks the text on the disk', { skip }, async (t) => {
  const { sandbox, neovim, call } = await open(t, { init: WITH_JSON_SERVER });
  const file = sandbox.file('a.json', '{ "a": 1 }\n');
  await neovim.edit(file);
  await neovim.until('next(vim.lsp.buf_get_clients(0)) ~= nil');
  const clean = { filePath: file };
  assert.equal((await call(clean)).text, 'No problems in a.json.');
  for (let time = 0; time < 3; time++) {
    fs.writeFileSync(file, '{ "a": 1\n "b": 2 }\n');
    const { text } = await call({ filePath: file, onlyNew: true });
    assert.match(text, /^a\.json:2:2: error: .*[Cc]omma/, 'the problem of the new text');
    fs.writeFileSync(file, `{ "a": ${time} }\n`);
    assert.equal((await call(clean)).text, 'No problems in a.json.');
  }
});

test('unknown problems are reported as unknown', { skip }, async (t) => {
  const { sandbox, neovim, call } = await open(t, { init: WITH_LINTER });
  const [closed, plain, typed] = ['closed', 'plain', 'typed'].map((name) => sandbox.file(name, 'x\n'));
  await neovim.edit(plain);
  await neovim.edit(typed);
  await neovim.lua(`lint({ { lnum = 0, col = 0, message = 'bad' } })`);
  await neovim.type('onew<Esc>');
  const about = async (filePath) => (await call({ filePath })).text;
  const maybe = (name, why) => `${name}: there may be more problems: ${why}.`;
  assert.equal(await about(closed), maybe('closed', 'the file is not open in Neovim'));
  const nobody = 'no language server or linter has checked it';
  assert.equal(await about(plain), maybe('plain', nobody));
  const unsaved = maybe('typed', 'its buffer has unsaved changes');
  assert.equal(await about(typed), `typed:1:1: error: bad\n${unsaved}`);
  fs.writeFileSync(typed, 'written\n');
  await about(typed);
  const lines = await neovim.lua('return vim.api.nvim_buf_get_lines(0, 0, -1, false)');
  assert.deepEqual(lines, ['x', 'new'], 'what was typed stays');

  // The linter looks at a file when it is opened, but not when it is written.
  await neovim.edit(closed);
  await neovim.lua(`lint({ { lnum = 0, col = 0, message = 'bad' } })`);
  fs.writeFileSync(closed, 'changed by the CLI\n');
  const newest = 'the newest text has not been checked yet';
  assert.match(await about(closed), new RegExp(`${maybe('closed', newest)}$`));
});

test('invalid diagnostics of a tool are sent as far as possible, also after a failing autocommand', { skip }, async (t) => {
  const { sandbox, neovim, call } = await open(t, { init: WITH_LINTER });
  const file = sandbox.file('a.txt', 'one\n');
  await neovim.edit(file);
  await neovim.lua(`lint({ { lnum = 0, col = 2 }, { lnum = -1, col = -1, message = 'whole', code = {} } })`);
  const problems = 'a.txt:1:1: error: whole\na.txt:1:3: error: no message';
  assert.equal((await call({ filePath: file })).text, problems);
  await neovim.command(
    `autocmd BufReadPost a.txt lua lint({ { lnum = 0, col = 1, message = 'new' } })`,
    `autocmd BufReadPost a.txt throw 'no'`,
  );
  fs.writeFileSync(file, 'written by the CLI\n');
  assert.match((await call({ filePath: file })).text, /^a\.txt:1:2: error: new/);
});

test('many problems of a long line and of a long file do not freeze Neovim', { skip }, async (t) => {
  const { sandbox, neovim, call } = await open(t, { init: WITH_LINTER });
  const line = sandbox.file('line.js', `${'😀'.repeat(250_000)}\n`);
  const lines = sandbox.file('lines.txt', 'a line\n'.repeat(1_000_000));
  for (const [file, place, last] of [
    [line, 'lnum = 0, col = n * 1000, end_lnum = 0, end_col = n * 1000 + 4', '1:500001'],
    [lines, 'lnum = n * 1000 - 1, col = 2', '1000000:3'],
  ]) {
    await neovim.edit(file);
    await neovim.lua(
      `local report = {}
       for n = 1, 1000 do
         report[1001 - n] = { ${place}, message = 'bad', severity = n == 1000 and 1 or 2 }
       end
       lint(report)`,
    );
    // The answer is in time, although Neovim waits for more diagnostics.
    const { text } = await call({ filePath: file });
    assert.match(text, new RegExp(`:${last}: error: bad\n.*950 more`));
  }
});

test("a buffer with 'noautoread' causes no question", { skip }, async (t) => {
  const { sandbox, neovim, call } = await open(t, { init: WITH_LINTER });
  const file = sandbox.file('a.txt', 'one\n');
  await neovim.edit(file);
  await neovim.command('setlocal noautoread');
  await neovim.lua(`lint({ { lnum = 0, col = 0, message = 'bad' } })`);
  await neovim.edit(sandbox.file('other.txt'));
  fs.writeFileSync(file, 'written by the CLI\n');
  const why = "with 'noautoread', its buffer may have an older text";
  const problems = `a.txt:1:1: error: bad\na.txt: there may be more problems: ${why}.`;
  assert.equal((await call({ filePath: file })).text, problems);
});

test('the tool is missing when diagnostics are turned off', { skip }, async (t) => {
  const { sandbox, call } = await open(t, { options: `diagnostics = false` });
  assert.equal((await call({ filePath: sandbox.file('a') })).text, 'Unknown tool: getDiagnostics');
});

test('the model gets the problems of its edit', { skip: skip || noTerminal }, async (t) => {
  const { sandbox, neovim } = await open(t, { init: WITH_JSON_SERVER });
  const file = sandbox.file('a.json', '{}\n');
  await neovim.edit(file);
  await neovim.until('next(vim.lsp.buf_get_clients(0)) ~= nil');
  const { edit, asked } = await breakAndAsk(sandbox, 'gemini', file);
  const problem = `${file}:1:11: error: Value expected`;
  assert.ok(edit.includes('<hook_context>') && edit.includes(problem), edit);
  assert.ok(asked.includes(problem), asked);
});
