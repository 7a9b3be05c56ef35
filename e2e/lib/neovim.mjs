// Starts one headless Neovim with the plugin, and drives it over its RPC socket like a user
// interface.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { attach } from 'neovim';

import { Session } from './http.mjs';
import { IdeClient } from './ide-client.mjs';
import { until, within } from './inbox.mjs';
import { skipWithout } from './requirement.mjs';
import { Sandbox } from './sandbox.mjs';

const PROGRAM = process.env.GEMINI_COMPANION;
export const NEOVIM = process.env.COMPANION_NEOVIM ?? 'nvim';
const PLUGIN = fileURLToPath(new URL('../../editors/nvim', import.meta.url));

/** Returns whether the plugin supports the Neovim, or undefined if the program is not a Neovim. */
function isSupported(program) {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  const [, major, minor] = stdout?.match(/^NVIM v(\d+)\.(\d+)/) ?? [];
  return major && (Number(major) > 0 || Number(minor) >= 10);
}

/** The reason to skip tests with Neovim; false if there is one. */
export const noNeovim = skipWithout(!isSupported(NEOVIM) && 'no Neovim 0.10 or newer; COMPANION_NEOVIM may name one');

/** The reason to skip tests with a Neovim that is too old, such as Debian 12's. */
export const noOldNeovim = isSupported('nvim') === false ? false : 'there is no old Neovim';

/** A silent logger for the RPC client, which otherwise logs to the console. */
const SILENT = Object.fromEntries(
  ['level', 'info', 'warn', 'error', 'debug'].map((name) => [name, () => {}]),
);

let sockets = 0;

/** Writes a user's configuration and returns its path. The options are those of `Neovim.start`. */
export function writeConfig(sandbox, init, { setup, options = '', installed = false } = {}) {
  const config = path.join(sandbox.root, `init-${++sockets}.lua`);
  const all = setup ?? `{ cmd = { [[${PROGRAM}]] }, ${options} }`;
  fs.writeFileSync(
    config,
    `${installed ? '' : `vim.opt.runtimepath:prepend([[${PLUGIN}]])`}
    vim.o.shell = 'sh'
    ${init}
    ${setup === false ? '' : `require('gemini_companion').setup(${all})`}`,
  );
  return config;
}

export class Neovim {
  #process;
  #exit;
  #rpc;
  #output = '';

  /**
   * Starts a Neovim in the project. `options` are more of the user's options in Lua; `setup` is all of
   * them, or false for no call of `setup`. `init` is more of the user's configuration. `args` are the
   * files to open. `ui` is the width and the height of the user interface, or false without one. The
   * plugin is from the sources, or the `installed` one.
   */
  static async start(sandbox, { setup, options, init = '', args = [], ui = [120, 40], env, installed = false } = {}) {
    if (!PROGRAM) throw new Error('GEMINI_COMPANION must be the path of gemini-companion');
    const neovim = new Neovim();
    const config = writeConfig(sandbox, init, { setup, options, installed });
    const socket = path.join(sandbox.root, `nvim-${sockets}.sock`);
    neovim.#run(sandbox, ['-u', config, '-i', 'NONE', '--listen', socket, ...args], env);
    sandbox.defer(() => neovim.close());
    await neovim.#attach(socket, ui);
    return neovim;
  }

  #run(sandbox, args, env) {
    this.#process = spawn(NEOVIM, ['--headless', ...args], {
      cwd: sandbox.project,
      env: sandbox.env({ LANG: 'C.UTF-8', ...env }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (this.#output += text));
    }
    this.#exit = once(this.#process, 'exit').then(([code, signal]) => signal ?? code, (error) => error.message);
  }

  async #attach(socket, ui) {
    const connection = await until(() => `Neovim says ${this.#output}`, () => connect(socket));
    // Neovim may end during a write; an error of its reader would be unhandled.
    connection.on('error', () => {});
    const reader = connection.pipe(new PassThrough());
    this.#rpc = attach({ reader, writer: connection, options: { logger: SILENT } });
    this.#rpc.on('disconnect', () => {});
    if (ui) await within(this.#rpc.uiAttach(...ui, { rgb: true }), 'Neovim');
  }

  get pid() {
    return this.#process.pid;
  }

  /** Evaluates Lua; `args` are its `...`. */
  lua(code, ...args) {
    return within(this.#rpc.lua(code, args), `Neovim's answer to ${code}`);
  }

  /** Runs Ex commands. */
  command(...commands) {
    return this.lua('for _, command in ipairs(...) do vim.cmd(command) end', commands);
  }

  /** Types keys, as in `:help key-notation`, and waits until Neovim has taken them. */
  async type(keys) {
    await within(this.#rpc.input(keys), 'Neovim');
    await this.lua('return true');
  }

  /** Types keys after which Neovim may wait for another one, and answers no request. */
  async press(keys) {
    await within(this.#rpc.input(keys), 'Neovim');
  }

  /** Types keys that cause a question, waits for it, and types the answer. */
  async typeAndAnswer(keys, answer) {
    await within(this.#rpc.input(keys), 'Neovim');
    const asks = async () => (await this.#rpc.mode).mode.startsWith('r');
    await until(`a question after ${keys}`, asks);
    await this.type(answer);
  }

  edit(file) {
    return this.lua(
      `local buffer = vim.fn.bufadd(...)
       vim.bo[buffer].buflisted = true
       vim.cmd('buffer ' .. buffer)`,
      file,
    );
  }

  /** Waits until a Lua expression is neither nil nor false, and returns its value. */
  async until(expression, ...args) {
    let error;
    const value = async () => {
      try {
        return await this.lua(`return ${expression}`, ...args);
      } catch (thrown) {
        error = thrown;
        return undefined;
      }
    };
    return until(() => `${expression}: ${error?.message ?? this.#output}`, value);
  }

  /** Waits until the companion runs; returns `{running, port, clients, proposals}`. */
  async ready() {
    const status = `require('gemini_companion').status()`;
    return this.until(`${status}.running and ${status}`);
  }

  /** Opens a session with plain requests. */
  async session(sandbox) {
    const status = "require('gemini_companion.server').status()";
    const [port, env] = await this.until(`${status}.env and { ${status}.port, ${status}.env }`);
    const ready = { url: `http://127.0.0.1:${port}`, authToken: env.GEMINI_CLI_IDE_AUTH_TOKEN };
    return Session.open(sandbox, { ready });
  }

  /** Returns the companion's own process id. */
  companionPid() {
    return this.until(`(require('gemini_companion.server').status() or {}).pid`);
  }

  /** Restarts the companion, and waits for its next process. */
  async restart() {
    const before = await this.companionPid();
    await this.command('GeminiCompanion restart');
    await this.until(`(require('gemini_companion.server').status() or {}).pid ~= ...`, before);
  }

  /** Waits until a proposal has the focus; returns `{right, left}`, the lines of its sides. */
  async view(file) {
    await this.until(`vim.api.nvim_buf_get_name(0) == 'gemini-companion://proposal' .. ...`, file);
    return this.sides(file);
  }

  /** Waits for a proposal that stays in the background. */
  async proposalBehind(file) {
    await this.until(`vim.tbl_contains(require('gemini_companion.proposals').paths(), ...)`, file);
    return this.sides(file);
  }

  /** Waits until the user may have seen the text that has just replaced an earlier one, and may decide. */
  seen() {
    return this.until(`not require('gemini_companion.proposals').find().view:is_just_replaced()`);
  }

  /** Returns the lines of both sides. A closed side has none. */
  sides(file) {
    return this.lua(
      `local function lines(side)
         local buffer = vim.tbl_filter(function(buffer)
           return vim.api.nvim_buf_get_name(buffer) == 'gemini-companion://' .. side
         end, vim.api.nvim_list_bufs())[1]
         return buffer and vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
       end
       return { left = lines('file' .. ...), right = lines('proposal' .. ...) }`,
      file,
    );
  }

  /** Returns the bars above the windows of the tab page, as the user sees them. */
  bars() {
    return this.lua(
      `return vim.tbl_map(function(window)
         local options = { winid = window, use_winbar = true }
         return vim.trim(vim.api.nvim_eval_statusline(vim.wo[window].winbar, options).str)
       end, vim.api.nvim_tabpage_list_wins(0))`,
    );
  }

  /** Returns all messages to the user. */
  messages() {
    return this.lua(`return vim.fn.execute('messages')`);
  }

  /** Returns the text of :GeminiCompanion. */
  status() {
    return this.lua(`return vim.fn.execute('GeminiCompanion')`);
  }

  /** Returns the plugin's log. */
  log() {
    return this.lua(`return table.concat(require('gemini_companion.log').lines(), '\\n')`);
  }

  /** Returns the health report of the plugin, and closes it. */
  async health() {
    await this.command('checkhealth gemini_companion');
    const report = await this.lua(`return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')`);
    await this.command('bwipeout!');
    return report;
  }

  /** Returns the completions of a command line. */
  async completions(line) {
    return Object.values(await this.lua(`return vim.fn.getcompletion(..., 'cmdline')`, line));
  }

  /** Starts a client in a `:terminal`. */
  async clientInTerminal(sandbox) {
    return IdeClient.startBy(sandbox, (command, env) =>
      // Uses a shell like a user, because the client looks for a shell among its ancestors.
      this.lua(
        `local command, env = ...
         vim.cmd('tabnew')
         vim.fn.termopen({ 'sh', '-c', '"$@"; exit', 'sh', unpack(command) }, { env = env })`,
        command,
        env,
      ),
    );
  }

  /** Waits until a message to the user matches. */
  says(pattern) {
    let messages;
    return until(
      () => `${pattern} is not in ${messages}`,
      async () => pattern.test((messages = await this.messages())),
    );
  }

  signal(name) {
    this.#process.kill(name);
  }

  /** Types a command that ends Neovim. */
  quit(command) {
    this.#rpc.input(`<C-\\><C-n>:${command}<CR>`).catch(() => {});
  }

  /** The exit code, or the name of the signal that ended it. */
  exited() {
    return within(this.#exit, 'the end of Neovim');
  }

  async close() {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.quit('qa!');
    try {
      await this.exited();
    } finally {
      this.#process.kill('SIGKILL');
    }
  }
}

/** Connects to a socket; returns undefined while nothing listens there. */
async function connect(socket) {
  const connection = net.connect(socket);
  try {
    await once(connection, 'connect');
    return connection;
  } catch {
    return undefined;
  }
}

/** Starts a Neovim, and waits for its companion. */
export async function openNeovim(t, options) {
  const sandbox = Sandbox.of(t);
  const neovim = await Neovim.start(sandbox, options);
  await neovim.ready();
  return { sandbox, neovim };
}

/** Starts a Neovim with a connected client. */
export async function openNeovimWithClient(t, options) {
  const window = await openNeovim(t, options);
  return { ...window, client: await IdeClient.connect(window.sandbox) };
}

/** Starts a Neovim with a proposal in front (`new` and `new2` for a.txt) and the user's file behind it. */
export async function openProposal(t, options) {
  const window = await openNeovimWithClient(t, options);
  await window.neovim.edit(window.sandbox.file('mine.txt', '1\n2\n3\n'));
  const file = window.sandbox.file('a.txt', 'old\nold2\n');
  const { decision } = await window.client.propose(window.neovim, file, 'new\nnew2\n');
  return { ...window, file, decision };
}

/** The texts of all buffers with names that begin with `gemini-companion://` and `kind`. */
export const texts = (neovim, kind) =>
  neovim.lua(
    `local texts = {}
     for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
       if vim.startswith(vim.api.nvim_buf_get_name(buffer), 'gemini-companion://' .. ...) then
         table.insert(texts, table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '|'))
       end
     end
     return #texts > 0 and texts or vim.empty_dict()`,
    kind,
  );
