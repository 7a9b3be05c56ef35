// Starts a virtual screen with a window manager, sends keys and clicks, and takes pictures.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { promisify } from 'node:util';

import { until, within } from './inbox.mjs';

const run = promisify(execFile);

export class Display {
  /** The value for `DISPLAY`. */
  name;
  #env;

  /** Starts a screen with an unused number. */
  static async start(sandbox) {
    const display = new Display();
    const size = ['-screen', '0', '1280x800x24', '-dpi', '96'];
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
    end(sandbox, spawn('openbox', ['--sm-disable'], { env: display.#env, stdio: 'ignore' }));
    return display;
  }

  #run(program, ...args) {
    return run(program, args, { env: this.#env });
  }

  /** Gives a window the focus as soon as its title matches. */
  activate(title) {
    const search = ['search', '--onlyvisible', '--name', title];
    const activate = () => this.#run('xdotool', ...search, 'windowactivate');
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
    await this.point({ x: 640, y: 798 });
  }

  /** Takes a picture of the whole screen, with at most 256 colours. */
  async picture(file) {
    const colours = ['+dither', '-colors', '256', '-strip'];
    await this.#run('import', '-silent', '-window', 'root', ...colours, `png8:${file}`);
    return path.resolve(file);
  }
}

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
