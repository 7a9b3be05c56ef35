// Plays the demonstration: Gemini CLI's own client and a real IDE, with a scripted user. It prints
// and photographs each step; the exit code shows success.
//
//   node demo.mjs PICTURES [SCREENSHOTS]     SCREENSHOTS gets the documents' pictures,
//                                            light and dark

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { REJECTED, UNCHANGED, accepted } from './lib/decision.mjs';
import { Display } from './lib/display.mjs';
import { run } from './lib/doctor.mjs';
import { HookCli } from './lib/hook-cli.mjs';
import { beforeEdit } from './lib/hook.mjs';
import { CONNECTED, Scene } from './lib/ide-scene.mjs';
import { IdeClient } from './lib/ide-client.mjs';
import { until } from './lib/inbox.mjs';
import { findTexts, recordTexts } from './lib/picture-texts.mjs';

const [pictures, screenshots] = process.argv.slice(2);

const FILE = `{
  "name": "coffee-shop",
  "server": {
    "host": "localhost",
    "port": 8080,
    "timeoutSeconds": 30
  },
  "menu": [
    { "drink": "espresso", "price": 2.4 },
    { "drink": "cappuccino", "price": 3.2 },
    { "drink": "flat white", "price": 3.6 }
  ]
}
`;
const PROPOSAL = FILE.replace('"localhost"', '"0.0.0.0"')
  .replace('"timeoutSeconds": 30', '"timeoutSeconds": 5,\n    "tls": true')
  .replace(
    '"flat white", "price": 3.6 }',
    '"flat white", "price": 3.6 },\n    { "drink": "filter", "price": 2.8 }',
  );
/** The text after the user's edit: with a 1 before the 5. */
const EDITED = PROPOSAL.replace('"timeoutSeconds": 5', '"timeoutSeconds": 15');
const EDIT = [...Array(5).fill('Down'), 'End', 'Left', 'Left', '1'];

const SECRET = 'hunter2';
const README = '# Coffee shop\n\nWhat our till runs on.\n';
const BOTH_CONNECTED = 'Companion for Gemini CLI: 2 CLIs connected';
/** The proposals that arrive at once. */
const CHEAPER = EDITED.replace('"price": 3.6', '"price": 3.4');
const LONGER_README = `${README}\nStart it with \`till --config shop.json\`.\n`;

const MENU = `# Menu

- espresso
- cappuccino
- flat white
`;
const TWELVE = 'affogato americano cappuccino cortado espresso filter frappe latte lungo macchiato mocha ristretto';

/** The height of the dialog when it shows the whole page, and the part of the screen below a maximized window. */
const [SETTINGS_HEIGHT, SPARE_HEIGHT] = [1100, 350];
const isEndOfSettings = (line) => line.startsWith('settings.restart.explanation=');

let isDark = false;
let scene;
const start = performance.now();

/** Formats a value as one short line. */
function brief(value) {
  const text = JSON.stringify(value, (key, member) => {
    if (typeof member !== 'string') return member;
    const short = member.replaceAll(scene.sandbox.root, '…');
    return short.length > 64 ? `${short.slice(0, 64)}… (${short.length} characters)` : short;
  });
  return text ?? '';
}

function say(from, to, what, value) {
  const time = ((performance.now() - start) / 1000).toFixed(1).padStart(5);
  console.log(`${time} s  ${from.padStart(10)} → ${to.padEnd(10)}  ${what} ${brief(value)}`);
}

function title(text) {
  console.log(`\n${text}`);
}

let count;
/** Takes a picture of the window, or of a dialog; `screenshot` is its name in the documents, if one has it. */
async function picture(name, screenshot, dialog) {
  const theme = isDark ? '-dark' : '';
  const file = path.join(pictures, `${++count}-${name}${theme}.png`);
  await scene.ide.picture(file, dialog);
  console.log(`${' '.repeat(33)}  picture ${file}`);
  if (screenshots && screenshot) {
    fs.mkdirSync(screenshots, { recursive: true });
    fs.copyFileSync(file, path.join(screenshots, `${screenshot}${theme}.png`));
    recordTexts(screenshots, screenshot, 'jetbrains', await scene.ide.robot('read', { window: dialog }));
  }
}

/** Waits for the user's decision, and returns the client's answer. */
async function answer({ decision }) {
  const result = await decision;
  say('IDE', 'Gemini CLI', `the edit was ${result.status}`, result);
  return result;
}

/** Waits until the proposal for a file shows as expected. */
async function shown(file, matches) {
  const tab = await scene.proposal(file, (tab) => tab.marks > 0 && matches(tab));
  say('IDE', 'user', 'shows the proposal', { tab: tab.title, banner: tab.banners.flat() });
  return tab;
}

/** Makes a client propose an edit. */
function ask(client, file, text) {
  say('Gemini CLI', 'IDE', 'openDiff', { filePath: file, newContent: text });
  return { file, decision: client.openDiff(file, text) };
}

/** Runs the hook of the companion's extension, without which a rejection has no reason. */
const runHook = (client, file, session_id = 'a') =>
  client.hook('before-tool', beforeEdit(file, { session_id }));

/** Makes the client propose an edit while the user is in an editor; then the user opens it. */
async function propose(file, text) {
  await runHook(scene.client, file);
  const { decision } = ask(scene.client, file, text);
  await scene.status(`${CONNECTED}, 1 proposal waits for your review`);
  const { statusBar } = await scene.ide.until(
    ({ texts }) => texts.includes('Review'),
    'the notification',
  );
  say('IDE', 'user', 'shows it', { statusBar: statusBar.find((text) => /waits/.test(text)) });
  await picture('waiting');
  await scene.ide.click('text', { text: 'Review' });
  const { title } = await shown(file, ({ right }) => right === text);
  return { title, decision };
}

/** Makes two CLIs propose while the user is in an editor, who then reviews both. */
async function showTwo(shop, readme) {
  title('A second CLI starts. Both propose an edit. The user accepts one after the other.');
  const other = await scene.connect();
  const first = ask(scene.client, shop, CHEAPER);
  await scene.status(`${BOTH_CONNECTED}, 1 proposal waits for your review`);
  const second = ask(other, readme, LONGER_README);
  await scene.status(`${BOTH_CONNECTED}, 2 proposals wait for your review`);
  await scene.ide.click('text', { text: 'Review' });
  const tab = await isInFront(shop, '1 of 2: CLI 1 proposes');
  await picture('two');
  await scene.accept(tab.title);
  await checkUnchanged(first, CHEAPER);
  const next = await isInFront(readme, 'The CLI proposes');
  await scene.accept(next.title);
  await checkUnchanged(second, LONGER_README);
  await scene.noProposal();
  await other.close();
}

/** Waits until the proposal for a file is in front, with a banner that begins with the text. */
const isInFront = (file, begin) =>
  shown(file, ({ isSelected, banners }) => isSelected && banners.flat()[0]?.startsWith(begin));

/** Checks that the CLI gets the acceptance of its unchanged edit, and writes it. */
async function checkUnchanged(proposal, content) {
  assert.deepEqual(await answer(proposal), UNCHANGED);
  fs.writeFileSync(proposal.file, content);
}

/** Twelve CLIs propose at once; the status bar has the list. */
async function showTwelve() {
  title('Twelve CLIs propose a new file each.');
  const proposals = [];
  for (const name of TWELVE.split(' ')) {
    const client = proposals.length === 0 ? scene.client : await scene.connect();
    const file = path.join(scene.sandbox.project, 'recipes', `${name}.md`);
    await runHook(client, file, client === scene.client ? 'a' : name);
    const { decision } = await scene.propose(file, `# ${name}\n`, client);
    proposals.push({ client, file, decision });
  }
  await scene.ide.click('text', { text: 'CLI: 12 to review' });
  const isThere = ({ texts }) => texts.filter((text) => text === 'Reject').length >= 12;
  await scene.ide.until(isThere, 'the list of proposals');
  await picture('twelve', 'twelve');
  await scene.ide.display.press('Escape');
  for (const { client, file, decision } of proposals) {
    await client.resolveDiffFromCli(file, 'rejected');
    assert.deepEqual(await decision, REJECTED);
    if (client !== scene.client) await client.close();
  }
  await scene.noProposal();
}

/** A file with a secret has the focus. Its name and its text stay in the IDE, which says why. */
async function showSecret() {
  const { ide } = scene;
  title('The user opens .env, and selects the password in it. Gemini CLI does not get it.');
  const env = await scene.edit('.env', `TILL_PASSWORD=${SECRET}\n`, {
    ...{ line: 1, character: 15 + SECRET.length },
    from: { line: 1, character: 15 },
  });
  const { focus } = await ide.robot('look');
  say('user', 'IDE', 'selects', focus);
  assert.equal(focus.selection, SECRET);
  // The popup shows the state at the time when it opens, and the companion first looks at the file.
  const texts = await until('the reason in the popup', async () => {
    await ide.invoke('Companion.ShowStatus');
    const { texts } = await ide.until(({ texts }) => texts.includes('Copy health report'), 'the popup');
    if (texts.includes('Hidden from the CLI:')) return texts;
    await ide.display.press('Escape');
    await ide.until(({ texts }) => !texts.includes('Copy health report'), 'the end of the popup');
    return undefined;
  });
  const why = texts.find((text) => text.includes('It may contain'));
  assert.ok(why, texts.join());
  say('IDE', 'user', 'hides .env from the CLI, and says');
  console.log(`         ${why.replace(/<[^>]*>|\s+/g, ' ').trim()}`);
  await picture('private');
  const context = await scene.client.context();
  say('IDE', 'Gemini CLI', 'ide/contextUpdate', context);
  assert.ok(!JSON.stringify(context).includes(env) && !JSON.stringify(context).includes(SECRET));
  await ide.display.press('Escape');
  await ide.until(({ texts }) => !texts.includes('Hidden from the CLI:'), 'the end of the list');
}

/** All changes of a prompt are in one view, where the user reverts one of them. */
async function showPrompt(readme) {
  const { ide, sandbox } = scene;
  title('The user looks at all changes of a prompt in one view, and reverts one of them.');
  const list = JSON.parse((await run(sandbox, ['changes', '--json'])).stdout);
  const { prompt } = list.prompts.find((of) => of.title === 'Serve over TLS');
  const { stdout } = await run(sandbox, ['changes', '--prompt', String(prompt)]);
  say('user', 'companion', `gemini-companion changes --prompt ${prompt}`);
  assert.match(stdout, /^\+It listens on port 443\.$/m);
  console.log(stdout.trimEnd().replace(/^/gm, '         '));
  await scene.invokeOnChange('Serve over TLS', 'Companion.ShowPrompt');
  const { focus } = await ide.until(({ focus }) => focus?.text?.includes('+It listens on port 443.'), 'the diff');
  await picture('prompt');
  const line = focus.text.split('\n').find((line) => line.startsWith('@@'));
  await ide.click('icon', { line, tooltip: 'Revert' });
  await ide.untilRobot(['text of file', { path: readme }], (text) => text === LONGER_README, 'the former text');
  say('user', 'IDE', 'reverts the change in README.md');
  await picture('prompt-reverted');
}

/** A CLI that asks nothing gets a comment with its prompt, and changes files; the user reverts one. */
async function showChanges(shop, readme) {
  const { ide, sandbox } = scene;
  title('The user comments on a line. The CLI gets it with the next prompt.');
  const cli = new HookCli(sandbox, 'a', scene.client);
  const before = fs.readFileSync(shop, 'utf8');
  await scene.edit('shop.json', before, { line: 5 });
  await ide.display.press('ctrl+alt+shift+m');
  await ide.until(({ texts }) => texts.includes('Comment for the CLI on Line 5'), 'the field');
  await ide.display.type('Should be 443.');
  await picture('comment');
  await ide.display.press('Return');
  await ide.until(({ focus }) => focus?.path === shop, 'the focus in the file');
  const context = await cli.prompt('Serve over TLS');
  say('IDE', 'Gemini CLI', 'the prompt’s context', context);
  assert.match(context, /Should be 443\./);

  title('In YOLO mode the CLI changes files without a question. The user opens their list.');
  const after = before.replace('8080', '443');
  await cli.write(shop, after);
  await cli.write(readme, `${LONGER_README}\nIt listens on port 443.\n`);
  await cli.prompt('Add a menu');
  await cli.write(path.join(sandbox.project, 'menu.md'), MENU);
  const isCounted = (text) => text.endsWith(', 3 files changed');
  await ide.until(({ statusBar }) => statusBar.some(isCounted), 'the count');
  await scene.openChanges();
  const { rows } = await ide.until(({ rows }) => rows.some((row) => row.startsWith('menu.md')), 'the list');
  say('IDE', 'user', 'lists', rows.slice(rows.findIndex((row) => row.startsWith('Add a menu'))));
  await ide.untilRobot(['text of file', { path: shop }], (text) => text === after, 'the new text');
  await picture('changes', 'changes');
  await showPrompt(readme);
  await scene.invokeOnChange('shop.json', 'Companion.RevertFile');
  await ide.untilRobot(['text of file', { path: shop }], (text) => text === before, 'the former text');
  say('user', 'IDE', 'reverts shop.json');
  await picture('reverted');
}

async function play() {
  const { sandbox } = scene;
  const readme = sandbox.file('README.md', README);

  title('The IDE starts with the plugin, and opens a sample project.');
  sandbox.file('shop.json', FILE);
  const display = await Display.start(sandbox, { spare: SPARE_HEIGHT });
  await scene.openIde({ isDark, display });
  const { windows, statusBar } = await scene.ide.robot('look');
  say('IDE', 'user', 'shows', { windows, statusBar });

  title('The user opens a file and selects something in it.');
  const file = await scene.edit('shop.json', FILE, {
    line: 5,
    character: 17,
    from: { line: 4, character: 5 },
  });
  const { focus } = await scene.ide.robot('look');
  say('user', 'IDE', 'selects', focus);
  await picture('selection');

  title('Gemini CLI starts in the project. It finds the IDE by the file in the temp folder.');
  scene.client = await IdeClient.start(sandbox);
  const { status } = await scene.client.connect();
  say('Gemini CLI', 'user', 'status', { status, ide: await scene.client.displayName() });
  assert.equal(status, 'connected');
  const openFiles = await scene.client.openFiles(([active]) => active?.selectedText);
  say('IDE', 'Gemini CLI', 'ide/contextUpdate', { openFiles });
  assert.equal(openFiles[0].path, file);
  assert.deepEqual(openFiles[0].cursor, { line: 5, character: 17 });
  assert.equal(openFiles[0].selectedText, focus.selection);
  await scene.status(CONNECTED);
  await picture('connected');

  await showSecret();
  await scene.edit('shop.json', FILE);

  title('The model proposes an edit. The user changes it in the tab, and accepts.');
  const first = await propose(file, PROPOSAL);
  await picture('proposal', 'proposal');
  await scene.clickInto(first.title);
  await scene.ide.display.press(...EDIT);
  await scene.proposal(file, ({ right }) => right === EDITED);
  say('user', 'IDE', 'types', '1');
  await picture('changed');
  await scene.ide.invoke('Companion.AcceptProposal', first.title);
  say('user', 'IDE', 'Accept');
  assert.deepEqual(await answer(first), accepted(EDITED));
  await scene.noProposal();

  title('Gemini CLI writes the file. The IDE shows it.');
  fs.writeFileSync(file, EDITED);
  await scene.ide.untilRobot(
    ['text of file', { path: file }],
    (text) => isDeepStrictEqual(text, EDITED),
    'what Gemini CLI has written',
  );
  await picture('written');

  title('The model proposes a new file. The user edits it, and presses Esc, which asks.');
  const second = await propose(path.join(sandbox.project, 'menu.md'), MENU);
  await picture('new-file', 'new-file');
  await scene.clickInto(second.title);
  await scene.ide.display.press('ctrl+End');
  await scene.ide.display.type('- tea');
  say('user', 'IDE', 'types', '- tea');
  await scene.proposal('menu.md', ({ right }) => right === `${MENU}- tea`);
  await scene.ide.display.press('Escape');
  await scene.ide.until(({ windows }) => windows.length > 1, 'the question');
  await picture('question');
  await scene.ide.click('text', { text: 'Reject' });
  say('user', 'IDE', 'rejects');
  assert.deepEqual(await answer(second), REJECTED);
  await scene.noProposal();
  await scene.ide.until(
    ({ texts }) => texts.includes('Show your edits'),
    'the way back to what was written',
  );
  await picture('way-back', 'way-back');

  await scene.edit('shop.json', EDITED);
  await showTwo(file, readme);
  if (screenshots) await showTwelve();

  await showChanges(file, readme);

  title('The user looks at the settings.');
  await scene.ide.invoke('Companion.OpenSettings');
  const settings = await scene.ide.until(
    ({ windows, texts }) => windows.length > 1 && texts.includes('Gemini CLI') && windows.at(-1),
    'the settings',
  );
  say('IDE', 'user', 'shows', settings);
  await scene.ide.display.heighten(settings, SETTINGS_HEIGHT);
  const isWhole = (texts) => Object.values(findTexts('jetbrains', texts)).flat().some(isEndOfSettings);
  await scene.ide.untilRobot(['read'], isWhole, 'the end of the page');
  await picture('settings', 'settings', settings);
  await scene.ide.display.press('Escape');
  await scene.ide.until(({ windows }) => windows.length === 1, 'the end of the settings');

  title('The user quits the IDE.');
  await scene.client.disconnect();
  await scene.ide.close();
  const left = fs.readdirSync(path.join(sandbox.tmp, 'gemini', 'ide'));
  say('IDE', 'user', 'exit', { code: 0, filesLeftBehind: left, problemsInItsLog: 0 });
  assert.deepEqual(left, []);
}

/** Plays the demonstration in a separate window; returns whether it succeeded. */
async function playOnce() {
  scene = new Scene();
  count = 0;
  try {
    await play();
    return true;
  } catch (error) {
    title(`Failed: ${error.message}`);
    await picture('failed').catch(() => {});
    return false;
  } finally {
    await scene.close().catch((error) => {
      title(`Failed: ${error.message}`);
      process.exitCode = 1;
    });
  }
}

fs.rmSync(pictures, { recursive: true, force: true });
fs.mkdirSync(pictures, { recursive: true });
let isGood = await playOnce();
if (isGood && screenshots) {
  isDark = true;
  isGood = await playOnce();
}
if (isGood) title('Good: each client got the user’s own decision about its edits.');
else process.exitCode = 1;
