// Runs one program in a terminal window, through tmux.

import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { until } from './inbox.mjs';
import { skipWithout } from './requirement.mjs';

/** The time for a CLI to show what is typed, in ms. */
const RETYPE_INTERVAL = 2000;

/** The time between two questions to tmux, each of which is a process, in ms. */
const POLL_INTERVAL = 100;

/** The reason to skip tests with a terminal; false if there is one. */
export const noTerminal = skipWithout(spawnSync('tmux', ['-V']).error && 'tmux is not installed');

/** Marks a text as pasted, like the editors. */
export const pasted = (text) => `\x1b[200~ ${text} \x1b[201~`;

export class Terminal {
  #tmux;

  /** Runs a program. Its last screen stays visible. `name` distinguishes terminals of a sandbox. */
  constructor(sandbox, args, { cwd, env, name = 'tmux', columns = 120, rows = 50 }) {
    const [config, socket] = ['conf', 'sock'].map((end) =>
      path.join(sandbox.root, `${name}.${end}`),
    );
    fs.writeFileSync(config, 'set -g remain-on-exit on\nset -g default-terminal tmux-256color\n');
    this.#tmux = (...command) =>
      execFileSync('tmux', ['-f', config, '-S', socket, ...command], {
        env: sandbox.env({ TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env }),
        encoding: 'utf8',
      });
    const size = ['-x', String(columns), '-y', String(rows)];
    this.#tmux('new-session', '-d', ...size, '-c', cwd, ...args);
    sandbox.defer(() => this.#close());
    sandbox.deferKill(() => this.#tmux('kill-server'));
  }

  screen() {
    return this.#tmux('capture-pane', '-p').trimEnd();
  }

  /** The screen with its colors, as escape sequences. */
  coloredScreen() {
    return this.#tmux('capture-pane', '-p', '-e', '-N').trimEnd();
  }

  /** Waits until the screen contains a text, or matches a pattern. */
  shows(text) {
    const isShown = () =>
      typeof text === 'string' ? this.screen().includes(text) : text.test(this.screen());
    return until(() => `${text} does not show up in:\n${this.screen()}`, isShown, POLL_INTERVAL);
  }

  /**
   * Ends the program and its children, and then tmux, so that nothing writes into folders that the
   * test removes.
   */
  async #close() {
    const isDead = () => this.#tmux('display-message', '-p', '#{pane_dead}').trim() === '1';
    try {
      const pid = Number(this.#tmux('display-message', '-p', '#{pane_pid}'));
      if (!isDead()) process.kill(-pid, 'SIGKILL');
      await until('the end of the program in the terminal', isDead, POLL_INTERVAL);
    } finally {
      this.#tmux('kill-server');
    }
  }

  /** Presses a key, by tmux's name of it. */
  press(key) {
    this.#tmux('send-keys', key);
  }

  /** Sends these bytes to the program at once. */
  send(text) {
    this.#tmux('set-buffer', text);
    this.#tmux('paste-buffer', '-d', '-r');
  }

  /** Pastes a text into the prompt. */
  async paste(text) {
    this.send(pasted(text));
    await this.shows(text);
    // Within 40 ms of a paste, the CLI reads Enter as a pasted line break.
    await sleep(100);
  }

  /** Types a prompt, without Enter. */
  async type(text) {
    await this.shows(/Type your message/);
    this.#tmux('send-keys', '-l', text);
    const typed = new RegExp(`[>*] +${text}`);
    let typedAt = Date.now();
    await until(
      () => `${typed} does not show up in:\n${this.screen()}`,
      () => {
        const screen = this.screen();
        // After a turn that the user has ended, a CLI empties its prompt, with what is typed by then.
        if (screen.includes('Type your message') && Date.now() > typedAt + RETYPE_INTERVAL) {
          this.press('C-u'); // what a slow CLI has not shown yet
          this.#tmux('send-keys', '-l', text);
          typedAt = Date.now();
        }
        return typed.test(screen);
      },
      POLL_INTERVAL,
    );
  }

  /** Types a prompt and presses Enter. */
  async enter(text) {
    await this.type(text);
    await this.submit();
  }

  /** Presses Enter after typed text, when the CLI is idle. */
  async submit() {
    // A busy CLI queues the line, and may then send it twice.
    await this.shows(/^(?![^]*esc to cancel)/);
    // Within 30 ms of the last key, the CLI reads Enter as a pasted line break.
    await sleep(100);
    this.press('Enter');
  }
}
