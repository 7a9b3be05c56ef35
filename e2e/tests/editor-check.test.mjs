// Tests the check of editors: Neovim and the minimal editor pass it, and broken editors don't.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { checkEditor } from '../lib/editor-check.mjs';
import { MINIMAL, noPython } from '../lib/minimal-editor.mjs';
import { NEOVIM, Neovim, noNeovim } from '../lib/neovim.mjs';
import { toEditor } from '../lib/protocol-page.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const NEOVIM_SETUP = fileURLToPath(new URL('../lib/check-neovim.lua', import.meta.url));
const CHECK = fileURLToPath(new URL('../editor-check.mjs', import.meta.url));
const run = promisify(execFile);

/** Returns the sentences about the broken rules. */
async function violations(command, options) {
  const results = await checkEditor(command, { timeout: 60, ...options });
  assert.ok(options.only || results.length > 20);
  return results.map(({ violation }) => violation).filter(Boolean);
}

/** A Neovim, and its user, who types. */
const NEOVIM_COMMAND = [NEOVIM, '--clean', '--headless', '--listen', './user.sock', '-S', NEOVIM_SETUP];

function neovimUser({ folder }) {
  const socket = path.join(folder, 'user.sock');
  async function press(keys) {
    await run(NEOVIM, ['--server', socket, '--remote-send', `<C-\\><C-n>${keys}`]);
    await run(NEOVIM, ['--server', socket, '--remote-expr', '1']);
  }
  const type = (filePath, keys) =>
    press(`:lua require('gemini_companion.diff').show([[${filePath}]])<CR>${keys}`);
  return {
    changesFile: (filePath) => press(`:tabedit ${filePath}<CR>ccmine<Esc>`),
    empties: (filePath) => type(filePath, ':%d<CR>'),
    accepts: (filePath) => type(filePath, ':w<CR>'),
    insists: (filePath) => type(filePath, ':w!<CR>'),
    rejects: (filePath, reason) =>
      type(filePath, `:lua require('gemini_companion').reject(nil, '${reason}')<CR>`),
  };
}

test('Neovim keeps the rules of the protocol', { skip: noNeovim }, async (t) => {
  const env = Sandbox.of(t).env();
  assert.deepEqual(await violations(NEOVIM_COMMAND, { env, user: neovimUser }), []);
});

/** Faults in the minimal editor: its text, the text in its place, the rule, and the sentence about it. */
const FAULTS = {
  'no companion': [
    "[os.environ.get('GEMINI_COMPANION', 'gemini-companion'),",
    "['true',",
    'starts a companion for its folder',
    /^The editor ended with 0 before it started its companion\.$/,
  ],
  'another folder': [
    "'.', '--ide-name'",
    "'/', '--ide-name'",
    'starts a companion for its folder',
    /^The editor named \["\/"\] by --workspace, not the folder where it was started\.$/,
  ],
  'no answer': [
    "        send(id=id, result=handlers[method](proposal) or {})",
    "        handlers[method](proposal)",
    'shows a proposal, and closes it with its text',
    /^The editor did not answer diff\/open\. It had 2 s\.$/,
  ],
  'two answers': [
    "        send(id=id, result=handlers[method](proposal) or {})",
    "        [send(id=id, result={'content': 'new\\n'}) for _ in (handlers[method](proposal), 2)]",
    'shows a proposal, and closes it with its text',
    /^The editor answered the request 1 twice, or without being asked\.$/,
  ],
  'no text': [
    "{'content': proposals.pop(one['filePath'])['newContent']}",
    "proposals.pop(one['filePath']) and {}",
    'shows a proposal, and closes it with its text',
    /^diff\/close returned nothing in place of "new\\n" after diff\/open\.$/,
  ],
  'a proposal that stays': [
    "proposals.pop(one['filePath'])['newContent']",
    "one['newContent']",
    'shows a proposal, and closes it with its text',
    /^diff\/accept succeeds after diff\/close; it must be an error/,
  ],
  'no version of JSON-RPC': [
    "{'jsonrpc': '2.0', **message}",
    'message',
    'shows a proposal, and closes it with its text',
    /^The editor sent a message without "jsonrpc": "2\.0"\.$/,
  ],
  'no decision': [
    "    send(method=method, params={'filePath': proposal['filePath'], **decision})",
    '    pass',
    'accepts for another program, and writes the file',
    /^The editor sent no decision before it answered diff\/accept without replaysEdits; it must/,
  ],
  'a decision without its text': [
    "end(proposal, 'diff/accepted', content=content)",
    "end(proposal, 'diff/accepted')",
    'leaves the file to a CLI that replays edits',
    /in place of "new\\n" before it answered diff\/accept with replaysEdits\.$/,
  ],
  'a second write': [
    " and not proposal['replaysEdits']",
    '',
    'leaves the file to a CLI that replays edits',
    /^The file has "new\\n" in place of "old\\n" after diff\/accept with replaysEdits, where the CLI writes\.$/,
  ],
  'no new folder': [
    'path.parent.mkdir(parents=True, exist_ok=True)',
    'pass',
    'accepts for another program, and writes the file',
    /^The editor answered diff\/accept with the error .*No such file or directory/,
  ],
  'a last line ending': [
    "['newContent']}}",
    "['newContent'].rstrip('\\n') + '\\n'}}",
    'returns texts unchanged',
    /^diff\/close returned "\\n" in place of "" for an empty text\.$/,
  ],
  'other line endings': [
    'path.write_bytes(content.encode())',
    "path.write_text(content, newline='\\r\\n')",
    'writes texts unchanged',
    /^The file has "\\r\\n" in place of "\\n" for one line ending\.$/,
  ],
  'an overwritten change': [
    'if not insists and ',
    'if False and ',
    'never overwrites a file that has changed, for another program',
    /^The file has "new\\n" in place of "own\\n" after diff\/accept for a file that has other bytes/,
  ],
  'a crash at a notification': [
    "if 'id' in message and 'method' in message:",
    "if message['method'] != 'companion/ready' and message['id']:",
    'survives every notification, known or not',
    /^The editor closed the stdin of its companion during diff\/close\. Its last error: KeyError: 'id'$/,
  ],
  'another error for unknown requests': [
    'else -32601',
    'else -32000',
    'answers unknown requests with -32601',
    /^The editor answered an unknown request with \{"code":-32000/,
  ],
};

test('Neovim needs no field that a message lacks', { skip: noNeovim }, async (t) => {
  const neovim = await Neovim.start(Sandbox.of(t));
  const missing = await neovim.lua(
    `local missing = {}
     for _, message in ipairs(...) do
       local field = require('gemini_companion.messages').missing_field(message.method, message.params)
       missing[#missing + 1] = field and (message.method .. ' ' .. field)
     end
     return table.concat(missing, ', ')`,
    toEditor,
  );
  assert.equal(missing, '');
});

describe('the check', { skip: noPython, concurrency: 2 }, () => {
  test('passes the minimal editor', async (t) => {
    const env = Sandbox.of(t).env();
    assert.deepEqual(await violations(['python3', MINIMAL], { env }), []);
  });

  for (const [fault, [text, replacement, only, sentence]] of Object.entries(FAULTS)) {
    test(`finds ${fault}`, async (t) => {
      const sandbox = Sandbox.of(t);
      const minimal = fs.readFileSync(MINIMAL, 'utf8');
      assert.ok(minimal.includes(text), text);
      const broken = sandbox.file('broken.py', minimal.replace(text, () => replacement));
      const timeout = fault === 'no answer' ? 2 : 60;
      const options = { env: sandbox.env(), only, timeout, startTimeout: 60 };
      const found = await violations(['python3', broken], options);
      assert.equal(found.length, 1);
      assert.match(found[0], sentence);
    });
  }

  test('says how it is used, and what it has found', async () => {
    await assert.rejects(run(process.execPath, [CHECK]), /usage: node editor-check\.mjs/);
    await assert.rejects(run(process.execPath, [CHECK, '--', 'false']), ({ stdout }) => {
      assert.match(stdout, /^✗ starts a companion for its folder\n {4}The editor ended with 1/);
      assert.match(stdout, /0 of 1 rules are kept/);
      return true;
    });
    const { stdout } = await run(process.execPath, [CHECK, '--timeout', '60', '--', 'python3', MINIMAL]);
    assert.match(stdout, /^✓ starts a companion for its folder\n(✓.*\n)+(\d+) of \2 rules are kept/);
  });
});
