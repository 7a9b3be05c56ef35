-- Checks the installation for `:checkhealth gemini_companion`.

local M = {}

local start, ok, info, warn = vim.health.start, vim.health.ok, vim.health.info, vim.health.warn
local problem = vim.health.error

local STATUS_TIMEOUT_MS = 1000
local DIAGNOSIS_TIMEOUT_MS = 10000

local function check_programs()
  start('Programs')
  ok(('Neovim %s'):format(vim.version()))
  local command = require('gemini_companion.config').options.cmd --[[@as string[] ]]
  local path = vim.fn.exepath(command[1] or '')
  if path == '' then
    problem(('%s not found'):format(command[1] or '(nothing)'), {
      'Install it: cargo install --locked --path rust/companion-cli, then gemini-companion setup neovim',
      "or set its path: require('gemini_companion').setup{ cmd = '/path/to/gemini-companion' }",
    })
  else
    local version = vim.fn.system(vim.list_extend(vim.list_extend({}, command), { '--version' }))
    local say = vim.v.shell_error == 0 and ok or problem
    say(('%s: %s'):format(path, vim.trim(version)))
  end
  local found = vim.tbl_filter(function(client)
    return vim.fn.executable(client) == 1
  end, require('gemini_companion.config').options.clients)
  for _, client in ipairs(found) do
    ok(client .. ': ' .. vim.fn.exepath(client))
  end
  if #found == 0 then
    warn('No CLI found', { 'Install Gemini CLI or Qwen Code, or run it on the machine that has it' })
  end
end

local function check_server()
  start('Companion')
  local status = require('gemini_companion.server').status()
  if not status or not status.port then
    local autostart = require('gemini_companion.config').options.autostart
    local obstacle = require('gemini_companion.startup').obstacle
    if autostart and not obstacle then
      problem('The companion is not running', { ':GeminiCompanion start', 'See :GeminiCompanion log' })
    else
      local why = obstacle or 'option autostart is false'
      info(('The companion is not running: %s. Run :GeminiCompanion start'):format(why))
    end
    return
  end
  ok(('Running: process %d, port %d'):format(status.pid, status.port))
  ok('Workspace: ' .. table.concat(require('gemini_companion.workspace').report(), ', '))
  if status.options.git_ignored_private then
    info('The companion shares nothing about files that Git ignores')
  end
  local names = table.concat(require('gemini_companion.server').options_of_next(), ', ')
  if names ~= '' then
    warn('Options that have changed since the start: ' .. names, { ':GeminiCompanion restart' })
  end
  local changed = vim.tbl_filter(function(name)
    return (vim.env[name] or '') ~= status.env[name]
  end, vim.tbl_keys(status.env))
  if #changed == 0 then
    ok('A new :terminal has the variables that lead a CLI to this Neovim')
  end
  for _, name in ipairs(changed) do
    warn(name .. ' was changed outside of the plugin', { ':GeminiCompanion restart' })
  end
  local companion = require('gemini_companion.server').ask('companion/status', STATUS_TIMEOUT_MS)
  if not companion then
    problem('The companion does not answer', { 'See :GeminiCompanion log' })
    return
  end
  for _, discovery in ipairs(companion.discoveryFiles) do
    if discovery.inPlace then
      ok('Discovery file: ' .. discovery.path)
    else
      problem('The discovery file is missing: ' .. discovery.path, { ':GeminiCompanion restart' })
    end
  end
  if #companion.clis > 0 then
    ok(require('gemini_companion.server').connected(companion.clis))
  else
    info('No CLI is connected. Run `gemini` or `qwen` in the workspace, and `/ide enable` in it')
  end
  local diagnosis = require('gemini_companion.server').ask('companion/diagnosis', DIAGNOSIS_TIMEOUT_MS)
  if diagnosis and diagnosis.text ~= '' then
    start('CLIs in a :terminal')
    info(diagnosis.text)
  end
end

function M.check()
  check_programs()
  check_server()
end

return M
