// Owns how a Neovim and its clients find each other, and that nothing is left behind.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { IdeClient } from '../lib/ide-client.mjs';
import { Neovim, noNeovim as skip, openNeovim, openNeovimWithClient, until } from '../lib/neovim.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

test('a client in :terminal finds its Neovim among several in the same folder', { skip }, async (t) => {
  const sandbox = Sandbox.of(t);
  const neovims = [await Neovim.start(sandbox), await Neovim.start(sandbox)];
  for (const neovim of neovims) await neovim.ready();
  for (const neovim of neovims) {
    const client = await neovim.clientInTerminal(sandbox);
    assert.equal((await client.connect()).status, 'connected');
    assert.equal(await client.displayName(), 'Neovim');
    await neovim.until(`require('gemini_companion').status().clients == 1`);
  }
});
