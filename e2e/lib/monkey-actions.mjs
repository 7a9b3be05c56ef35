// Implements the actions of the monkey. Each waits for its effect, and returns false if it is
// impossible at the moment.

import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Runs an action of the IDE, which may have no effect. */
async function invoke({ ide }, action, proposal) {
  await ide.invoke(action, proposal).catch((error) => {
    assert.match(error.message, /disabled/);
  });
}

async function open(monkey) {
  await monkey.focus(monkey.anyFile());
}

/** Types a key into a file. */
async function typeKey(monkey, file) {
  await monkey.focus(file);
  const key = String(monkey.random(10));
  await monkey.ide.display.type(key);
  const texts = monkey.files.get(file);
  texts.push(key + texts.at(-1));
  await monkey.hasText(file);
}

/** Types a key into a file, and sometimes undoes that. */
async function type(monkey) {
  const { ide } = monkey;
  const file = monkey.anyFile();
  await typeKey(monkey, file);
  const texts = monkey.files.get(file);
  if (monkey.random(3) > 0) return;
  await ide.display.press('ctrl+z');
  // The IDE undoes consecutive keys together.
  const isFormer = (text) => text !== texts.at(-1) && texts.includes(text) && { text };
  const { text } = await ide.untilRobot(['text of file', { path: file }], isFormer, 'the undo');
  texts.push(text);
}

/** Makes a client without a proposal propose an edit. */
async function propose(monkey) {
  const busy = new Set([...monkey.waiting.values()].map(({ client }) => client));
  const client = monkey.clients.find((client) => !busy.has(client));
  if (!client) return false;
  const isNew = monkey.random(5) === 0;
  const { project } = monkey.scene.sandbox;
  const file = isNew ? path.join(project, `new ${monkey.next()}.txt`) : monkey.anyFile();
  await monkey.propose(client, file);
}

/** Opens a proposal without a tab from the list in the status bar. */
async function review(monkey) {
  const { ide } = monkey;
  const { tabs } = await ide.robot('look');
  const isHidden = ({ text }) => tabs.every(({ right }) => right !== text);
  const hidden = [...monkey.waiting.values()].filter(isHidden);
  if (hidden.length === 0) return false;
  const proposal = monkey.any(hidden);
  const shown = path.relative(monkey.scene.sandbox.project, proposal.file);
  await monkey.scene.chooseInList(shown);
  const isThere = ({ tabs }) => tabs.some(({ right }) => right === proposal.text);
  await ide.until(isThere, `the tab of ${shown}`);
}

/** Types a key into a proposal, and sometimes undoes that. */
async function edit(monkey) {
  const { ide } = monkey;
  const shown = await monkey.anyShown();
  if (!shown) return false;
  const { proposal, title } = shown;
  await monkey.focusProposal(proposal, title);
  const key = String(monkey.random(10));
  await ide.display.type(key);
  const find = (isThere) => ({ tabs }) => tabs.find(({ right }) => isThere(right));
  monkey.edited(proposal, key + proposal.text);
  await ide.until(find((right) => right === proposal.text), `${proposal.text} in the proposal`);
  if (monkey.random(3) > 0) return;
  await ide.display.press('ctrl+z');
  const former = proposal.texts.slice(0, -1).filter((text) => text !== proposal.text);
  const { right } = await ide.until(find((right) => former.includes(right)), 'the undo');
  monkey.edited(proposal, right);
}

async function decide(monkey) {
  const shown = await monkey.anyShown();
  if (!shown) return false;
  const isAccepted = monkey.random(2) === 0;
  const action = isAccepted ? 'Companion.AcceptProposal' : 'Companion.RejectProposal';
  const { ide } = monkey;
  await ide.invoke(action, shown.title);
  // The IDE asks about a proposal whose file has changed.
  const isGone = ({ tabs }) => tabs.every(({ right }) => right !== shown.proposal.text);
  const next = (seen) => (seen.texts.includes('Accept Anyway') ? 'asked' : isGone(seen) && 'gone');
  if ((await ide.until(next, 'the end, or a question')) === 'asked') {
    await ide.click('text', { text: 'Accept Anyway' });
  }
  await monkey.ends(shown.proposal, isAccepted);
}

const CLOSINGS = {
  x: ({ scene }, tab) => scene.clickX(tab),
  middle: ({ ide }, tab) => ide.click('tab', { tab }, 2),
  key: ({ ide }) => ide.display.press('ctrl+F4'),
  escape: ({ ide }) => ide.display.press('Escape'),
};

/** Closes a proposal like a user. The IDE asks if the proposal was edited. */
async function close(monkey) {
  const { ide } = monkey;
  const shown = await monkey.anyShown();
  if (!shown) return false;
  const { proposal, title } = shown;
  await monkey.focusProposal(proposal, title);
  const before = (await monkey.tabsOf(proposal)).length;
  const how = monkey.any(Object.keys(CLOSINGS));
  // The plugin ignores input right after a new proposal has replaced the old one.
  await pause(1_100);
  try {
    await CLOSINGS[how](monkey, title);
  } catch (error) {
    // A split may be too narrow even for the selected tab. Then a user would press keys.
    assert.match(error.message, /out of sight|does not show/);
    return false;
  }
  if (before > 1 && how !== 'escape') {
    const count = ({ tabs }) => tabs.filter(({ right }) => right === proposal.text).length;
    await ide.until((look) => count(look) === before - 1, 'the end of one tab of several');
    return;
  }
  if (monkey.isEdited(proposal)) {
    await ide.until(({ texts }) => texts.includes('Keep Editing'), 'a question');
    const isKept = monkey.random(2) === 0;
    await ide.click('text', { text: isKept ? 'Keep Editing' : 'Reject' });
    await ide.until(({ texts }) => !texts.includes('Keep Editing'), 'the end of the question');
    if (isKept) return;
  }
  await monkey.ends(proposal, false);
}

const TABS = [
  'CloseAllEditors',
  'CloseAllEditorsButActive',
  'CloseAllUnmodifiedEditors',
  'CloseAllUnpinnedEditors',
  'CloseEditorsGroup',
  'SplitVertically',
  'SplitHorizontally',
  'ChangeSplitOrientation',
  'NextSplitter',
  'MoveEditorToOppositeTabGroup',
  'Unsplit',
  'UnsplitAll',
  'PinActiveTab',
  'NextTab',
];

/** Runs an action on tabs, in a proposal or at the focus. */
async function tabs(monkey) {
  const shown = monkey.random(2) === 0 ? await monkey.anyShown() : undefined;
  const { tabs } = await monkey.ide.robot('look');
  const isNarrow = tabs.filter(({ isSelected }) => isSelected).length > 2;
  await invoke(monkey, isNarrow ? 'UnsplitAll' : monkey.any(TABS), shown?.title);
}

async function limit(monkey) {
  await monkey.ide.robot('tab limit', { count: 1 + monkey.random(6) });
}

/** Drags a proposal into a separate window, and closes that window. */
async function detach(monkey) {
  const { ide } = monkey;
  const shown = await monkey.anyShown();
  if (!shown || (await monkey.tabsOf(shown.proposal)).length > 1) return false;
  const { windows: before } = await ide.robot('look');
  await ide.robot('detach', { tab: shown.title });
  await ide.until(({ windows }) => windows.length > before.length, 'a window of its own');
  await ide.until(({ tabs }) => tabs.some(({ right }) => right === shown.proposal.text), 'its tab');
  await ide.robot('close window', { tab: shown.title });
  await ide.until(({ windows }) => windows.length === before.length, 'the end of the window');
  await ide.activate();
}

async function create(monkey) {
  if (monkey.files.size > 8) return false;
  await monkey.focus(monkey.create(`made ${monkey.next()}.txt`));
}

async function rename(monkey) {
  const file = monkey.anyFile();
  const name = `named ${monkey.next()}.txt`;
  await monkey.ide.robot('rename', { path: file, name });
  monkey.files.set(path.join(path.dirname(file), name), monkey.files.get(file));
  monkey.files.delete(file);
}

async function remove(monkey) {
  if (monkey.files.size < 4) return false;
  const file = monkey.anyFile();
  await monkey.ide.robot('delete', { path: file });
  monkey.files.delete(file);
}

/** Decides in the CLI. */
async function byClient(monkey) {
  if (monkey.waiting.size === 0) return false;
  const proposal = monkey.any([...monkey.waiting.values()]);
  await proposal.client.resolveDiffFromCli(proposal.file, 'rejected');
  await monkey.ends(proposal, false);
}

/** Turns the companion off in the CLI, and on again. */
async function reconnect(monkey) {
  const client = monkey.any(monkey.clients);
  const gone = [...monkey.waiting.values()].filter((proposal) => proposal.client === client);
  await client.disconnect();
  for (const proposal of gone) {
    monkey.waiting.delete(proposal.file);
    await monkey.offersBack(proposal);
  }
  await client.connect();
}

/** Lets a CLI write a file, and sometimes reverts that, also after the user has typed into it. */
async function byCli(monkey) {
  const { ide, cli } = monkey;
  const file = monkey.anyFile();
  const texts = monkey.files.get(file);
  const before = texts.at(-1);
  await ide.invoke('SaveAll');
  await monkey.saved();
  const prompt = `prompt ${monkey.next()}`;
  await cli.prompt(prompt);
  const written = `written ${monkey.next()}\n`;
  await cli.write(file, written);
  texts.push(written);
  await monkey.hasText(file);
  if (monkey.random(2) === 0) return;
  const isTyped = monkey.random(2) === 0;
  if (isTyped) await typeKey(monkey, file);
  await monkey.scene.openChanges();
  const name = path.basename(file);
  const rowOf = (rows) => rows[rows.findIndex((row) => row.startsWith(prompt)) + 1];
  await ide.until(({ rows }) => rowOf(rows)?.startsWith(name), `${name} in the list`);
  await monkey.scene.invokeOnChange(name, 'Companion.RevertFile');
  if (isTyped) {
    await ide.until(({ texts }) => texts.includes('Revert Anyway'), 'a question');
    const isKept = monkey.random(2) === 0;
    await ide.click('text', { text: isKept ? 'Cancel' : 'Revert Anyway' });
    await ide.until(({ texts }) => !texts.includes('Revert Anyway'), 'the end of the question');
    if (isKept) return;
  }
  texts.push(before);
  await monkey.hasText(file);
}

/** The weight of each action. */
export const ACTIONS = {
  open: { weight: 30, play: open },
  type: { weight: 40, play: type },
  propose: { weight: 100, play: propose },
  review: { weight: 80, play: review },
  edit: { weight: 60, play: edit },
  decide: { weight: 30, play: decide },
  close: { weight: 50, play: close },
  tabs: { weight: 80, play: tabs },
  limit: { weight: 10, play: limit },
  detach: { weight: 10, play: detach },
  create: { weight: 10, play: create },
  rename: { weight: 10, play: rename },
  remove: { weight: 10, play: remove },
  byClient: { weight: 20, play: byClient },
  reconnect: { weight: 10, play: reconnect },
  byCli: { weight: 30, play: byCli },
};
