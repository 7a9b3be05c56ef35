// Owns what becomes of a text that the user wrote in Neovim, and that no CLI writes to the file.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { noNeovim as skip, openNeovimWithClient } from '../lib/neovim.mjs';

/** The texts that are kept, in buffers of their own. */
const kept = (neovim) =>
  neovim.lua(`
    local texts = {}
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_get_name(buffer):find('^gemini%-companion://kept') then
        table.insert(texts, table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), '|'))
      end
    end
    return #texts > 0 and texts or vim.empty_dict()`);

const told = (neovim) =>
  neovim.until("vim.fn.execute('messages'):find('was not written by its CLI') ~= nil");

/** A proposal that the user has changed. */
async function change(t) {
  const scene = await openNeovimWithClient(t);
  const file = scene.sandbox.file('a.txt', 'old\n');
  const decision = scene.client.openDiff(file, 'new\n');
  decision.catch(() => {}); // its client may be killed
  await scene.neovim.proposal(file);
  await scene.neovim.type('ccthe user’s own<Esc>');
  return { ...scene, file, decision };
}

describe('what the user wrote', { skip, concurrency: true }, () => {
  test('is kept when its CLI ended without anyone knowing', async (t) => {
    const { neovim, client } = await change(t);
    client.signal('SIGKILL');
    await neovim.until("require('gemini_companion.server').status().clients == 0");
    await neovim.type(':w<CR>');
    await told(neovim);
    assert.deepEqual(await kept(neovim), ['the user’s own']);
  });

  test('is kept when the user says no in the terminal', async (t) => {
    const { sandbox, neovim, client, file, decision } = await change(t);
    await client.resolveDiffFromCli(file, 'rejected');
    await decision;
    await told(neovim);
    assert.deepEqual(await kept(neovim), ['the user’s own']);
    const copy = sandbox.file('copy.txt', '');
    await neovim.command("execute 'sbuffer' bufnr('gemini-companion://kept')", `write! ${copy}`);
    assert.equal(fs.readFileSync(copy, 'utf8'), 'the user’s own\n');
  });

  test('is kept when the CLI writes something else', async (t) => {
    const { neovim, client, file, decision } = await change(t);
    await client.resolveDiffFromCli(file, 'accepted');
    await decision;
    fs.writeFileSync(file, 'new\n');
    await told(neovim);
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
    const never = client.openDiff(other, 'new\n');
    await neovim.proposal(other);
    await neovim.type('ccanother<Esc>:w<CR>');
    await never;
    await told(neovim);
    assert.deepEqual(await kept(neovim), ['another']);
  });
});
