// Tests the bytes of files and proposals in Neovim: none is lost.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { replace, write } from '../lib/conversation.mjs';
import { runCore } from '../lib/gemini-core.mjs';
import { noNeovim as skip, openNeovim, openNeovimWithClient } from '../lib/neovim.mjs';

const BOM = '\ufeff';
const NONE = undefined;

/** Shows a proposal, has the user do something, and returns the text that the CLI has in the end. */
async function review({ neovim, client }, file, proposed, ...keys) {
  const { decision } = await client.propose(neovim, file, proposed);
  for (const typed of [...keys, ':w<CR>']) await neovim.type(typed);
  const { status, content } = await decision;
  await neovim.until('#vim.api.nvim_list_tabpages() == 1');
  assert.equal(status, 'accepted');
  return content || proposed; // an unchanged proposal is the CLI's own
}

test('accepted as it is, a proposal is the CLI’s own text, byte for byte', { skip }, async (t) => {
  const window = await openNeovimWithClient(t);
  const emoji = 'é 文 😀 👩‍👩‍👧‍👦\tend';
  const cases = {
    'a file with LF': ['a\nb\n', 'a\nc\n'],
    'a file with CRLF': ['a\r\nb\r\n', 'a\r\nc\r\n'],
    'a file with CRLF, proposed with LF as `replace` does': ['a\r\nb\r\n', 'a\nc\n'],
    'a file with CRLF, proposed with both': ['a\r\nb\r\n', 'a\r\nc\nd\n'],
    'a file with both': ['a\r\nb\n', 'a\r\nb\nc\n'],
    'a file with CR': ['a\rb\r', 'a\rc\r'],
    'a file with a BOM': [`${BOM}a\n`, `${BOM}b\n`],
    'a file with a BOM, proposed without as `write_file` does': [`${BOM}a\n`, 'b\n', `${BOM}b\n`],
    'a file with a BOM and CRLF': [`${BOM}a\r\nb\r\n`, 'b\n', `${BOM}b\r\n`],
    'a last line without end': ['a\nb', 'a\nc'],
    'a last line that loses its end': ['a\nb\n', 'a\nb'],
    'a last line that gets an end': ['a\nb', 'a\nb\n'],
    'one line without end': ['a', 'b'],
    'an empty file': ['', 'a\n'],
    'a file that is emptied': ['a\n', ''],
    'a file that becomes one empty line': ['a\n', '\n'],
    'a new file': [NONE, 'a\nb\n'],
    'a new file with CRLF': [NONE, 'a\r\nb\r\n'],
    'a new file with a BOM': [NONE, `${BOM}a`],
    'a new file in a new folder': [NONE, 'a\n', 'a\n', 'new/folder/file.txt'],
    'a new file that is empty': [NONE, ''],
    'all of Unicode': [`${emoji}\n`, `${emoji}\u0000\u0001\u2028\uffff\u{10ffff}\n`],
  };
  let number = 0;
  for (const [name, [before, proposed, content = proposed, given]] of Object.entries(cases)) {
    const fileName = given ?? `file-${++number}.txt`;
    const file = path.join(window.sandbox.project, fileName);
    if (before !== NONE) window.sandbox.file(fileName, before);
    assert.equal(await review(window, file, proposed), content, name);
    if (before !== NONE)
      assert.equal(fs.readFileSync(file, 'utf8'), before, `${name}: untouched`);
  }
});

test('a program other than a CLI receives the form of the file', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  const program = await neovim.session(sandbox);
  const stream = await program.stream();
  const filePath = sandbox.file('a.txt', `${BOM}a\r\nb\r\n`);
  await program.callTool('openDiff', { filePath, newContent: 'a\nc\n' });
  await neovim.view(filePath);
  await neovim.type(':w<CR>');
  const { params } = await stream.messages.next(({ method }) => method === 'ide/diffAccepted');
  assert.equal(params.content, `${BOM}a\r\nc\r\n`);
});

test('the user’s changes are sent in the form of the file', { skip }, async (t) => {
  const window = await openNeovimWithClient(t);
  const cases = {
    LF: ['a\n', 'b\n', 'ggccX<Esc>', 'X\n'],
    CRLF: ['a\r\nb\r\n', 'a\nc\n', 'GoX<Esc>', 'a\r\nc\r\nX\r\n'],
    'a BOM': [`${BOM}a\n`, 'b\n', 'GoX<Esc>', `${BOM}b\nX\n`],
    'no last line end': ['a', 'b', 'GoX<Esc>', 'b\nX'],
    'a last line end that the user wants': ['a', 'b', ':set eol<CR>', 'b\n'],
    'line endings that the user wants': ['a\nb\n', 'a\nc\n', ':set ff=dos<CR>', 'a\r\nc\r\n'],
    'an empty file': ['', 'a\n', 'GoX<Esc>', 'a\nX\n'],
    'text in an empty proposal': ['a\n', '', 'iX<Esc>', 'X\n'],
    'nothing left: an empty text would mean “unchanged” to the client': ['a\n', 'b\nc\n', ':%d<CR>', '\n'],
    'a stray byte, which JSON can’t have': ['a\n', 'b\n', 'A<C-v>xff<Esc>', 'bÿ\n'],
    undone: ['a\n', 'b\n', 'ggccX<Esc>u', 'b\n'],
    'undo does not reach before the proposal': ['a\n', 'b\n', 'uuu', 'b\n'],
  };
  let number = 0;
  for (const [name, [before, proposed, keys, content]] of Object.entries(cases)) {
    const file = window.sandbox.file(`file-${++number}.txt`, before);
    assert.equal(await review(window, file, proposed, keys), content, name);
  }
});

test('files of any name', { skip }, async (t) => {
  const window = await openNeovimWithClient(t);
  const names = [
    'with a space',
    'e\u0301',
    '文/件 😀',
    '100%',
    '%41',
    `"' $HOME `,
    'a\\b',
    '#1',
    '*',
    '[a]',
    'a|b',
    'line\nbreak',
    '-dash',
    '~',
    '{a,b}',
  ];
  for (const name of names) {
    const file = window.sandbox.file(name, 'old\n');
    await window.neovim.edit(file);
    await window.client.openFiles((files) => files[0]?.path === file);
    assert.equal(await review(window, file, `${name}\n`), `${name}\n`);
  }
});

test('a path is kept as it was written', { skip }, async (t) => {
  const window = await openNeovimWithClient(t);
  window.sandbox.file('dir/a.txt', 'old\n');
  const file = `${window.sandbox.project}/./dir/..//dir/a.txt`;
  assert.equal(await review(window, file, 'new\n'), 'new\n');
});

test('an edit that can’t be shown fails, and Neovim stays unchanged', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  await assert.rejects(client.openDiff(sandbox.folder('project', 'dir'), 'x'), /dir is a directory, not a file/);
  await assert.rejects(client.openDiff('/dev/null', 'x'), /null is a char, not a file/);
  assert.equal(await neovim.lua('return #vim.api.nvim_list_tabpages()'), 1);
  assert.equal(await neovim.lua('return #vim.api.nvim_list_bufs()'), 1);
});

test('a file in another encoding is shown as Neovim reads it', { skip }, async (t) => {
  const window = await openNeovimWithClient(t);
  const file = window.sandbox.file('latin1.txt', Buffer.from('caf\xe9\n', 'latin1'));
  const decision = window.client.openDiff(file, 'café!\n');
  assert.deepEqual((await window.neovim.view(file)).left, ['café']);
  await window.neovim.type('A?<Esc>:w<CR>');
  assert.equal((await decision).content, 'café!?\n');
});

test('a changed end of the last line is announced, and goes with the last change', { skip }, async (t) => {
  const window = await openNeovimWithClient(t);
  const { sandbox, neovim } = window;
  for (const [before, proposed, remark] of [
    ['one\ntwo\n', 'ONE\ntwo', 'removes the line ending of the last line'],
    ['one\ntwo', 'ONE\ntwo\n', 'adds a line ending to the last line'],
    ['one\ntwo\n', 'ONE\r\ntwo\r\n', 'changes all line endings'],
  ]) {
    const file = sandbox.file('a.txt', before);
    await neovim.command('messages clear');
    assert.equal(await review(window, file, proposed, ':%diffget<CR>'), before, remark);
    assert.match(await neovim.messages(), new RegExp(`an edit to a\\.txt; it ${remark}`));
  }
  // The user has changed nothing.
  const file = sandbox.file('b.txt', 'one\n');
  assert.equal(await review(window, file, 'one'), 'one');
});

test('nothing is said about the line endings of a file that is not UTF-8', { skip }, async (t) => {
  const { sandbox, neovim, client } = await openNeovimWithClient(t);
  const file = sandbox.file('a.txt', '');
  fs.writeFileSync(file, Buffer.from('\ufeffone\r\ntwo\r\n', 'utf16le'));
  client.openDiff(file, 'one\r\nTWO\r\n');
  await neovim.view(file);
  assert.match(await neovim.messages(), /an edit to a\.txt$/m);
});

test('the buffer of an accepted file is reloaded when the CLI has written it', { skip }, async (t) => {
  const window = await openNeovimWithClient(t, { init: 'vim.o.autoread = false' });
  const { sandbox, neovim } = window;
  for (const [name, before, proposed, lines] of [
    ['a.txt', 'a\nb\n', 'a\nc\n', ['a', 'c']],
    ['crlf.txt', 'a\r\nb\r\n', 'a\r\nc\r\n', ['a', 'c']],
    ['bom.txt', `${BOM}a\n`, 'b\n', ['b']],
    ['noeol.txt', 'a', 'b', ['b']],
    ['new.txt', NONE, 'b\n', ['b']],
  ]) {
    const file = path.join(sandbox.project, name);
    if (before !== NONE) sandbox.file(name, before);
    await neovim.edit(file);
    const buffer = await neovim.lua('return vim.api.nvim_get_current_buf()');
    const content = await review(window, file, proposed);
    fs.writeFileSync(file, content);
    await neovim.until(
      `(function(buffer, lines) return vim.deep_equal(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), lines) end)(...)`,
      buffer,
      lines,
    );
    assert.equal(await neovim.lua('return vim.bo.modified'), false);
    await neovim.command('setlocal nofixendofline', 'write'); // asks nothing, and changes nothing
    assert.doesNotMatch(await neovim.messages(), /W1\d|E\d+:/);
    assert.equal(fs.readFileSync(file, 'utf8'), content);
  }
});

test('a half-written file is read again', { skip }, async (t) => {
  const window = await openNeovimWithClient(t);
  const { sandbox, neovim } = window;
  const file = sandbox.file('a.txt', 'a\n');
  await neovim.edit(file);
  const content = await review(window, file, 'b\n');
  await neovim.lua(
    `local path, content = ...
     vim.api.nvim_create_autocmd('FileChangedShellPost', {
       once = true,
       callback = function() vim.fn.writefile(vim.split(content, '\\n'), path, 'b') end,
     })`,
    file,
    content,
  );
  fs.writeFileSync(file, '');
  await neovim.until(`vim.fn.getline(1) == 'b'`);
});

test('unsaved changes stay, and the user gets a message', { skip }, async (t) => {
  const window = await openNeovimWithClient(t, { init: 'vim.o.autoread = true' });
  const { sandbox, neovim, client } = window;
  const file = sandbox.file('a.txt', 'old\n');
  await neovim.edit(file);
  await neovim.type('oUNSAVED<Esc>');
  const decision = client.openDiff(file, 'new\n');
  assert.deepEqual((await neovim.view(file)).left, ['old']);
  assert.match(await neovim.messages(), /a\.txt; it ignores the unsaved changes/);
  await neovim.type(':w<CR>');
  await decision;
  fs.writeFileSync(file, 'new\n');
  await neovim.until(`vim.fn.execute('messages'):find('a.txt changed on disk, but its buffer has unsaved changes')`);
  const buffer = () => neovim.lua('return vim.api.nvim_buf_get_lines(0, 0, -1, false)');
  assert.deepEqual(await buffer(), ['old', 'UNSAVED']);
  assert.equal(fs.readFileSync(file, 'utf8'), 'new\n');
  await neovim.command('edit!');
  assert.deepEqual(await buffer(), ['new']);
});

for (const [name, keys, shows] of [
  ["a buffer with 'noautoread' is reloaded", ':setlocal noautoread<CR>', `vim.fn.getbufline(..., 1)[1] == 'new'`],
  ['unsaved changes cause a message', 'oUNSAVED<Esc>', `vim.fn.execute('messages'):find('a.txt changed on disk, but')`],
]) {
  test(`${name} also if the CLI writes after its other proposals`, { skip }, async (t) => {
    const { sandbox, neovim } = await openNeovim(t);
    const session = await neovim.session(sandbox);
    const [file, other] = ['a.txt', 'b.txt'].map((path) => sandbox.file(path, 'old\n'));
    await neovim.edit(file);
    await neovim.type(keys);
    for (const filePath of [file, other]) await session.callTool('openDiff', { filePath, newContent: 'new\n' });
    await neovim.proposalBehind(other);
    // The ten seconds for the write pass a hundred times as fast.
    await neovim.lua(
      `local defer = vim.defer_fn
       _G.polls = 0
       vim.defer_fn = function(poll, time)
         _G.polls = _G.polls + 1
         return defer(poll, time / 100)
       end`,
    );
    await neovim.type(':GeminiCompanion accept a.txt<CR>');
    await neovim.until('_G.polls > 100');
    await sleep(200);
    fs.writeFileSync(file, 'new\n');
    await neovim.until(shows, file);
  });
}

test('a file that is open in another Neovim is reviewed without a question', { skip }, async (t) => {
  const window = await openNeovimWithClient(t, { init: `vim.o.directory = vim.env.HOME` });
  const { sandbox, neovim } = window;
  const file = sandbox.file('a.txt', 'old\n');
  const other = await openNeovim(t, { init: `vim.o.directory = [[${sandbox.home}]]` });
  await other.neovim.edit(file);
  await other.neovim.type('oUNSAVED<Esc>:preserve<CR>');
  assert.ok(fs.readdirSync(sandbox.home).some((name) => name.endsWith('.swp')));
  assert.equal(await review(window, file, 'new\n'), 'new\n');
  const swaps = fs.readdirSync(sandbox.home).filter((name) => name.endsWith('.swp'));
  assert.equal(swaps.length, 1, 'a proposal has no swap file');
});

const read = (file) => fs.readFileSync(file, 'utf8');

/** Starts a core that has all these edits, `[tool, text]`, each in a file of its own. */
async function start(t, edits) {
  const { sandbox, neovim } = await openNeovim(t);
  await neovim.ready();
  const files = edits.map(([, text], index) => sandbox.file(`${index}.txt`, text));
  const end = runCore(sandbox, edits.map(([tool], index) => tool(files[index])));
  const shows = (file) => Promise.race([neovim.view(file), end]);
  return { sandbox, neovim, files, end, shows };
}

test('an unchanged edit is applied to the file’s current text, and not repeated without a warning', { skip }, async (t) => {
  const edits = [[replace, 'one\ntwo\n'], [replace, 'two\n']];
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
  assert.match(await neovim.messages(), /the file already has this text, :w! may repeat the edit/);
  await neovim.type(':q!<CR>');
  const { results } = await end;
  assert.match(results[0].output, /Successfully modified/);
  assert.equal(read(changed), 'zero\none\nTWO\n');
  assert.equal(read(same), 'TWO\n');
});

test('an edit keeps the form of its file', { skip }, async (t) => {
  const cases = [
    ['an unchanged edit keeps \\r\\n', replace, 'two\r\n', '', 'TWO\r\n'],
    ['an unchanged edit keeps a BOM', replace, `${BOM}two\n`, '', `${BOM}TWO\n`],
    ['an unchanged edit adds no end of line', replace, 'two', '', 'TWO'],
    ['an unchanged text for the whole file keeps a BOM', (file) => write(file, 'TWO\n'), `${BOM}two\n`, '', `${BOM}TWO\n`],
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
