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

/** Starts a core that has all these edits, `[tool, text]`, each in a file of its own. */
async function start(t, edits) {
  const { sandbox, neovim } = await openNeovim(t);
  await neovim.ready();
  const files = edits.map(([, text], index) => sandbox.file(`${index}.txt`, text));
  const end = runCore(
    sandbox,
    edits.map(([tool], index) => tool(files[index])),
  );
  const shows = (file) => Promise.race([neovim.view(file), end]);
  return { sandbox, neovim, files, end, shows };
}

test(
  'an unchanged edit is applied to the file’s current text, and not repeated without a warning',
  { skip },
  async (t) => {
    const edits = [
      [replace, 'one\ntwo\n'],
      [replace, 'two\n'],
    ];
    const { neovim, files, end, shows } = await start(t, edits);
    const [changed, same] = files;
    await shows(changed);
    fs.writeFileSync(changed, 'zero\none\ntwo\n');
    await neovim.type(':w<CR>');
    assert.match(await neovim.messages(), /the file changed after the proposal, :w! accepts it/);
    await neovim.type(':w!<CR>');
    await shows(same);
    fs.writeFileSync(same, 'TWO\n');
    await neovim.type(':w<CR>');
    assert.match(
      await neovim.messages(),
      /the file already has this text, :w! may repeat the edit/,
    );
    await neovim.type(':q!<CR>');
    const { results } = await end;
    assert.match(results[0].output, /Successfully modified/);
    assert.equal(read(changed), 'zero\none\nTWO\n');
    assert.equal(read(same), 'TWO\n');
  },
);

test('an edit keeps the form of its file', { skip }, async (t) => {
  const cases = [
    ['an unchanged edit keeps \\r\\n', replace, 'two\r\n', '', 'TWO\r\n'],
    ['an unchanged edit keeps a BOM', replace, `${BOM}two\n`, '', `${BOM}TWO\n`],
    ['an unchanged edit adds no end of line', replace, 'two', '', 'TWO'],
    ['an unchanged text for the whole file keeps a BOM', write, `${BOM}two\n`, '', `${BOM}TWO\n`],
    ['an edited proposal is written', replace, 'two\r\n', 'A!<Esc>', 'TWO!\r\n'],
    ['an emptied proposal is an edit', replace, 'two\n', ':%d<CR>', '\n'],
  ];
  const edits = cases.map(([, tool, old]) => [tool, old]);
  const { neovim, files, end, shows } = await start(t, edits);
  for (const [index, [, , , keys]] of cases.entries()) {
    await shows(files[index]);
    await neovim.type(`${keys}:w<CR>`);
  }
  await end;
  for (const [index, [name, , , , expected]] of cases.entries()) {
    assert.equal(read(files[index]), expected, name);
  }
});
