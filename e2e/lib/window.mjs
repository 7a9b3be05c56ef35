// Runs a sequence of `serve --resume` processes in one folder.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { Companion } from './companion.mjs';
import { accepted } from './decision.mjs';
import { Editor } from './editor.mjs';
import { Session } from './http.mjs';
import { IdeClient } from './ide-client.mjs';
import { until } from './inbox.mjs';
import { Sandbox } from './sandbox.mjs';

/** Returns the files in which `serve --resume` keeps its state. */
export function stateFiles({ home }) {
  const folder = path.join(home, '.local', 'state', 'companion-for-gemini-cli', 'resume');
  const files = fs.readdirSync(folder).map((name) => path.join(folder, name));
  return files.filter((file) => file.endsWith('.jsonl'));
}

/** A folder whose companion starts and ends repeatedly. */
export class Window {
  sandbox;
  /** The running companion. */
  companion;
  editor;
  /** The stderr of all companions. */
  log = '';

  /** Runs `prepare(sandbox)` before the first companion starts. */
  static async open(t, prepare = () => {}) {
    const window = new Window();
    window.sandbox = Sandbox.of(t);
    prepare(window.sandbox);
    await window.start();
    return window;
  }

  async start(...args) {
    await this.startOn(undefined, ...args);
  }

  /** Creates such a folder on another `machine`. */
  async startOn(machine, ...args) {
    const options = { args: ['--resume', '--log-level', 'trace', ...args], machine };
    this.companion = await Companion.start(this.sandbox, options);
    this.editor = new Editor(this.companion);
  }

  async stop() {
    await this.companion.close();
    this.log += this.companion.log;
  }

  async kill() {
    await this.companion.kill();
    this.log += this.companion.log;
  }

  /**
   * Connects a client, optionally of `module`, whose context contains the open file `before.txt`.
   */
  async connect(env, module) {
    const client = await IdeClient.connect(this.sandbox, { env, module });
    await this.#seeFile(client, 'before.txt');
    client.events.status.takeAll();
    return client;
  }

  async #seeFile(client, name) {
    const file = this.sandbox.file(name);
    this.companion.notify('editor/focused', { path: file });
    await client.openFiles((files) => files[0]?.path === file);
  }

  states() {
    return stateFiles(this.sandbox);
  }

  /** Returns the text of the only state file. */
  state() {
    return fs.readFileSync(this.states()[0], 'utf8');
  }

  /**
   * Asserts that this client noticed nothing. It was always connected, it receives the context, and
   * it receives the user's edit of a proposal, both before and after its stream is open again.
   */
  async assertGoesOn(client) {
    for (const when of ['before', 'after']) {
      const isBack = () => this.companion.log.includes('is back on its stream');
      if (when === 'after') await until('its stream', isBack);
      const file = this.sandbox.file(`edited ${when}.txt`, 'old');
      const { decision } = await client.propose(this.editor, file, 'new');
      this.editor.accept(file, `edited ${when}`);
      assert.deepEqual(await decision, accepted(`edited ${when}`));
      await this.#seeFile(client, `${when} the stream.txt`);
    }
    assert.deepEqual(client.events.status.takeAll(), []);
    assert.equal(await client.status(), 'connected');
    assert.equal(await client.isDiffingEnabled(), true);
  }
}

/** Makes a proposal that waits for the user, after the client has the answer to openDiff. */
export async function propose(window, client, name) {
  const { companion, editor, sandbox } = window;
  const file = sandbox.file(name);
  const { decision } = await client.propose(editor, file, 'text');
  await saved(window, file);
  // The companion has one thread, so it handles this request only after that answer.
  const session = await Session.open(sandbox, companion);
  await session.delete();
  return { file, decision };
}

/** Ends the client's stream. The client reconnects after 20 s, so decisions must wait. */
export async function endStreams({ companion }, proxy) {
  companion.inbox.takeAll();
  proxy.end();
  await companion.inbox.next(({ method, params }) => {
    return method === 'companion/clients' && params.count === 0;
  });
}

/** Waits until the state contains `file` with the text that the user accepted. */
export async function saved(window, file, content) {
  await until('it is saved', () => {
    // A delivered text is overwritten with spaces.
    const lines = window
      .state()
      .split('\n')
      .filter((line) => line.trim());
    const records = lines.map((line) => JSON.parse(line));
    const opened = records.findLast(({ opened }) => opened?.[2] === file)?.opened;
    const accepted = records.find(
      ({ accepted }) => opened && accepted?.[0] === opened[0],
    )?.accepted;
    return opened && accepted?.[1] === content;
  });
}
