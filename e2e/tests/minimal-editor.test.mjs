// Tests the editor from which others begin, with the real client and the real CLI.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { inPlaceOfResult, REASON, replace } from '../lib/conversation.mjs';
import { REJECTED, UNCHANGED } from '../lib/decision.mjs';
import { startCli } from '../lib/extension.mjs';
import { IdeClient } from '../lib/ide-client.mjs';
import { MINIMAL, MinimalEditor, noPython } from '../lib/minimal-editor.mjs';
import { Sandbox } from '../lib/sandbox.mjs';
import { noTerminal } from '../lib/terminal.mjs';

test('it has at most 60 lines', () => {
  const lines = fs.readFileSync(MINIMAL, 'utf8').trimEnd().split('\n');
  assert.ok(lines.length <= 60, `${lines.length} lines`);
});

describe('the minimal editor', { skip: noPython }, () => {
  async function open(t) {
    const sandbox = Sandbox.of(t);
    const editor = await MinimalEditor.start(sandbox);
    return { sandbox, editor, client: await IdeClient.connect(sandbox) };
  }

  test('shows a proposal as a diff, and sends the user’s decisions', async (t) => {
    const { sandbox, editor, client } = await open(t);
    const file = sandbox.file('a.txt', 'one\ntwo\n');
    const first = client.openDiff(file, 'one\nTWO\t\u001b[31m文 😀\n');
    await editor.shows(' one\n-two\n+TWO\t\uFFFD[31m文 😀\n');
    await editor.shows('1: y, n, or a reason?');
    editor.type('2 y');
    editor.type('1');
    editor.type('1 y');
    assert.deepEqual(await first, UNCHANGED);
    const created = path.join(sandbox.project, 'new.txt');
    const second = client.openDiff(created, 'new\n');
    await editor.shows('2: y, n, or a reason?');
    editor.type('1 y');
    editor.type('2 n');
    assert.deepEqual(await second, REJECTED);
    assert.equal(fs.readFileSync(file, 'utf8'), 'one\ntwo\n');
  });

  test('accepts a proposal for a changed file only if the user insists', async (t) => {
    const { sandbox, editor, client } = await open(t);
    const file = sandbox.file('a.txt', 'old\n');
    const decision = client.openDiff(file, 'new\n');
    await editor.shows('1: y, n, or a reason?');
    fs.writeFileSync(file, 'by hand\n');
    editor.type('1 y');
    await editor.shows('The file has changed since the proposal came. 1 y! accepts it.');
    editor.type('1 y!');
    assert.deepEqual(await decision, UNCHANGED);
  });

  test('closes a proposal that was answered in the terminal', async (t) => {
    const { sandbox, editor, client } = await open(t);
    const file = sandbox.file('a.txt', 'old\n');
    const decision = client.openDiff(file, 'new\n');
    await editor.shows('1: y, n, or a reason?');
    await client.resolveDiffFromCli(file, 'accepted');
    assert.deepEqual(await decision, UNCHANGED);
    editor.type('1 n');
    const next = client.openDiff(file, 'newer\n');
    await editor.shows('2: y, n, or a reason?');
    assert.equal(await editor.close(), 0);
    assert.deepEqual(await next, REJECTED);
  });

  test('gives the model the reason of a rejection', { skip: noTerminal }, async (t) => {
    const sandbox = Sandbox.of(t);
    const editor = await MinimalEditor.start(sandbox);
    const [a, b] = ['a.txt', 'b.txt'].map((name) => sandbox.file(name, 'one\ntwo\n'));
    const steps = [[replace(a), replace(b)], 'That was all.'];
    const { terminal, results } = await startCli(sandbox, 'gemini', steps, { review: true });
    await terminal.enter('rename it');
    await editor.shows('1: y, n, or a reason?');
    editor.type(`1 ${REASON}`);
    await editor.shows('2: y, n, or a reason?');
    editor.type('2 y');
    await terminal.shows(/That was all\./);
    assert.equal(results()[0], inPlaceOfResult(a));
    assert.deepEqual([a, b].map((file) => fs.readFileSync(file, 'utf8')), ['one\ntwo\n', 'one\nTWO\n']);
  });
});
