// Compares the messages that the plugin for Neovim knows with the examples of docs/editor-protocol.md, which a test of
// companion-protocol compares with the program: each message has a handler, which needs no other fields.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { Neovim, noNeovim as skip, openNeovim } from '../lib/neovim.mjs';
import { methodsFrom, methodsTo, toEditor } from '../lib/protocol-page.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const LUA = path.join(root, 'editors/nvim/lua/gemini_companion');

/** Returns the type of each field of each class in types.lua. */
function readClasses() {
  const classes = {};
  let fields = {};
  for (const line of fs.readFileSync(path.join(LUA, 'types.lua'), 'utf8').split('\n')) {
    const [, name] = line.match(/^---@class GeminiCompanion\.(\w+)/) ?? [];
    const [, key, type] = line.match(/^---@field (\S+) (\S+)/) ?? [];
    if (name) fields = classes[name] = {};
    if (key) fields[key.replace(/\[?"?\]?/g, '')] = type;
  }
  return classes;
}

test('types.lua has each field, with its type, of the messages that users get', () => {
  const classes = readClasses();
  const check = (value, name) => {
    const fields = classes[name];
    for (const key of Object.keys(fields)) {
      assert.ok(key.endsWith('?') || key in value, `no message has ${name}.${key}`);
    }
    for (const [key, one] of Object.entries(value)) {
      const type = fields[key] ?? fields[`${key}?`];
      assert.ok(type, `types.lua lacks ${name}.${key}`);
      const [, element] = type.match(/^GeminiCompanion\.(\w+)\[\]$/) ?? [];
      const expected = { number: 'integer' }[typeof one] ?? typeof one;
      if (element) for (const part of one) check(part, element);
      else assert.equal(type.startsWith("'") ? 'string' : type, expected, `${name}.${key}`);
    }
  };
  const names = Object.keys(classes).filter((name) => name.startsWith('Cli'));
  assert.ok(names.length >= 4);
  for (const name of names) {
    const method = `cli/${name.slice(3).toLowerCase()}`;
    const examples = toEditor.filter((example) => example.method === method && example.params);
    assert.ok(examples.length > 0, method);
    for (const { params } of examples) check(params, name);
  }
});

test('each message has a handler, and each handler’s needed fields are in the message', { skip }, async (t) => {
  const sandbox = Sandbox.of(t);
  const neovim = await Neovim.start(sandbox, { ui: false });
  const handlers = fs.readFileSync(path.join(LUA, 'messages.lua'), 'utf8').matchAll(/\['(\w+\/\w+)'\] = \{/g);
  assert.deepEqual([...handlers].map(([, method]) => method).sort(), [...methodsTo].sort());
  for (const { method, params } of toEditor) {
    if (params) {
      const missing = await neovim.lua(`return require('gemini_companion.messages').missing_field(...)`, method, params);
      assert.equal(missing, null, method);
    }
  }
});

test('a comment has each field of its example', { skip }, async (t) => {
  const { sandbox, neovim } = await openNeovim(t);
  await neovim.edit(sandbox.file('a.txt', 'one\n'));
  const sent = await neovim.lua(`
    local server = require('gemini_companion.server')
    local notify, sent = server.notify, nil
    server.notify = function(_, params) sent = params end
    vim.cmd('GeminiCompanion comment Why?')
    server.notify = notify
    return sent
  `);
  const { params } = toEditor.find(({ method }) => method === 'comment/pending');
  assert.deepEqual(Object.keys(sent).sort(), Object.keys(params.comments[0]).sort());
});

test('the plugin sends only messages that the companion knows', () => {
  const sent = fs.readdirSync(LUA).flatMap((name) =>
    [...fs.readFileSync(path.join(LUA, name), 'utf8').matchAll(/'((?:cli|comment|diff|editor|workspace)\/\w+)'(?!\])/g)].map(
      ([, method]) => method,
    ),
  );
  assert.ok(sent.length > 10);
  assert.deepEqual(sent.filter((method) => !methodsFrom.has(method)), []);
});
