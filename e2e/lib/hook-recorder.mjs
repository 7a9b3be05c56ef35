// Records the hooks that a real CLI runs, by an extension of its own beside the companion's.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { until } from './inbox.mjs';

const PROCESS = fileURLToPath(new URL('hook-recorder-process.mjs', import.meta.url));

/** For each CLI: the names of the recorded events, and the unit of a hook's timeout. */
const CLIS = {
  gemini: {
    events: ['SessionStart', 'SessionEnd', 'BeforeAgent', 'AfterAgent', 'BeforeTool', 'AfterTool'],
    second: 1000,
    manifest: 'gemini-extension.json',
  },
  qwen: {
    events: ['SessionStart', 'SessionEnd', 'UserPromptSubmit', 'Stop', 'PreToolUse', 'PostToolUse'],
    second: 1,
    manifest: 'qwen-extension.json',
  },
};

export class HookRecorder {
  #file;
  /** The number of hooks that were waited for, by event. */
  #taken = new Map();

  /** Installs the recorder into the CLI `name` of the sandbox. */
  constructor(sandbox, name) {
    const { events, second, manifest } = CLIS[name];
    this.#file = path.join(sandbox.root, `${name}-hooks.jsonl`);
    fs.writeFileSync(this.#file, '');
    const folder = sandbox.folder('home', `.${name}`, 'extensions', 'recorder');
    const about = { name: 'recorder', version: '1.0.0' };
    // Like in the companion's extension, the shell stays until the hook ends.
    const command = `"${process.execPath}" "${PROCESS}" "${this.#file}" || exit 0`;
    const hook = { name: 'recorder', type: 'command', command, timeout: 30 * second };
    const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [hook] }]]));
    const inManifest = name === 'qwen' ? { hooks } : {};
    fs.writeFileSync(path.join(folder, manifest), JSON.stringify({ ...about, ...inManifest }));
    fs.mkdirSync(path.join(folder, 'hooks'), { recursive: true });
    fs.writeFileSync(path.join(folder, 'hooks', 'hooks.json'), JSON.stringify({ hooks }));
  }

  /** The hooks so far, as `{time, event, ancestors}`. */
  all() {
    const lines = fs.readFileSync(this.#file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  }

  /** The hooks of an event. */
  of(name) {
    return this.all().filter(({ event }) => event.hook_event_name === name);
  }

  /** Waits for the next hook of an event, after those that were waited for. */
  async next(name) {
    const count = (this.#taken.get(name) ?? 0) + 1;
    this.#taken.set(name, count);
    await until(`hook ${count} of ${name}`, () => this.of(name).length >= count);
    return this.of(name)[count - 1];
  }
}
