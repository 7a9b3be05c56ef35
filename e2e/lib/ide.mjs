// Starts one IDE on its own display, with the robot in it, which plays the user.
//
// The robot is a plugin, `plugin-kotlin/src/robot`, which defines the commands.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { Display } from './display.mjs';
import { Inbox, WAIT_TIMEOUT, until, within } from './inbox.mjs';
import { javaProgram, launch, productInfo, windowTitle } from './ide-home.mjs';
import { otherErrorsIn, problemsIn } from './ide-log.mjs';
import { writeDarkTheme, writeProjectSettings } from './ide-project.mjs';

const run = promisify(execFile);

/** The folders of the platform and of the plugin, and the robot's jar. `cargo xtask` sets them. */
const HOME = process.env.COMPANION_PLATFORM;
const PLUGIN = process.env.COMPANION_PLUGIN;
const ROBOT = process.env.COMPANION_ROBOT;

/** Whether it is an IDE of today, and not the platform of 2018.3. */
export const IS_INSTALLED = HOME !== undefined && productInfo(HOME) !== undefined;

const ROBOT_LINE = 'robot ';

/** The JVM compiles less: a short run of the IDE takes half the processor's time. */
const FOR_SHORT_RUNS = ['-XX:TieredStopAtLevel=1'];

export class Ide {
  /** The folders of opened projects whose windows are ready. */
  opened = new Inbox('an open project');
  display;
  #sandbox;
  #project;
  #process;
  #exit;
  #ended;
  #output = '';
  #commands = new Map();
  #lastCommand = 0;

  /**
   * Starts the IDE, optionally on an existing display, and waits until the window has the focus.
   * `java` are arguments of the JVM.
   */
  static async start(sandbox, options = {}) {
    const { project = sandbox.project, withPlugin = true, isDark = false } = options;
    let { java = FOR_SHORT_RUNS, display } = options;
    if (!HOME || !PLUGIN || !ROBOT) throw new Error('run this by cargo xtask');
    display ??= await Display.start(sandbox);
    const ide = new Ide(sandbox, { display, project, withPlugin, isDark, java });
    sandbox.defer(() => ide.close());
    sandbox.deferKill(() => ide.kill());
    await ide.opened.next();
    await ide.activate();
    await ide.until(({ isActive }) => isActive, 'a window with the focus');
    return ide;
  }

  constructor(sandbox, { display, project, withPlugin, isDark, java }) {
    this.display = display;
    this.#sandbox = sandbox;
    this.#project = project;
    writeProjectSettings(project);
    if (isDark) writeDarkTheme(sandbox.folder('ide', 'config'));
    const plugins = sandbox.folder('plugins');
    link(path.join(plugins, 'robot.jar'), ROBOT);
    if (withPlugin) link(path.join(plugins, 'companion'), PLUGIN);
    const always = [`-Djava.io.tmpdir=${sandbox.tmp}`, '-ea:dev.companion.gemini...'];
    const profile = sandbox.folder('ide');
    const command = launch(HOME, { profile, plugins, java: [...always, ...java], project });
    this.#process = spawn(command.program, command.args, {
      env: sandbox.env({ ...command.env, DISPLAY: display.name, LANG: 'C.UTF-8' }),
    });
    this.#process.stdin.on('error', () => {}); // it has exited; `exited` has the code
    this.#process.stderr.setEncoding('utf8').on('data', (text) => (this.#output += text));
    readline
      .createInterface({ input: this.#process.stdout, crlfDelay: Infinity })
      .on('line', (line) => this.#take(line));
    this.#exit = once(this.#process, 'close').then(
      ([code, signal]) => signal ?? code,
      (error) => error.message,
    );
    this.#exit.then((code) => this.#end(code));
  }

  get pid() {
    return this.#process.pid;
  }

  #take(line) {
    if (!line.startsWith(ROBOT_LINE)) {
      this.#output += `${line}\n`;
      return;
    }
    const { event, project, id, value, error } = JSON.parse(line.slice(ROBOT_LINE.length));
    if (event === 'opened') {
      this.opened.push(project);
      return;
    }
    const { resolve, reject } = this.#commands.get(id);
    this.#commands.delete(id);
    if (error === undefined) resolve(value);
    else reject(new Error(error));
  }

  #end(code) {
    this.#ended = new Error(`the IDE has exited with ${code}:\n${this.#output}`);
    this.opened.end(this.#ended);
    for (const { reject } of this.#commands.values()) reject(this.#ended);
  }

  /** Sends a command to the robot, and returns its answer. */
  async robot(command, args = {}) {
    if (this.#ended) throw this.#ended;
    const id = ++this.#lastCommand;
    const answer = new Promise((resolve, reject) => this.#commands.set(id, { resolve, reject }));
    this.#process.stdin.write(`${JSON.stringify({ id, do: command, ...args })}\n`);
    return within(answer, `the answer to “${command}”`);
  }

  /**
   * Performs an action in a proposal, or where the focus is. The focus may still be on its way from
   * a window that was closed.
   */
  invoke(action, proposal) {
    const isDone = (hadFocus) => hadFocus;
    return this.untilRobot(['invoke', { action, proposal }], isDone, `the focus for ${action}`);
  }

  /**
   * Chooses *Exit*. If a window was closed, the window manager may leave the focus in none; then a
   * user clicks on one.
   */
  exit() {
    return until('the focus for Exit', async () => {
      if (await this.robot('invoke', { action: 'Exit' })) return true;
      const { windows } = await this.robot('look');
      if (windows.length > 0) await this.display.activate(literally(windows.at(-1)));
      return false;
    });
  }

  /** Gives the project's window the focus. */
  activate() {
    return this.display.activate(windowTitle(HOME, this.#project));
  }

  /** Waits until the robot's description of the window matches, and returns it. */
  async until(matches, what) {
    return this.untilRobot(['look'], matches, what);
  }

  /** Repeats a command until the robot's answer matches; the IDE does not report changes. */
  async untilRobot([command, args], matches, what) {
    const deadline = Date.now() + WAIT_TIMEOUT;
    for (;;) {
      const answer = await this.robot(command, args);
      const found = matches(answer);
      if (found) return found === true ? answer : found;
      if (Date.now() > deadline) {
        const seen = JSON.stringify(answer, null, 1);
        throw new Error(`nothing came in ${WAIT_TIMEOUT / 1000} s: ${what}; the robot sees ${seen}`);
      }
      await sleep(50);
    }
  }

  /** Waits for a tab whose title `matches` accepts, and returns it. */
  tab(title, matches = () => true) {
    const find = ({ tabs }) => tabs.find((tab) => tab.title === title && matches(tab));
    return this.until(find, `the tab ${title}`);
  }

  /** Finds something with the robot, moves the pointer over it, and clicks. */
  async click(what, args, button, times) {
    const isPointedAt = async () => {
      const place = await this.robot(`find ${what}`, args);
      await this.display.point(place);
      return place.isPointedAt;
    };
    await until(`the pointer over ${what} ${JSON.stringify(args)}`, isPointedAt);
    await this.display.click(button, times);
  }

  /** The number of its threads. */
  threads() {
    return fs.readdirSync(`/proc/${this.pid}/task`).length;
  }

  /** Counts the objects of each class of a package, after a garbage collection. */
  async objects(prefix) {
    const jcmd = javaProgram(HOME, 'jcmd');
    const { stdout } = await run(jcmd, [this.pid, 'GC.class_histogram'], { maxBuffer: 1 << 26 });
    const lines = stdout.matchAll(/^ *\d+: +(\d+) +\d+ +(\S+)/gm);
    const objects = [...lines].map(([, count, name]) => [name, Number(count)]);
    return new Map(objects.filter(([name]) => name.startsWith(prefix)));
  }

  /** Takes a picture of the window, or of the dialog with a title, as soon as it is painted. */
  async picture(file, dialog) {
    await this.display.rest();
    await this.robot('paint');
    return dialog ? this.display.pictureOf(dialog, file) : this.display.picture(file);
  }

  kill() {
    this.#process.kill('SIGKILL');
  }

  /** The exit code, or the name of the signal that ended it. */
  exited() {
    return within(this.#exit, 'the end of the IDE');
  }

  get #log() {
    const file = path.join(this.#sandbox.root, 'ide', 'log', 'idea.log');
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  }

  /** The records of its log that fail a test. */
  problems() {
    return problemsIn(this.#log, IS_INSTALLED);
  }

  /** Quits the IDE as a user does, and then checks its log. */
  async close() {
    try {
      if (this.#process.exitCode === null && this.#process.signalCode === null) {
        await this.exit();
        const code = await this.exited();
        if (code !== 0) throw new Error(`the IDE has exited with ${code}:\n${this.#output}`);
      }
    } finally {
      this.kill();
    }
    if (IS_INSTALLED) for (const error of otherErrorsIn(this.#log)) console.log(`not ours: ${error}`);
    const problems = this.problems();
    if (problems.length > 0) throw new Error(`in idea.log:\n${problems.join('')}`);
  }
}

/** Returns the pattern that matches a text. */
const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Creates or replaces a link. */
function link(name, target) {
  fs.rmSync(name, { force: true });
  fs.symlinkSync(path.resolve(target), name);
}
