// Compares the messages that the plugin for Neovim knows with the examples of docs/editor-protocol.md, which a test of
// companion-protocol compares with the program: each message has a handler, and each field its type.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { Neovim, noNeovim as skip } from '../lib/neovim.mjs';
import { fromEditor, methodsFrom, methodsTo, results, toEditor } from '../lib/protocol-page.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const LUA = path.join(root, 'editors/nvim/lua/gemini_companion');

const code = (text) => [...text.matchAll(/`([^`]*)`/g)].map(([, code]) => code);
const isMethod = (code) => /^[a-z]+\/[a-zA-Z]+$/.test(code);

/** Returns the classes of types.lua by name: the type of each field, and the methods that have these parameters. */
function readClasses() {
  const classes = {};
  let [comment, current] = ['', {}];
  for (const line of fs.readFileSync(path.join(LUA, 'types.lua'), 'utf8').split('\n')) {
    const [, name] = line.match(/^---@class GeminiCompanion\.(\w+)/) ?? [];
    const [, key, type] = line.match(/^---@field (\S+) (.*)$/) ?? [];
    if (name) {
      const methods = /^The (parameters|result) of the /.test(comment) ? code(comment).filter(isMethod) : [];
      const isResult = comment.startsWith('The result');
      current = classes[name] = { fields: {}, methods, isResult };
    } else if (key) {
      current.fields[key.replace(/\[?"?\]?/g, '')] = type;
    }
    comment = line.startsWith('--- ') ? `${comment} ${line.slice(4)}`.trim() : '';
  }
  return classes;
}

const classes = readClasses();

/** Checks that a value has the type, and a table exactly the fields of its class. Adds the fields to `seen`. */
function check(value, type, where, seen) {
  const [, element] = type.match(/^(\S+)\[\]/) ?? [];
  const [, name] = type.match(/^GeminiCompanion\.(\w+)/) ?? [];
  if (element) {
    assert.ok(Array.isArray(value), where);
    for (const one of value) check(one, element, where, seen);
  } else if (classes[name]) {
    for (const [key, one] of Object.entries(value)) {
      const found = classes[name].fields[key] ?? classes[name].fields[`${key}?`];
      assert.ok(found, `types.lua lacks ${name}.${key} of ${where}`);
      check(one, found, `${where}.${key}`, seen);
    }
    for (const key of Object.keys(classes[name].fields)) {
      const isThere = key.replace('?', '') in value;
      assert.ok(isThere || key.endsWith('?'), `${where} has no ${key}, but types.lua says so`);
      const counts = (seen[`${name}.${key}`] ??= { present: 0, absent: 0 });
      counts[isThere ? 'present' : 'absent'] += 1;
    }
  } else {
    const expected = { number: 'integer', object: 'table' }[typeof value] ?? typeof value;
    const isText = /^'|^GeminiCompanion\./.test(type); // a list of texts, or its alias
    assert.equal(isText ? 'string' : type.match(/^\w+/)[0], expected, `the type of ${where}`);
  }
}

test('types.lua has each field of each message, with its type', () => {
  const seen = {};
  const classOf = (method, isResult) =>
    Object.keys(classes).find((name) => classes[name].methods.includes(method) && classes[name].isResult === isResult);
  const parameters = [...toEditor, ...fromEditor.filter(({ method }) => classOf(method, false))];
  const examples = [
    ...parameters.filter(({ params }) => params).map(({ method, params }) => [method, params, false]),
    ...results.map(({ method, params }) => [method, params, true]),
  ];
  for (const [method, value, isResult] of examples) {
    if (Object.keys(value).length > 0) {
      const name = classOf(method, isResult);
      assert.ok(name, `types.lua has no class for ${method}`);
      check(value, `GeminiCompanion.${name}`, method, seen);
    }
  }
  const never = Object.keys(seen).filter((field) => seen[field].present === 0);
  assert.deepEqual(never, [], 'no message has these fields');
  const known = new Set([...methodsTo, ...methodsFrom]);
  const stale = Object.values(classes).flatMap(({ methods }) => methods.filter((method) => !known.has(method)));
  assert.deepEqual(stale, [], 'there are no such messages');
});

test('each message has a handler, and each handler’s needed fields are in the message', { skip }, async (t) => {
  const sandbox = Sandbox.of(t);
  const neovim = await Neovim.start(sandbox, { ui: false });
  const methods = [...methodsTo].sort();
  const known = await neovim.lua(`return require('gemini_companion.messages').methods()`);
  assert.deepEqual(known, methods);
  for (const { method, params } of toEditor) {
    if (params) {
      const missing = await neovim.lua(`return require('gemini_companion.messages').missing_field(...)`, method, params);
      assert.equal(missing, null, method);
    }
  }
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
