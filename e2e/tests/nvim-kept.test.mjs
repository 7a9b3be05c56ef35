// Tests that Neovim keeps the user's edits if no CLI writes them to the file.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { until } from '../lib/inbox.mjs';
import { Neovim, noNeovim as skip, openNeovim, openNeovimWithClient, texts } from '../lib/neovim.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { OPEN, ready, ScriptedProgram } from '../lib/scripted-program.mjs';

/** The texts that are kept, in buffers of their own. */
const kept = (neovim) => texts(neovim, 'kept');

/** Checks the message with the place of the text, on a screen of 80 columns. */
const showsPlace = (neovim) =>
  neovim.until("vim.fn.execute('messages'):find(':sbuffer %d+ has your text for') ~= nil");

/** A proposal that the user has changed. */
async function change(t) {
  const scene = await openNeovimWithClient(t);
  const file = scene.sandbox.file('a.txt', 'old\n');
  const { decision } = await scene.client.propose(scene.neovim, file, 'new\n');
  await scene.neovim.type('ccthe user’s own<Esc>');
  return { ...scene, file, decision };
}

/** A program accepts its proposal, which the user has changed. Neovim writes the text. Returns the file. */
async function acceptByProgram(sandbox, neovim) {
  const program = await neovim.session(sandbox);
  const file = sandbox.file('a.txt', 'old\n');
  await program.callTool('openDiff', { filePath: file, newContent: 'new\n' });
  await neovim.view(file);
  await neovim.type('ccthe user’s own<Esc>');
  await program.callTool('acceptDiff', { filePath: file });
  return file;
}

describe('what the user wrote', { skip, concurrency: 4 }, () => {
  test('is kept when its CLI has ended unnoticed', async (t) => {
    const { neovim, client } = await change(t);
    client.signal('SIGKILL');
    await neovim.until("require('gemini_companion.server').status().clients == 0");
    await neovim.type(':w<CR>');
    await showsPlace(neovim);
    assert.deepEqual(await kept(neovim), ['the user’s own']);
  });

  test('is kept when the user says no in the terminal', async (t) => {
    const { sandbox, neovim, client, file, decision } = await change(t);
    await client.resolveDiffFromCli(file, 'rejected');
    await decision;
    await showsPlace(neovim);
    assert.deepEqual(await kept(neovim), ['the user’s own']);
    const copy = sandbox.file('copy.txt', '');
    await neovim.type(':qall<CR><CR>');
    assert.match(await neovim.messages(), /E37|E162/, 'it does not go without a word');
    await neovim.command("execute 'sbuffer' bufnr('gemini-companion://kept')", 'write');
    assert.equal(fs.readFileSync(file, 'utf8'), 'old\n', 'the user said no to that');
    await neovim.command(`write! ${copy}`);
    assert.equal(fs.readFileSync(copy, 'utf8'), 'the user’s own\n');
    assert.equal(await neovim.lua('return vim.bo.modified'), false);
  });

  test('is kept when the CLI writes something else', async (t) => {
    const { neovim, client, file, decision } = await change(t);
    await client.resolveDiffFromCli(file, 'accepted');
    await decision;
    fs.writeFileSync(file, 'new\n');
    await showsPlace(neovim);
    assert.deepEqual(await kept(neovim), ['the user’s own']);
  });

  test('stays where it is while the companion stops', async (t) => {
    const { neovim, file } = await change(t);
    await neovim.command('GeminiCompanion stop', 'silent! write');
    const { right } = await neovim.sides(file);
    assert.deepEqual(right, ['the user’s own']);
  });

  test('is not kept when it is written', async (t) => {
    const { sandbox, neovim, client, file, decision } = await change(t);
    await neovim.type(':w<CR>');
    fs.writeFileSync(file, (await decision).content);
    // A later one is kept; by then the first would be, too.
    const other = sandbox.file('b.txt', 'old\n');
    const { decision: never } = await client.propose(neovim, other, 'new\n');
    await neovim.type('ccanother<Esc>:w<CR>');
    await never;
    await showsPlace(neovim);
    assert.deepEqual(await kept(neovim), ['another']);
  });

  test('is kept, and the file read, though the user is in the command-line window', async (t) => {
    const { neovim, client, file, decision } = await change(t);
    await neovim.command(`tabnew ${file}`);
    await neovim.type('q:');
    await client.resolveDiffFromCli(file, 'accepted');
    await decision;
    fs.writeFileSync(file, 'new\n');
    await neovim.type(':q<CR>');
    await showsPlace(neovim);
    assert.deepEqual(await kept(neovim), ['the user’s own']);
    await neovim.until(`vim.fn.getbufline(..., 1)[1] == 'new'`, file);
    const reading = "#vim.api.nvim_get_autocmds({ event = 'FileChangedShell' })";
    assert.equal(await neovim.lua(`return ${reading}`), 0, 'the user is asked about later changes');
  });

  test('is no longer kept once its CLI has written it', async (t) => {
    const { neovim, file, decision } = await change(t);
    await neovim.type(':w<CR>');
    const { content } = await decision;
    await showsPlace(neovim);
    fs.writeFileSync(file, content);
    await neovim.until("vim.fn.bufnr('gemini-companion://kept') == -1");
  });

  test('is kept when the user has edited it further, even if its CLI writes', async (t) => {
    const { neovim, file, decision } = await change(t);
    await neovim.type(':w<CR>');
    const { content } = await decision;
    await showsPlace(neovim);
    await neovim.command("execute 'sbuffer' bufnr('gemini-companion://kept')");
    await neovim.type('ccmore of it<Esc>:hide<CR>');
    await neovim.command(`edit ${file}`);
    fs.writeFileSync(file, content);
    await neovim.until(`vim.fn.getbufline(..., 1)[1] == 'the user’s own'`, file);
    assert.deepEqual(await kept(neovim), ['more of it']);
  });

  test('is not kept when Neovim writes it for a client', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    const file = await acceptByProgram(sandbox, neovim);
    assert.equal(fs.readFileSync(file, 'utf8'), 'the user’s own\n');
    await neovim.until("vim.fn.bufnr('gemini-companion://kept') == -1");
  });

  test('does not count as lost if another program replaces an earlier text, which Neovim wrote', async (t) => {
    const { sandbox, neovim, client } = await openNeovimWithClient(t);
    const file = await acceptByProgram(sandbox, neovim);
    fs.writeFileSync(file, 'by another program\n');
    const { decision } = await client.propose(neovim, file, 'newer\n');
    await neovim.type('ccanother<Esc>:w<CR>');
    fs.writeFileSync(file, (await decision).content);
    await neovim.until("vim.fn.bufnr('gemini-companion://kept') == -1");
    assert.doesNotMatch(await neovim.messages(), /has your text/);
  });
});

/** Neovim with a scripted companion, and a function by which the user accepts a proposal for a.txt. */
async function openScripted(t) {
  const sandbox = Sandbox.of(t);
  const file = sandbox.file('a.txt', 'old\n');
  const program = new ScriptedProgram(sandbox, ready);
  const neovim = await Neovim.start(sandbox, { setup: program.setup });
  let count = 0;
  const accept = async (keys, result) => {
    const id = count + 1;
    program.send(OPEN(id, file));
    await program.answer(id);
    await neovim.view(file);
    await neovim.type(`${keys}:w<CR>`);
    const request = await program.request('diff/accepted', count++);
    if (result) program.send({ id: request.id, result });
  };
  return { program, neovim, file, accept };
}

/** The texts that the user can find in the list of buffers. */
const offered = (neovim) =>
  neovim.lua(
    `local texts = {}
     for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
       if vim.bo[buffer].buflisted and vim.startswith(vim.api.nvim_buf_get_name(buffer), 'gemini-companion://kept') then
         table.insert(texts, vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1])
       end
     end
     return table.concat(texts, '|')`,
  );

describe('an acceptance', { skip, concurrency: 4 }, () => {
  const write = (file) => `:execute 'sbuffer' bufnr('gemini-companion://kept')<CR>:write! ${file}<CR>`;

  test('that is queued is withdrawn before the user writes its text', async (t) => {
    const { program, neovim, file, accept } = await openScripted(t);
    await accept('ccmine<Esc>', { delivery: 'queued' });
    await showsPlace(neovim);
    await neovim.press(write(file));
    const { id } = await program.request('diff/withdraw');
    assert.equal(fs.readFileSync(file, 'utf8'), 'old\n');
    program.send({ id, result: { withdrawn: true } });
    await until('the text in the file', () => fs.readFileSync(file, 'utf8') === 'mine\n');
  });

  test('whose delivery is unknown leaves its text to the user, also an unchanged one', async (t) => {
    const { neovim, file, accept } = await openScripted(t);
    await accept('', { delivery: 'unknown' });
    await showsPlace(neovim);
    await neovim.type(write(file));
    assert.equal(fs.readFileSync(file, 'utf8'), 'new\n');
  });

  for (const [answer, result] of [['delivered', { delivery: 'delivered' }], ['not answered', undefined]]) {
    test(`that is ${answer} leaves its text to the user if the companion ends`, async (t) => {
      const { neovim, accept } = await openScripted(t);
      await accept('ccmine<Esc>', result);
      await neovim.command('GeminiCompanion stop');
      await showsPlace(neovim);
      assert.equal(await offered(neovim), 'mine');
    });
  }

  for (const delivery of ['queued', 'unknown']) {
    test(`whose delivery is ${delivery} leaves its text to a user who has wiped the hidden buffer`, async (t) => {
      const { program, neovim, accept } = await openScripted(t);
      await accept('ccmine<Esc>');
      await neovim.command("execute 'bwipeout' bufnr('gemini-companion://kept')");
      const { id } = await program.request('diff/accepted');
      program.send({ id, result: { delivery } });
      await showsPlace(neovim);
      assert.equal(await offered(neovim), 'mine');
    });
  }

  test('after another one leaves the text that was not written', async (t) => {
    const { program, neovim, file, accept } = await openScripted(t);
    await accept('ccfirst<Esc>', { delivery: 'delivered' });
    await accept('ccsecond<Esc>', { delivery: 'delivered' });
    const send = async (method) => {
      program.send({ method, params: { filePath: file } }, OPEN(method, `${file}.2`));
      await program.answer(method);
    };
    assert.equal(await offered(neovim), '');
    await send('diff/unwritten'); // about the oldest text
    assert.equal(await offered(neovim), 'first');
    await send('diff/written'); // about the newest one
    assert.equal(await offered(neovim), 'first');
    assert.deepEqual(await kept(neovim), ['first']);
  });
});

test('what the CLI has written in any form is not offered when the companion restarts', { skip }, async (t) => {
  const { neovim, file, decision } = await change(t);
  const before = await neovim.companionPid();
  await neovim.type(':w<CR>');
  // Gemini CLI's tool for edits keeps the end of the last line as it is in the file.
  fs.writeFileSync(file, (await decision).content.trimEnd());
  await neovim.command('GeminiCompanion restart');
  await neovim.until(`(require('gemini_companion.server').status() or {}).pid ~= ...`, before);
  await neovim.ready();
  assert.doesNotMatch(await neovim.messages(), /has your text/);
  assert.deepEqual(await kept(neovim), {});
});
