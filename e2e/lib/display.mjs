// Starts a virtual screen with a window manager, sends keys and clicks, and takes pictures.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { until, within } from './inbox.mjs';

const run = promisify(execFile);

const [WIDTH, HEIGHT] = [1280, 800];

export class Display {
  /** The value for `DISPLAY`. */
  name;
  #env;

  /**
   * Starts a screen with an unused number. Below the space of a maximized window it has `spare` pixels, where a taller
   * dialog fits.
   */
  static async start(sandbox, { spare = 0 } = {}) {
    const display = new Display();
    const size = ['-screen', '0', `${WIDTH}x${HEIGHT + spare}x24`, '-dpi', '96'];
    // It ends with this process, even by a kill; the window manager and the IDE then end with it.
    const server = spawn(
      'setpriv',
      ['--pdeathsig', 'KILL', 'Xvfb', '-displayfd', '3', ...size, '-nolisten', 'tcp', '-noreset'],
      { env: sandbox.env(), stdio: ['ignore', 'ignore', 'ignore', 'pipe'] },
    );
    end(sandbox, server);
    const exit = once(server, 'exit').then(([code]) => {
      throw new Error(`Xvfb has exited with ${code}`);
    });
    exit.catch(() => {}); // it also happens at the end
    const [number] = await within(
      Promise.race([once(server.stdio[3].setEncoding('utf8'), 'data'), exit]),
      'the start of Xvfb',
    );
    display.name = `:${number.trim()}`;
    display.#env = sandbox.env({ DISPLAY: display.name });
    const settings = path.join(sandbox.root, 'openbox.xml');
    fs.writeFileSync(settings, `<openbox_config><margins><bottom>${spare}</bottom></margins></openbox_config>`);
    const manager = ['--sm-disable', '--config-file', settings];
    end(sandbox, spawn('openbox', manager, { env: display.#env, stdio: 'ignore' }));
    return display;
  }

  #run(program, ...args) {
    return run(program, args, { env: this.#env });
  }

  /** Gives a window the focus as soon as its title matches. */
  activate(title) {
    const activate = () => this.#run('xdotool', ...search(title), 'windowactivate');
    // No window is visible yet, or another one closes during the search.
    const isActive = () => activate().then(Boolean, () => false);
    return until(`the window ${title}`, isActive);
  }

  /** Presses keys, by their names in xdotool: `ctrl+Return`. */
  press(...keys) {
    return this.#run('xdotool', 'key', ...keys);
  }

  /** Holds keys until `condition` is true. */
  async hold(keys, until) {
    await this.#run('xdotool', 'keydown', keys);
    try {
      await until();
    } finally {
      await this.#run('xdotool', 'keyup', keys);
    }
  }

  type(text) {
    return this.#run('xdotool', 'type', '--delay', '20', '--', text);
  }

  point({ x, y }) {
    return this.#run('xdotool', 'mousemove', x, y);
  }

  /** Clicks where the pointer is. */
  async click(button = 1, times = 1) {
    await this.#run('xdotool', 'click', '--repeat', times, '--delay', 100, button);
  }

  /** Moves the pointer away, so that nothing is highlighted. */
  async rest() {
    await this.point({ x: WIDTH / 2, y: HEIGHT - 2 });
  }

  /** Moves a window to the top of the screen, and gives it a height. */
  async heighten(title, height) {
    await this.#run('xdotool', ...search(title), 'windowmove', 'x', 0, 'windowsize', 'x', height);
  }

  /** Takes a picture of the space of a maximized window, with at most 256 colours. */
  picture(file) {
    return this.#import(file, '-window', 'root', '-crop', `${WIDTH}x${HEIGHT}+0+0`, '+repage');
  }

  /** Takes a picture of one window, with its frame. */
  async pictureOf(title, file) {
    const { stdout } = await this.#run('xdotool', ...search(title));
    // Several windows may match. The last one is on top.
    const id = stdout.trim().split('\n').at(-1);
    return this.#import(file, '-window', id, '-frame');
  }

  async #import(file, ...part) {
    const colours = ['+dither', '-colors', '256', '-strip'];
    await this.#run('import', '-silent', ...part, ...colours, `png8:${file}`);
    return path.resolve(file);
  }
}

/** Returns the command of xdotool that finds the visible windows with a title. */
const search = (title) => ['search', '--onlyvisible', '--name', title];

/** Ends a process together with the sandbox. */
function end(sandbox, process) {
  process.on('error', () => {}); // it has not started; other steps notice that
  const exit = once(process, 'exit');
  exit.catch(() => {});
  sandbox.deferKill(() => process.kill('SIGKILL'));
  sandbox.defer(async () => {
    if (process.exitCode !== null || process.signalCode !== null) return;
    process.kill('SIGKILL');
    await within(exit, `the end of ${process.spawnfile}`);
  });
}
