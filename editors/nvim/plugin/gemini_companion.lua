-- Registers the command, and starts the companion after Neovim has started.

if vim.g.loaded_gemini_companion then
  return
end
if vim.fn.has('nvim-0.10') == 0 then
  return vim.notify('Companion for Gemini CLI needs Neovim 0.10 or newer', vim.log.levels.WARN)
end
vim.g.loaded_gemini_companion = 1

vim.api.nvim_create_user_command('GeminiCompanion', function(command)
  local has_lines = command.range > 0
  require('gemini_companion.commands').run(
    command.args,
    has_lines and command.line1 or nil,
    has_lines and command.line2 or nil
  )
end, {
  nargs = '*',
  range = true,
  complete = function(lead, line, cursor)
    return require('gemini_companion.commands').complete(lead, line:sub(1, cursor))
  end,
  desc = 'Companion for Gemini CLI: status, restart, log, accept, reject, …',
})

vim.api.nvim_create_autocmd('SessionLoadPost', {
  group = vim.api.nvim_create_augroup('gemini_companion_sessions', {}),
  callback = vim.schedule_wrap(function()
    require('gemini_companion.sessions').clean()
  end),
})

local group = vim.api.nvim_create_augroup('gemini_companion_start', {})

-- The workspace is the directory where the user has opened Neovim, until the user chooses another one. A plugin manager
-- may load this file late: with 'autochdir', the directory is already that of a file.
local is_late = vim.v.vim_did_enter == 1
local opened_in = is_late and vim.o.autochdir and vim.env.PWD or vim.fn.getcwd()
local entered = vim.uv.now()
local function workspace()
  local module = require('gemini_companion.workspace')
  module.opened_in(opened_in, is_late)
  return module
end
vim.api.nvim_create_autocmd('BufEnter', {
  group = group,
  callback = function()
    entered = vim.uv.now()
  end,
})
vim.api.nvim_create_autocmd('DirChanged', {
  group = group,
  callback = function(event)
    workspace().directory_changed(event, vim.uv.now() - entered)
  end,
})

-- Scripts run without a user interface, so no user could see a proposal.
local function start()
  if vim.v.vim_did_enter == 1 and #vim.api.nvim_list_uis() > 0 then
    vim.schedule(function()
      workspace()
      require('gemini_companion').autostart()
    end)
    return true
  end
end
if not start() then
  vim.api.nvim_create_autocmd({ 'VimEnter', 'UIEnter' }, { group = group, callback = start })
end
