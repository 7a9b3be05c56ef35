-- Notifies the user when a CLI asks something in its terminal or has finished, if the user does not see that terminal.

local config = require('gemini_companion.config')
local guard = require('gemini_companion.guard')
local idle = require('gemini_companion.idle')
local log = require('gemini_companion.log')
local prompt = require('gemini_companion.prompt')
local server = require('gemini_companion.server')

local M = {}

local api = vim.api

--- The shortest time of an answer whose end is announced.
local MIN_SECONDS = 10

local has_focus = true

--- Returns whether the user sees the CLI's terminal. With several CLIs, nothing says which terminal that is.
local function is_seen()
  local status = server.status()
  return has_focus and status ~= nil and status.clients < 2 and prompt.is_cli_terminal(api.nvim_get_current_buf())
end

--- Calls `show` if the user should know, and runs the user's autocommands.
local function announce(event, data, show)
  data.seen = is_seen()
  guard.run_autocommands(event, data)
  if show and config.options.notify then
    idle.when_idle(function()
      if not is_seen() then
        show()
      end
    end)
  end
end

--- Handles `cli/waiting`.
---@param params GeminiCompanion.CliWaiting
function M.on_waiting(params)
  announce('GeminiCompanionWaiting', { session = params.session, message = params.message }, function()
    -- The question may contain a text of the model, so it is not in the log.
    log.add('the CLI asks something in its terminal')
    log.show(('the CLI asks in its terminal: %s'):format(params.message))
  end)
end

--- Handles `cli/answered`.
---@param params GeminiCompanion.CliAnswered
function M.on_answered(params)
  guard.run_autocommands('GeminiCompanionAnswered', { session = params.session })
end

local function duration(seconds)
  if seconds < 60 then
    return ('%d s'):format(seconds)
  end
  return ('%d min %d s'):format(math.floor(seconds / 60), seconds % 60)
end

--- Handles `cli/finished`.
---@param params GeminiCompanion.CliFinished
function M.on_finished(params)
  local is_long = params.seconds >= MIN_SECONDS
  announce('GeminiCompanionFinished', { session = params.session, seconds = params.seconds }, is_long and function()
    log.notify('the CLI has finished after ' .. duration(params.seconds))
  end or nil)
end

--- Follows the focus of Neovim's own window from now on, also while no companion runs.
function M.start()
  local group = api.nvim_create_augroup('gemini_companion_cli', {})
  api.nvim_create_autocmd({ 'FocusGained', 'FocusLost' }, {
    group = group,
    callback = function(event)
      has_focus = event.event == 'FocusGained'
    end,
  })
end

return M
