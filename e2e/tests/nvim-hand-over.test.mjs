// Tests that the real Gemini CLI goes on with another Neovim of its folder when its own one ends:
// the next edit, the reason of its rejection, and the context.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { describe, test } from 'node:test';

import { REASON, read, replace } from '../lib/conversation.mjs';
import { startCli } from '../lib/extension.mjs';
import { until } from '../lib/inbox.mjs';
import { noNeovim as skip, Neovim } from '../lib/neovim.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

/** The variables of a Neovim's terminals that lead a CLI to it. */
const terminalEnv = (neovim) =>
  neovim.lua(
    `local variables = {}
     for name, value in pairs(vim.fn.environ()) do
       if vim.startswith(name, 'GEMINI_CLI_IDE') then variables[name] = value end
     end
     return variables`,
  );

const ENDS = {
  'quits Neovim': (neovim) => neovim.quit('qa!'),
  async 'loses Neovim and its companion by a kill'(neovim) {
    const companion = await neovim.lua(
      `for _, channel in ipairs(vim.api.nvim_list_chans()) do
         if channel.argv and vim.tbl_contains(channel.argv, 'serve') then
           return vim.fn.jobpid(channel.id)
         end
       end`,
    );
    neovim.signal('SIGKILL');
    process.kill(companion, 'SIGKILL');
  },
};

async function isOpen(port) {
  const socket = net.connect(port, '127.0.0.1');
  const connected = once(socket, 'connect').then(
    () => true,
    () => false,
  );
  return await connected.finally(() => socket.destroy());
}

describe('the CLI goes on with the other Neovim', { skip, concurrency: 2 }, () => {
  for (const [name, end] of Object.entries(ENDS)) {
    test(`when its user ${name}`, async (t) => {
      const sandbox = Sandbox.of(t);
      const first = await Neovim.start(sandbox);
      await first.ready();
      const second = await Neovim.start(sandbox);
      await second.ready();
      const file = (name) => sandbox.file(name, 'one\ntwo\n');
      const [a, b, c] = ['a', 'b', 'c'].map(file);
      const steps = [[replace(a)], 'First.', [replace(b), replace(c)], 'Second.'];
      const options = { env: await terminalEnv(first), review: true };
      const { terminal, results } = await startCli(sandbox, 'gemini', steps, options);
      await first.until(`require('gemini_companion').status().clients == 1`);
      await terminal.enter('rename it');
      await first.view(a);
      await first.type(':w<CR>');
      await terminal.shows(/First\./);

      await end(first);
      await first.exited();
      // A request before that would end the CLI's connection.
      await until('the second one listens', () => isOpen(options.env.GEMINI_CLI_IDE_SERVER_PORT));
      await second.edit(sandbox.file('open in the second.txt', 'text\n'));
      await terminal.enter('go on');
      await second.proposalBehind(b);
      const decide = (call, ...args) =>
        second.lua(`return require('gemini_companion').${call}(...)`, ...args);
      assert.equal(await decide('reject', b, REASON), true);
      await second.proposalBehind(c);
      assert.equal(await decide('accept', c), true);
      await terminal.shows(/Second\./);
      assert.deepEqual([a, b, c].map(read), ['one\nTWO\n', 'one\ntwo\n', 'one\nTWO\n']);
      const note = results().find((text) => text.includes(REASON));
      assert.match(note, /The user rejected this edit of .*b, and the file was not changed/);
      // The context comes at the latest when the CLI has its stream again.
      await terminal.shows(/1 open file/);
    });
  }
});
