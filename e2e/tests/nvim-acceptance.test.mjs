// Checks the file after an acceptance in Neovim, with the real core of Gemini CLI.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { runCore } from '../lib/gemini-core.mjs';
import { noNeovim as skip, openNeovim } from '../lib/neovim.mjs';

const BOM = '\uFEFF';
const replace = (file_path) => ({
  name: 'replace',
  args: { file_path, instruction: '', old_string: 'two', new_string: 'TWO' },
});
const write = (file_path) => ({ name: 'write_file', args: { file_path, content: 'TWO\n' } });
const read = (file) => fs.readFileSync(file, 'utf8');

/** A core that has one edit of a file, and its end. */
async function propose(t, tool, old) {
  const { sandbox, neovim } = await openNeovim(t);
  await neovim.ready();
  const file = sandbox.file('a.txt', old);
  const end = runCore(sandbox, [tool(file)]);
  await Promise.race([neovim.proposal(file), end]);
  return { sandbox, neovim, file, end };
}

test('an unchanged edit is applied to the file’s current text', { skip }, async (t) => {
  const { neovim, file, end } = await propose(t, replace, 'one\ntwo\n');
  fs.writeFileSync(file, 'zero\none\ntwo\n');
  await neovim.type(':w<CR>');
  assert.match(await neovim.messages(), /the file changed after the proposal, :w! accepts it/);
  await neovim.type(':w!<CR>');
  const { results } = await end;
  assert.match(results[0].output, /Successfully modified/);
  assert.equal(read(file), 'zero\none\nTWO\n');
});

for (const [name, tool, old, keys, expected] of [
  ['an unchanged edit keeps \\r\\n', replace, 'two\r\n', '', 'TWO\r\n'],
  ['an unchanged edit keeps a BOM', replace, `${BOM}two\n`, '', `${BOM}TWO\n`],
  ['an unchanged edit adds no end of line', replace, 'two', '', 'TWO'],
  ['an unchanged text for the whole file keeps a BOM', write, `${BOM}two\n`, '', `${BOM}TWO\n`],
  ['an edited proposal is written', replace, 'two\r\n', 'A!<Esc>', 'TWO!\r\n'],
  ['an emptied proposal is an edit', replace, 'two\n', ':%d<CR>', '\n'],
]) {
  test(name, { skip }, async (t) => {
    const { neovim, file, end } = await propose(t, tool, old);
    await neovim.type(`${keys}:w<CR>`);
    await end;
    assert.equal(read(file), expected);
  });
}

test('an edit that a script accepts is made once', { skip }, async (t) => {
  const insert = (file_path) => ({
    name: 'replace',
    args: { file_path, instruction: '', old_string: 'two', new_string: 'half\ntwo' },
  });
  const { sandbox, neovim, file, end } = await propose(t, insert, 'one\ntwo\n');
  const script = await neovim.session(sandbox);
  await script.callTool('acceptDiff', { filePath: file });
  const { results } = await end;
  assert.match(results[0].output, /Successfully modified/);
  assert.equal(read(file), 'one\nhalf\ntwo\n');
});

test('an edit that the file already has is not repeated without a warning', { skip }, async (t) => {
  const { neovim, file, end } = await propose(t, replace, 'two\n');
  fs.writeFileSync(file, 'TWO\n');
  await neovim.type(':w<CR>');
  assert.match(await neovim.messages(), /the file already has this text, :w! may repeat the edit/);
  await neovim.type(':q!<CR>');
  await end;
  assert.equal(read(file), 'TWO\n');
});
