// Tests that Neovim keeps the user's edits if no CLI writes them to the file, and that no command loses them.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { accepted, REJECTED } from '../lib/decision.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { until } from '../lib/inbox.mjs';
import { Neovim, noNeovim as skip, openNeovim, openNeovimWithClient, openProposal, texts } from '../lib/neovim.mjs';
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

  for (const [when, reject] of [
    ['the user says no in the terminal', (client, file) => client.resolveDiffFromCli(file, 'rejected')],
    ['a client rejects the proposal', (client, file) => client.callTool('rejectDiff', { filePath: file })],
  ]) {
    test(`is kept when ${when}`, async (t) => {
      const { sandbox, neovim, client, file, decision } = await change(t);
      await reject(client, file);
      assert.deepEqual(await decision, REJECTED);
      await showsPlace(neovim);
      assert.deepEqual(await kept(neovim), ['the user’s own']);
      const copy = sandbox.file('copy.txt', '');
      await neovim.type(':qall<CR><CR>');
      assert.match(await neovim.messages(), /E37|E162/, 'it does not go without a word');
      await neovim.command("execute 'sbuffer' bufnr('gemini-companion://kept')", 'write');
      assert.equal(fs.readFileSync(file, 'utf8'), 'old\n', 'nobody wants that');
      await neovim.command(`write! ${copy}`);
      assert.equal(fs.readFileSync(copy, 'utf8'), 'the user’s own\n');
      assert.equal(await neovim.lua('return vim.bo.modified'), false);
    });
  }

  test('is kept when the CLI writes something else', async (t) => {
    const { neovim, client, file, decision } = await change(t);
    await client.resolveDiffFromCli(file, 'accepted');
    await decision;
    fs.writeFileSync(file, 'new\n');
    await showsPlace(neovim);
    assert.deepEqual(await kept(neovim), ['the user’s own']);
    // A plugin that writes all buffers may do so often.
    await neovim.lua(`vim.notify = function(line) vim.g.warned = (vim.g.warned or 0) + (line:find('belongs to no file') and 1 or 0) end`);
    for (let times = 0; times < 2; times++) await neovim.command('silent! wall');
    assert.equal(await neovim.lua('return vim.g.warned'), 1);
    await neovim.type(":exe 'sbuffer' bufnr('gemini-companion://kept')<CR>:w<CR>");
    assert.equal(await neovim.lua('return vim.g.warned'), 2, 'its user writes it');
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

  const wipe = `execute 'bwipeout' bufnr('gemini-companion://kept')`;
  for (const [delivery, deletes] of [
    ['queued', wipe],
    ['unknown', wipe],
    ['unknown', '%bwipeout'],
    ['unknown', '%bdelete'],
  ]) {
    test(`whose delivery is ${delivery} leaves its text to a user after ${deletes}`, async (t) => {
      const { program, neovim, accept } = await openScripted(t);
      await accept('ccmine<Esc>');
      await neovim.command(deletes);
      const { id } = await program.request('diff/accepted');
      program.send({ id, result: { delivery } });
      await showsPlace(neovim);
      await neovim.command("execute 'sbuffer' bufnr('gemini-companion://kept')");
      assert.equal(await offered(neovim), 'mine');
      assert.equal(await neovim.lua('return vim.bo.modified'), true, 'Neovim asks before it quits');
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

test('a proposal in the form of its file is no text of the user', { skip }, async (t) => {
  const { program, neovim, file } = await openScripted(t);
  fs.writeFileSync(file, '\uFEFFold\r\n');
  const open = OPEN(1, file);
  delete open.params.replaysEdits;
  program.send(open);
  await program.answer(1);
  program.send({ id: 2, method: 'diff/close', params: { filePath: file } });
  assert.deepEqual((await program.answer(2)).result, { content: '\uFEFFnew\r\n' });
  program.send({ method: 'diff/unwritten', params: { filePath: file } }, OPEN(3, `${file}.2`));
  await program.answer(3);
  assert.equal(await offered(neovim), '');
});

test('what the CLI has written in any form is not offered when the companion restarts', { skip }, async (t) => {
  const { neovim, file, decision } = await change(t);
  await neovim.type(':w<CR>');
  // Gemini CLI's tool for edits keeps the end of the last line as it is in the file.
  fs.writeFileSync(file, (await decision).content.trimEnd());
  await neovim.restart();
  await neovim.ready();
  assert.doesNotMatch(await neovim.messages(), /has your text/);
  assert.deepEqual(await kept(neovim), {});
});

describe('a proposal', { skip, concurrency: 4 }, () => {
  test('is there after a reload', async (t) => {
    const { neovim, client, file, ...first } = await openProposal(t);
    let { decision } = first;
    for (const reload of [':e<CR>', ':e!<CR>', ':e ++ff=dos<CR>']) {
      await neovim.type(reload);
      assert.deepEqual((await neovim.sides(file)).right, ['new', 'new2'], reload);
      await neovim.type(':w<CR>');
      assert.deepEqual(await decision, accepted(''), reload);
      ({ decision } = await client.propose(neovim, file, 'new\nnew2\n'));
    }
  });

  test('has the proposed text after :e!, and u restores the user’s edits', async (t) => {
    const { neovim, file, decision } = await openProposal(t);
    await neovim.type('ccedited<Esc>:e!<CR>');
    assert.deepEqual((await neovim.sides(file)).right, ['new', 'new2']);
    await neovim.type('u');
    assert.deepEqual((await neovim.sides(file)).right, ['edited', 'new2']);
    assert.equal(await neovim.lua('return vim.bo.modified'), true);
    await neovim.type('u');
    assert.deepEqual((await neovim.sides(file)).right, ['edited', 'new2'], 'never an empty text');
    await neovim.type(':w<CR>');
    assert.deepEqual(await decision, accepted('edited\nnew2\n'));
  });

  for (const hidden of ['unload', 'hide', 'delete']) {
    test(`is rejected by :q also if the user has set bufhidden=${hidden}`, async (t) => {
      const { neovim, decision } = await openProposal(t, {
        init: `vim.cmd('autocmd BufEnter * setlocal bufhidden=${hidden}')`,
      });
      await neovim.type(':q<CR>');
      assert.deepEqual(await decision, REJECTED);
    });
  }

  test('is not accepted as an empty text once it was unloaded', async (t) => {
    const { neovim, decision } = await openProposal(t);
    await neovim.type(':setlocal bufhidden=unload<CR>');
    await neovim.type(':enew | GeminiCompanion accept<CR>');
    assert.deepEqual(await decision, accepted(''));
  });
});

describe('what the user wrote', { skip, concurrency: 4 }, () => {
  test('is there after :e! in the buffer that keeps it', async (t) => {
    const { neovim, decision } = await openProposal(t);
    await neovim.type('ccedited<Esc>:w<CR>');
    await decision;
    await neovim.command("execute 'sbuffer' bufnr('gemini-companion://kept')");
    await neovim.type('ccmore<Esc>:e!<CR>');
    assert.deepEqual(await texts(neovim, 'kept'), ['edited|new2']);
    await neovim.type('u');
    assert.deepEqual(await texts(neovim, 'kept'), ['more|new2']);
    assert.equal(await neovim.lua('return vim.bo.modified'), true);
  });

  test('is there when the proposal that has replaced theirs ends', async (t) => {
    const { sandbox, neovim, file } = await openProposal(t);
    const other = await IdeClient.connect(sandbox);
    await neovim.type('ccan hour of work<Esc>');
    const next = other.openDiff(file, 'newer\n');
    await neovim.until(`vim.fn.getline(1) == 'newer'`);
    await other.resolveDiffFromCli(file, 'accepted');
    await next;
    await neovim.until('#vim.api.nvim_list_tabpages() == 1');
    assert.deepEqual(await texts(neovim, 'kept'), ['an hour of work|new2']);
    assert.match(await neovim.messages(), /:sbuffer \d+ has your text for a\.txt/);
  });

  test('costs no decision if no buffer can keep it', async (t) => {
    const { neovim, decision } = await openProposal(t);
    await neovim.lua(`vim.api.nvim_create_buf = function() error('mine', 0) end`);
    await neovim.type('ccan hour of work<Esc>');
    await neovim.press(':quit!<CR>');
    assert.deepEqual(await decision, REJECTED);
    await neovim.says(/keeping your text failed: mine/);
  });
});

describe('Neovim does not leave', { skip, concurrency: 4 }, () => {
  const init = `vim.keymap.set('n', ' X', '<Cmd>xa<CR>')`;
  for (const keys of [':wqa<CR>', ':xa<CR>', ' X']) {
    test(`by ${keys} with a proposal whose file has changed`, async (t) => {
      const { neovim, file, decision } = await openProposal(t, { init });
      await neovim.type('ccan hour of work<Esc>');
      fs.writeFileSync(file, 'by hand\n');
      await neovim.type(keys);
      const warning = /the file changed after the proposal, :w! accepts it: a\.txt/;
      assert.match(await neovim.messages(), warning);
      await neovim.type(':wqa!<CR>').catch(() => {}); // it ends
      assert.deepEqual(await decision, accepted('an hour of work\nnew2\n'));
    });

    test(`by ${keys} with a changed proposal that is not in sight`, async (t) => {
      const { neovim, file } = await openProposal(t, { init });
      await neovim.type('ccan hour of work<Esc>:tabfirst<CR>');
      await neovim.type(keys.replace(' X', ':xall<CR>'));
      assert.match(await neovim.messages(), /a proposal waits, :GeminiCompanion show: a\.txt/);
      assert.deepEqual((await neovim.sides(file)).right, ['an hour of work', 'new2']);
    });
  }
});

describe('a file that a client has written by Neovim', { skip, concurrency: 4 }, () => {
  test('stays unchanged if its buffer has unsaved changes', async (t) => {
    const { neovim, client, file } = await openProposal(t);
    await neovim.command('tabfirst');
    await neovim.edit(file);
    await neovim.type('ccmine<Esc>');
    const { isError } = await client.callTool('acceptDiff', { filePath: file });
    assert.equal(isError, true);
    assert.equal(fs.readFileSync(file, 'utf8'), 'old\nold2\n');
    assert.equal((await neovim.ready()).proposals, 1);
  });

  test('keeps its link and its rights, and no rest of a longer text', async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    const program = await neovim.session(sandbox);
    const target = sandbox.file('target.txt', 'a long line\n'.repeat(9));
    fs.chmodSync(target, 0o751);
    const file = `${sandbox.project}/link.txt`;
    fs.symlinkSync('target.txt', file);
    await program.callTool('openDiff', { filePath: file, newContent: 'short\n' });
    await program.callTool('acceptDiff', { filePath: file });
    assert.equal(fs.readFileSync(target, 'utf8'), 'short\n');
    assert.equal(fs.statSync(target).mode & 0o777, 0o751);
    assert.ok(fs.lstatSync(file).isSymbolicLink());
  });

  test('stays unchanged if the disk is full', async (t) => {
    // A disk of 50,000 bytes.
    const { sandbox, neovim } = await openNeovim(t);
    const program = await neovim.session(sandbox);
    const file = sandbox.file('big.txt', 'precious\n');
    const proposed = `${'longer'.repeat(20_000)}\n`;
    await program.callTool('openDiff', { filePath: file, newContent: proposed });
    await neovim.lua(`
      local uv = vim.uv
      local write = uv.fs_write
      uv.fs_write = function(file, data, at)
        if at + #data <= 50000 then return write(file, data, at) end
        if at >= 50000 then return nil, 'ENOSPC: no space left on device' end
        return write(file, data:sub(1, 50000 - at), at)
      end`);
    await program.callTool('acceptDiff', { filePath: file });
    assert.equal(fs.readFileSync(file, 'utf8'), 'precious\n');
    assert.equal((await neovim.ready()).proposals, 1);
  });
});
