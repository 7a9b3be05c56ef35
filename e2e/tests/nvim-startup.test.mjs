// Tests which Neovim starts a companion by itself, and which folder is its workspace.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';

import { until } from '../lib/inbox.mjs';
import { Neovim, noNeovim as skip, openNeovim } from '../lib/neovim.mjs';
import { Sandbox } from '../lib/sandbox.mjs';

const FOLDERS = `require('gemini_companion.workspace').folders()`;

/** Creates a file that is outside of the project. */
function temporary(t, name) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'asked-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, name);
  fs.writeFileSync(file, 'text\n');
  return file;
}

describe('a Neovim that another program has started for one text has no companion', { skip, concurrency: 2 }, () => {
  const cases = {
    'git commit': (t, sandbox) => ({ args: [sandbox.file('.git/COMMIT_EDITMSG', '\n')] }),
    'git rebase': (t, sandbox) => ({ args: ['-c', 'set ft=gitrebase', sandbox.file('todo', 'pick a\n')] }),
    'git add --patch': (t, sandbox) => ({ args: [sandbox.file('.git/addp-hunk-edit.diff', '\n')] }),
    'hg commit': (t) => ({ args: [temporary(t, 'hg-editor-abc.commit.hg.txt')] }),
    'nvim -R': (t, sandbox) => ({ args: ['-R', sandbox.file('a.txt')] }),
    'nvim -nR': (t, sandbox) => ({ args: ['-nR', sandbox.file('a.txt')] }),
    'nvim -d': (t, sandbox) => ({ args: ['-d', sandbox.file('a.txt'), sandbox.file('b.txt')] }),
    'nvim +Man!': (t, sandbox) => ({ args: ['+Man!', sandbox.file('a.txt')] }),
    'crontab -e': (t) => ({ args: [temporary(t, 'crontab')] }),
    'kubectl edit': (t) => ({ args: [temporary(t, 'kubectl-edit-1.yaml')] }),
    'edit-command-line': (t) => ({ args: ['-c', 'normal! 1go', temporary(t, 'zshabc.zsh')] }),
    firenvim: () => ({ init: 'vim.g.started_by_firenvim = true' }),
    'vscode-neovim': () => ({ init: 'vim.g.vscode = 1' }),
    'Gemini CLI': () => ({ env: { GEMINI_CLI_NO_RELAUNCH: 'true' } }),
    'Qwen Code': () => ({ env: { QWEN_CODE_NO_RELAUNCH: 'true' } }),
  };
  for (const [name, options] of Object.entries(cases)) {
    test(name, async (t) => {
      const sandbox = Sandbox.of(t);
      const filetypes = `vim.cmd('filetype on')\n`;
      const { init = '', ...rest } = options(t, sandbox);
      const neovim = await Neovim.start(sandbox, { ...rest, init: filetypes + init });
      await until('the log says so', async () => (await neovim.log()).includes('not started: '));
      assert.equal(await neovim.lua(`return require('gemini_companion.server').status()`), null);
      assert.match(await neovim.health(), /not running: /);
      await neovim.command('GeminiCompanion start');
      await neovim.ready();
    });
  }

  for (const [name, args] of Object.entries({
    'a file of the project': ['-n', 'a.txt'],
    'a command with an R': ['-c', 'let g:x = "-R"', 'a.txt'],
    'an option after --': ['--', '-R'],
  })) {
    test(`but not one for ${name}`, async (t) => {
      const { neovim } = await openNeovim(t, { args });
      assert.doesNotMatch(await neovim.log(), /not started/);
    });
  }
});

test('a companion starts beside invalid discovery files', { skip }, async (t) => {
  const sandbox = Sandbox.of(t);
  const folder = sandbox.folder('tmp', 'gemini', 'ide');
  for (const [index, content] of ['5', 'null', '[]', 'no JSON', '{"ppid":{},"ideInfo":5}'].entries()) {
    fs.writeFileSync(path.join(folder, `gemini-ide-server-${process.pid}-${index}.json`), content);
  }
  const neovim = await Neovim.start(sandbox);
  await neovim.ready();
});

describe('the workspace', { skip, concurrency: 2 }, () => {
  const automatic = {
    autochdir: `vim.o.autochdir = true`,
    'a rooter': `vim.api.nvim_create_autocmd('BufEnter', { nested = true, callback = function(event)
      vim.fn.chdir(vim.fs.dirname(event.match)) end })`,
    'a rooter that does not nest': `vim.cmd('autocmd BufEnter * if &buftype == "" | lcd %:p:h | endif')`,
    'a rooter that waits': `vim.api.nvim_create_autocmd('BufEnter', { nested = true,
      callback = vim.schedule_wrap(function(event) vim.fn.chdir(vim.fs.dirname(event.match)) end) })`,
  };
  for (const [name, init] of Object.entries(automatic)) {
    test(`does not follow ${name}`, async (t) => {
      const sandbox = Sandbox.of(t);
      const [deep, other] = [sandbox.file('sub/deep/a.txt'), sandbox.file('other/b.txt')];
      const neovim = await Neovim.start(sandbox, { init, args: [deep] });
      await neovim.ready();
      await neovim.until(`vim.fn.getcwd() == ...`, path.dirname(deep));
      assert.deepEqual(await neovim.lua(`return ${FOLDERS}`), [sandbox.project]);
      await neovim.command(`edit ${other}`);
      await neovim.until(`vim.fn.getcwd() == ...`, path.dirname(other));
      assert.deepEqual(await neovim.lua(`return ${FOLDERS}`), [sandbox.project]);
    });
  }

  test('follows the user, also with autochdir', async (t) => {
    const { sandbox, neovim } = await openNeovim(t, { init: automatic.autochdir });
    const [one, two] = [sandbox.folder('one'), sandbox.folder('two')];
    await neovim.type(`:cd ${one}<CR>`);
    assert.deepEqual(await neovim.lua(`return ${FOLDERS}`), [one]);
    await neovim.command(`edit ${sandbox.file('other/b.txt')}`);
    assert.deepEqual(await neovim.lua(`return ${FOLDERS}`), [one]);
    await neovim.type(`:tabnew<CR>:tcd ${two}<CR>`);
    assert.deepEqual(await neovim.lua(`return ${FOLDERS}`), [one, two]);
  });

  for (const [name, value, problem] of [
    ['fails', `error('mine')`, /the function in option workspace failed: mine$/m],
    ['returns a text', `return '/'`, /the function in option workspace must return a list of folders, not "\/"$/m],
  ]) {
    test(`is empty if the user’s function ${name}`, async (t) => {
      const sandbox = Sandbox.of(t);
      const neovim = await Neovim.start(sandbox, { options: `workspace = function() ${value} end` });
      await neovim.until(`vim.fn.execute('messages'):find('names no existing one')`);
      assert.match(await neovim.messages(), problem);
      assert.doesNotMatch(await neovim.messages(), /traceback|\.lua:/);
      assert.equal(await neovim.lua(`return require('gemini_companion.server').status()`), null);
    });
  }
});
