// The recorder of the texts in pictures finds those that a picture shows, and no similar ones.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bundleTexts, codeTexts, findBundleTexts, findCodeTexts } from '../lib/picture-texts.mjs';

/** Checks which texts of a bundle are found in one shown text. */
function inWindow(bundle, shown, expected) {
  assert.deepEqual(findBundleTexts(bundleTexts(bundle.join('\n')), [shown]), expected, shown);
}

/** Checks which literals of code are found in one line of a screen. */
function onScreen(code, shown, expected, language = 'lua') {
  assert.deepEqual(findCodeTexts(codeTexts(code, language), [shown]), expected, shown);
}

test('a short text is found as a whole one', () => {
  const bundle = ['a.now=Now', 'a.log=L&og:', 'a.cli=CLI'];
  inWindow(bundle, 'Now', ['a.now=Now']);
  inWindow(bundle, 'Log:', ['a.log=L&og:']);
  inWindow(bundle, 'Now (deleted)', []);
  inWindow(bundle, 'CLI: 1 to review', []);
});

test('a count is found in each of its forms', () => {
  const bundle = ['a.files={0,choice,1#1 file|1<{0} files}', 'a.changed={0,choice,1#1 file|1<{0} files} changed'];
  inWindow(bundle, '1 file', [bundle[0]]);
  inWindow(bundle, 'Moments ago  2 files', [bundle[0]]);
  inWindow(bundle, '12 files changed', [bundle[1]]);
  inWindow(bundle, '2 spaces', []);
  inWindow(bundle, 'some files', []);
});

test('a sentence is found among others, and so are the texts in it', () => {
  const bundle = ['a.cli=CLI {0}', 'a.position={0} of {1}:', 'a.new={0} proposes {1}.', 'a.old=It is old.'];
  inWindow(bundle, '2 of 12: CLI 2 proposes a.md. It is old.', bundle);
  inWindow(bundle, 'CLI 2 proposes a.md. It is older.', ['a.cli=CLI {0}', 'a.new={0} proposes {1}.']);
});

test('the literals that compose a text are found', () => {
  const code = `local x = { 'New file', ' by ', 'a CLI', ' (:w accepts', ', edited', ')', 'gone' }`;
  const found = ["'New file'", "' by '", "'a CLI'", "' (:w accepts'", "')'"];
  onScreen(code, 'The file  │New file by a CLI (:w accepts)', found);
  onScreen(code, 'It was made by the user', []);
  onScreen(code, 'gone', []);
});

test('the words after numbers are found', () => {
  const code = `('+%d −%d'):format(1, 2), ', ', 'new', 'reverted'`;
  onScreen(code, 'a.md | +3 −0, new', [`'+%d −%d'`, `', '`, `'new'`]);
  onScreen(code, 'a.md | +3 −0, renewed', [`'+%d −%d'`]);
  onScreen(code, 'this is new, reverted by hand', []);
});

test('a literal with several words is found in a line, a part of a word is not', () => {
  onScreen(`'Comment on %s: ', 'line %d', '%d files'`, 'Comment on line 3: Is it', [`'Comment on %s: '`, `'line %d'`]);
  onScreen(`'open file'`, 'reopen files', []);
  onScreen(`-- 'A comment of code'`, 'A comment of code', []);
  onScreen(`'%d files'`, '12 filesystems', []);
});

test('the literals of Rust are found', () => {
  const code = 'push(format!("Revert all {count} files?")); ", and will be deleted"';
  onScreen(code, 'Revert all 2 files?', ['"Revert all {count} files?"'], 'rs');
  onScreen(code, 'a.md is new, and will be deleted', ['", and will be deleted"'], 'rs');
  onScreen(code, 'Revert all files?', [], 'rs');
});
