// Tests the check of editors: Neovim and the minimal editor pass it, and broken editors don't.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { checkEditor } from '../lib/editor-check.mjs';
import { neovimCommand, neovimUser } from '../lib/checked-neovim.mjs';
import { NOTIFICATIONS, RULES } from '../lib/editor-rules.mjs';
import { USER_RULES } from '../lib/editor-user-rules.mjs';
import { MINIMAL, noPython } from '../lib/minimal-editor.mjs';
import { Neovim, noNeovim } from '../lib/neovim.mjs';
import { methodsTo, toEditor } from '../lib/protocol-page.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const CHECK = fileURLToPath(new URL('../editor-check.mjs', import.meta.url));
const run = promisify(execFile);

/** Returns the sentences about the broken rules. */
async function violations(command, options) {
  const results = await checkEditor(command, { timeout: 60, ...options });
  assert.ok(options.only || results.length > 20);
  return results.map(({ violation }) => violation).filter(Boolean);
}

test('Neovim keeps the rules of the protocol', { skip: noNeovim }, async (t) => {
  const env = Sandbox.of(t).env();
  assert.deepEqual(await violations(neovimCommand(), { env, user: neovimUser }), []);
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
  'a rejection that writes': [
    "lambda one: end(one, 'diff/rejected')",
    "lambda one: (Path(one['filePath']).write_text('new\\n'), end(one, 'diff/rejected'))[1]",
    'rejects for another program, and writes nothing',
    /^The file has "new\\n" in place of "old\\n" after diff\/reject\.$/,
  ],
  'a limit for lines': [
    'map(json.loads, companion.stdout)',
    'map(json.loads, (line[:1_000_000] for line in companion.stdout))',
    'handles a large text, in pieces',
    /^The editor closed the stdin of its companion during diff\/open\. Its last error: json/,
  ],
  'another form of a name': [
    "{'filePath': proposal['filePath'], **decision}",
    "{'filePath': __import__('unicodedata').normalize('NFC', proposal['filePath']), **decision}",
    'names files as the companion names them',
    /^The editor's decision has the filePath .*é.* in place of /,
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
  'an abandoned proposal that stays': [
    "'diff/close': lambda one: ",
    "'diff/close': lambda one: {'content': 'new\\n'} if params.get('abandoned') else ",
    'closes an abandoned proposal',
    /^diff\/accept succeeds after an abandoned diff\/close/,
  ],
  'an earlier text that ends a proposal': [
    "    if 'id' in message and",
    "    if message['method'] == 'diff/written': proposals.pop(message['params']['filePath'], 0)\n    if 'id' in message and",
    'keeps a proposal, whatever becomes of an earlier text',
    /^The proposal is not open any more after diff\/unwritten and diff\/written about an earlier text\.$/,
  ],
  'a wait for its companion': [
    '    send(method=method, params=',
    "    threading.Timer(0, companion.stdout.readline).start() or send(id='1', method=method, params=",
    'goes on while its companion does not answer',
    /^The editor did not answer diff\/(accept|open)\. It had 2 s\.$/,
  ],
  'an unknown field that counts': [
    'str(next(numbers))',
    "str(next(numbers)) + proposal.get('unknown', '')",
    'ignores unknown fields',
    /^The editor answered diff\/open with the error .*TypeError/,
  ],
  'problems that are no list': [
    'else -32601',
    'else -32000',
    'reports problems, or does not know the request',
    /^editor\/diagnostics returned \{"code":-32000.*, without a list of files\.$/,
  ],
  'unsaved files that are no list': [
    'else -32601',
    'else -32000',
    'lists unsaved files, or does not know the request',
    /^editor\/unsaved returned \{"code":-32000.*, without a list of absolute paths\.$/,
  ],
  'no end': [
    'import difflib',
    'import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nimport difflib',
    'ends, and ends the stdin of its companion',
    /^The editor did not end after SIGTERM\. It had 2 s\.$/,
  ],
  'an end with an error': [
    'threading.Thread(target=listen_to_user',
    'import atexit; atexit.register(lambda: os._exit(3))\nthreading.Thread(target=listen_to_user',
    'survives the end of its companion',
    /^The editor ended with 3 when its companion had ended\.$/,
  ],
  'no next companion': [
    "'--ide-name', 'minimal'",
    "'--ide-name', 'minimal', '--keep-proposals'",
    'names its proposals to the next companion, if it keeps them',
    /^The editor did not start its next companion\. It had 2 s\.$/,
  ],
};

/** Faults in the plugin for Neovim, as Lua, with the rule, and the sentence about it. */
const NEOVIM_FAULTS = {
  'an empty text that has a line': [
    `local text = require('gemini_companion.text')
     local render = text.render
     text.render = function(parsed) local bytes = render(parsed) return bytes == '' and '\\n' or bytes end`,
    'reports a text that the user has emptied as an empty text',
    /^diff\/close returned "\\n" in place of "" when the user has emptied/,
  ],
  'no warning': [
    `require('gemini_companion.stale').warn_if_stale = function() return false end`,
    'warns before the user accepts a proposal for a changed file',
    /^The editor sent diff\/accepted when the user first accepted a proposal for a changed file/,
  ],
  'an overwritten text in a buffer': [
    `require('gemini_companion.stale').is_unseen = function() return false end`,
    'never overwrites the user’s unsaved text, for another program',
    /^diff\/accept succeeds for a file with unsaved text/,
  ],
  'a lost reason': [
    `local server = require('gemini_companion.server')
     local notify = server.notify
     server.notify = function(method, params) params.reason = nil return notify(method, params) end`,
    'rejects with the user’s reason',
    /^The editor's decision has the reason nothing in place of "Use a list\." when the user rejected/,
  ],
  'lost edits': [
    `require('gemini_companion.drafts').offer = function() end`,
    'keeps the user’s edits if a proposal ends without a decision',
    /^The editor must offer the user \["mine\\n"\] when a newer proposal replaced theirs\. .* It offers \[\]\.$/,
  ],
  'a text that stays hidden': [
    `require('gemini_companion.drafts').on_unwritten = function() end`,
    'offers back a text that the CLI has not written',
    /^The editor must offer the user \["mine\\n"\] after diff\/unwritten\. .* It offers \[\]\.$/,
  ],
  'a written text that drops another one': [
    `local drafts = require('gemini_companion.drafts')
     local on_written = drafts.on_written
     drafts.on_written = function(params) on_written(params) on_written(params) end`,
    'knows which of several texts the CLI has written',
    /^The editor must offer the user \["first\\n"\] after diff\/written, .* It offers \[\]\.$/,
  ],
  'an unread result': [
    `require('gemini_companion.drafts').delivered = function() end`,
    'offers back a text that the CLI has not received',
    /^The editor must offer the user \["new\\n"\] for an acceptance with the delivery queued\. .* It offers \[\]\.$/,
  ],
  'a second edit': [
    `require('gemini_companion.server').ask = function() return { withdrawn = true } end`,
    'withdraws a queued acceptance before it writes the file',
    /^The editor wrote the text of a queued acceptance before it sent diff\/withdraw\.$/,
  ],
  'texts that end with a companion': [
    `require('gemini_companion.drafts').stop = function() end`,
    'offers back the texts that it keeps when its companion ends',
    /^The editor must offer the user \["mine\\n"\] after the end of its companion\. .* It offers \[\]\.$/,
  ],
  'nameless proposals': [
    `require('gemini_companion.resuming').name = function() end`,
    'keeps the user’s edits for the next companion, if it keeps proposals',
    /^The editor did not send diff\/resume\./,
  ],
  'a restart without a word': [
    `local server = require('gemini_companion.server')
     local stop = server.stop
     server.stop = function() stop() end`,
    'announces a restart, if it keeps proposals',
    /^The editor did not send editor\/restarts\./,
  ],
};

test('each message to an editor is in a rule', () => {
  const names = ['checked-editor', 'editor-review', 'editor-rules', 'editor-user-rules'];
  const sources = names.map((name) => fs.readFileSync(new URL(`../lib/${name}.mjs`, import.meta.url), 'utf8')).join();
  const isSent = (method) => NOTIFICATIONS.test(method) || sources.includes(`'${method}'`);
  assert.deepEqual([...methodsTo].filter((method) => !isSent(method)), []);
});

test('each rule has a fault that breaks it', () => {
  const rulesOf = (faults, index) => new Set(Object.values(faults).map((fault) => fault[index]));
  assert.deepEqual(Object.keys(RULES).filter((rule) => !rulesOf(FAULTS, 2).has(rule)), []);
  assert.deepEqual(Object.keys(USER_RULES).filter((rule) => !rulesOf(NEOVIM_FAULTS, 1).has(rule)), []);
});

describe('the check of Neovim', { skip: noNeovim, concurrency: 2 }, () => {
  for (const [fault, [lua, only, sentence]] of Object.entries(NEOVIM_FAULTS)) {
    test(`finds ${fault}`, async (t) => {
      const options = { env: Sandbox.of(t).env(), only, user: neovimUser, timeout: 3, startTimeout: 60 };
      const found = await violations(neovimCommand(lua), options);
      assert.equal(found.length, 1);
      assert.match(found[0], sentence);
    });
  }
});

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
