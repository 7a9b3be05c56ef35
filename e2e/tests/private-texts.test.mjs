// Tests that a secret in a comment or in a change reaches no model, no file of the companion and no list, also
// if its file becomes private later.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { run } from '../lib/doctor.mjs';
import { HookCli } from '../lib/hook-cli.mjs';
import { until } from '../lib/inbox.mjs';
import { allNotes, comment, commentOn, commentsIn, isRefused, isSaved } from '../lib/notes.mjs';
import { Window } from '../lib/window.mjs';

const SECRET = 'PASSWORD=hunter2';

/** A comment on the line with the secret, which also quotes it. */
const onSecret = (file, id) => commentOn(file, id, { content: SECRET, text: `remark ${id}: ${SECRET}` });

/** A window with a file that has a secret, and another file. */
async function open(t, name) {
  const window = await Window.open(t);
  const secret = window.sandbox.file(name, `${SECRET}\n`);
  const other = window.sandbox.file('other.txt', 'one\n');
  return { window, secret, other, hooks: new HookCli(window.sandbox) };
}

/** Waits until the editor knows that the open files are private, or that none is. */
const untilPrivate = ({ companion }, paths) =>
  companion.inbox.next(
    ({ method, params }) => method === 'companion/private' && params.paths.join() === paths.join(),
  );

/** Waits until the companion watches the project's folder: it does so before it reports a private file. */
async function untilWatched(window) {
  const env = window.sandbox.file('.env');
  window.companion.notify('editor/focused', { path: env });
  await untilPrivate(window, [env]);
}

/** Lets the CLI change a file. Returns a function for all that editors and scripts get of that change. */
async function change({ window, secret, hooks }, title) {
  await hooks.prompt(title);
  await hooks.write(secret, `${SECRET} ${title}\n`);
  const { params } = await window.companion.inbox.next(
    ({ method, params }) => method === 'cli/changed' && params.title === title,
  );
  const { session, prompt } = params;
  const key = { session, prompt, path: secret };
  const ask = (method, params) => window.companion.request(method, params).catch(({ message }) => message);
  return async () => {
    const disk = fs.readFileSync(secret, 'utf8');
    const files = [{ path: secret, prompts: [{ session, prompt }], disk }];
    const answers = [
      await ask('cli/texts', key),
      await ask('cli/hunks', key),
      await ask('cli/revertPlan', { files, undoesDeletions: false }),
    ];
    for (const more of [[], ['--json']]) {
      answers.push((await run(window.sandbox, ['changes', ...more])).stdout);
    }
    return answers.map((answer) => JSON.stringify(answer));
  };
}

test('a comment on a file with secrets reaches no model and no file', async (t) => {
  const { window, secret, other, hooks } = await open(t, '.env');
  window.companion.notify('comment/set', onSecret(secret, 'hidden'));
  await window.companion.inbox.next(isRefused('hidden'));
  await comment(window, commentOn(other, 2));
  assert.ok(!isSaved(window, SECRET));
  const text = await allNotes(hooks, other);
  assert.deepEqual(commentsIn(text), ['2']);
  assert.doesNotMatch(text, /PASSWORD|\.env/);

  window.sandbox.file('.geminiignore', '!/.env\n');
  await comment(window, onSecret(secret, 'shown'));
  assert.match(await allNotes(hooks, other), /remark shown: PASSWORD/);
  assert.ok(!isSaved(window, SECRET), 'a delivered text does not stay');
});

test('a comment on a file with secrets is in no file while ignore files change', async (t) => {
  const { window, secret } = await open(t, '.env');
  window.companion.notify('editor/focused', { path: secret });
  window.sandbox.file('.geminiignore', 'one\n');
  await untilPrivate(window, [secret]);
  const refused = [];
  for (let number = 0; number < 5; number++) {
    window.sandbox.file('.geminiignore', `${number}\n`);
    const id = `hidden${number}`;
    window.companion.notify('comment/set', onSecret(secret, id));
    refused.push(window.companion.inbox.next(isRefused(id)));
    await window.companion.caughtUp();
    assert.ok(!isSaved(window, SECRET));
  }
  await Promise.all(refused);
  assert.ok(!isSaved(window, SECRET));
});

test('a comment leaves the disk once its file is private, without any hook', async (t) => {
  const { window, secret, hooks, other } = await open(t, 'src/secret.txt');
  await untilWatched(window);
  await comment(window, onSecret(secret, 'hidden'));
  assert.ok(isSaved(window, SECRET));
  window.sandbox.file('.aiignore', 'secret*\n');
  await window.companion.inbox.next(isRefused('hidden'));
  await until('its text has left the disk', () => !isSaved(window, SECRET));
  await window.kill();
  await window.start();
  assert.doesNotMatch(await allNotes(hooks, other), /PASSWORD|secret/);
});

test('the text of a change of a file with secrets reaches no list, unless it is taken back', async (t) => {
  const all = await open(t, '.env');
  for (const part of await (await change(all, 'first'))()) assert.doesNotMatch(part, /PASSWORD/);
  all.window.sandbox.file('.geminiignore', '!/.env\n');
  for (const part of await (await change(all, 'second'))()) assert.match(part, /PASSWORD/);
  assert.ok(!isSaved(all.window, SECRET));
});

test('the text of a change is hidden at once, although no folder is watched', async (t) => {
  const all = await open(t, 'src/secret.txt');
  const shown = await change(all, 'first');
  for (const part of await shown()) assert.match(part, /PASSWORD/);
  all.window.sandbox.file('src/.aiignore', 'secret*\n');
  const reported = all.window.companion.inbox.next(
    ({ method, params }) => method === 'cli/changed' && params.files[0].private,
  );
  for (const part of await shown()) assert.doesNotMatch(part, /PASSWORD/);
  await reported;
});

test('the text of a change is hidden while its file is private', async (t) => {
  const all = await open(t, 'secret.txt');
  const { window, secret } = all;
  await untilWatched(window);
  const shown = await change(all, 'first');
  for (const part of await shown()) assert.match(part, /PASSWORD/);
  const rules = window.sandbox.file('.geminiignore', '/secret.txt\n');
  const reported = async (isPrivate) => {
    const { params } = await window.companion.inbox.next(
      ({ method, params }) => method === 'cli/changed' && params.files[0].private === isPrivate,
    );
    const [file] = params.files;
    assert.equal(file.revertible, !isPrivate);
    assert.equal('added' in file, !isPrivate);
  };
  await reported(true);
  for (const part of await shown()) assert.doesNotMatch(part, /PASSWORD/);
  window.companion.inbox.takeAll();
  fs.rmSync(rules);
  await reported(false);
  for (const part of await shown()) assert.match(part, /PASSWORD/);
});
