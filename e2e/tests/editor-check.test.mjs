// Tests the check of editors: Neovim and the minimal editor pass it, and broken editors don't.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { checkEditor } from '../lib/editor-check.mjs';
import { NOTIFICATIONS } from '../lib/editor-rules.mjs';
import { MINIMAL, noPython } from '../lib/minimal-editor.mjs';
import { NEOVIM, noNeovim } from '../lib/neovim.mjs';
import { methodsTo } from '../lib/protocol-page.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const CHECK = fileURLToPath(new URL('../editor-check.mjs', import.meta.url));
const NEOVIM_SETUP = fileURLToPath(new URL('../lib/check-neovim.lua', import.meta.url));
const run = promisify(execFile);

/** Returns the sentences about the broken rules. */
async function violations(command, options) {
  const results = await checkEditor(command, { timeout: 60, ...options });
  assert.ok(options.only || results.length > 20);
  return results.map(({ violation }) => violation).filter(Boolean);
}

test('Neovim keeps the rules of the protocol', { skip: noNeovim }, async (t) => {
  const env = Sandbox.of(t).env();
  const command = [NEOVIM, '--clean', '--headless', '-S', NEOVIM_SETUP];
  assert.deepEqual(await violations(command, { env }), []);
});

/**
 * Faults in the minimal editor, one of each kind, and those that lose or alter a text: its text, the text in its
 * place, the rule, and the sentence about it.
 */
const FAULTS = {
  'no companion': [
    "[os.environ.get('GEMINI_COMPANION', 'gemini-companion'),",
    "['true',",
    'starts a companion for its folder',
    /^The editor ended with 0 before it started its companion\.$/,
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
  'no decision': [
    "    send(method=method, params={'filePath': proposal['filePath'], **decision})",
    '    pass',
    'accepts for another program, and writes the file',
    /^The editor sent no decision before it answered diff\/accept without replaysEdits; it must/,
  ],
  'a second write': [
    " and not proposal['replaysEdits']",
    '',
    'leaves the file to a CLI that replays edits',
    /^The file has "new\\n" in place of "old\\n" after diff\/accept with replaysEdits, where the CLI writes\.$/,
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
  'a rejection that writes': [
    "lambda one: end(one, 'diff/rejected')",
    "lambda one: (Path(one['filePath']).write_text('new\\n'), end(one, 'diff/rejected'))[1]",
    'rejects for another program, and writes nothing',
    /^The file has "new\\n" in place of "old\\n" after diff\/reject\.$/,
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
  'a success without a proposal': [
    '    except Exception as error:',
    '    except KeyError:\n        send(id=id, result={})\n    except Exception as error:',
    'refuses requests about a file without a proposal',
    /^diff\/accept succeeds for a file that never had one/,
  ],
  'a decision that nobody has made': [
    '    proposals[path] = {',
    "    if path in proposals: end(proposals[path], 'diff/rejected')\n    proposals[path] = {",
    'replaces a proposal by a newer one',
    /^The editor sent diff\/rejected when a newer proposal replaced one, though nobody has decided\.$/,
  ],
  'a request that overtakes another': [
    "answer(message['id'], message['method'], message['params'])",
    "threading.Timer(message['method'] == 'diff/accept', answer, list(message.values())[1:]).start()",
    'takes requests about one path in order',
    /^diff\/accept is an error if diff\/close follows in its chunk/,
  ],
  'no end': [
    'import difflib',
    'import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nimport difflib',
    'ends, and ends the stdin of its companion',
    /^The editor did not end after SIGTERM\. It had 2 s\.$/,
  ],
  'no next companion': [
    "'--ide-name', 'minimal'",
    "'--ide-name', 'minimal', '--keep-proposals'",
    'names its proposals to the next companion, if it keeps them',
    /^The editor did not start its next companion\. It had 2 s\.$/,
  ],
};

test('each message to an editor is in a rule', () => {
  const names = ['checked-editor', 'editor-review', 'editor-rules'];
  const sources = names.map((name) => fs.readFileSync(new URL(`../lib/${name}.mjs`, import.meta.url), 'utf8')).join();
  const isSent = (method) => NOTIFICATIONS.test(method) || sources.includes(`'${method}'`);
  assert.deepEqual([...methodsTo].filter((method) => !isSent(method)), []);
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
      const timeout = sentence.source.includes('It had 2 s') ? 2 : 60;
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
