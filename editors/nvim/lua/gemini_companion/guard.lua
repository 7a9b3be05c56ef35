-- Keeps an error in one step from stopping the steps after it, and shows it in one line.

local log = require('gemini_companion.log')

local M = {}

--- Returns an error without its stack.
---@param why any
function M.first_line(why)
  return (tostring(why):gsub('\n.*', ''))
end

--- Returns an error for the user: its first line, without the places in the code.
---@param why any
function M.reason(why)
  return (M.first_line(why):gsub('%S*%.lua:%d+: ', ''):gsub('nvim_exec2%(%), line %d+: ', ''))
end

--- Calls a function. If it fails, logs and shows why. Returns whether it succeeded, and its result.
---@param what string names the step
---@param act fun(...): any
---@return boolean, any
function M.call(what, act, ...)
  local ok, result = pcall(act, ...)
  if not ok then
    -- The place helps to find an autocommand of the user.
    log.add(('%s failed: %s'):format(what, M.first_line(result)))
    log.show(('%s failed: %s'):format(what, M.reason(result)), vim.log.levels.WARN)
  end
  return ok, result
end

--- Calls a function for a command of the user, and shows why it fails. Returns whether it succeeded.
---@param act fun(...)
function M.try(act, ...)
  local ok, why = pcall(act, ...)
  if not ok then
    log.fail(M.reason(why))
  end
  return ok
end

--- Calls a function, and ignores an error in it or in an autocommand of the user that it causes. Called by a Vim
--- function, it raises that error; Neovim would show it, with its stack, and wait for a key.
---@param act fun()
function M.quietly(act)
  pcall(vim.fn.call, act, {})
end

--- Calls a function without the autocommands for some events, which may fail. Returns like `pcall`.
---@param events string
---@param act fun(...): any, any
function M.without_events(events, act, ...)
  local ignored = vim.o.eventignore
  local function ignore(list)
    -- An autocommand that follows options may fail, once the option is set.
    M.quietly(function()
      vim.o.eventignore = list
    end)
  end
  ignore(ignored == '' and events or ignored .. ',' .. events)
  local results = { pcall(act, ...) }
  ignore(ignored)
  return unpack(results, 1, 3)
end

--- Calls `act` with the buffer of each of the events, and the name that they are about.
---@param group integer
---@param events string|string[]
---@param act fun(buffer: integer, name: string)
function M.on_buffer(group, events, act)
  vim.api.nvim_create_autocmd(events, {
    group = group,
    callback = function(event)
      M.call(event.event, act, event.buf, event.match)
    end,
  })
end

--- Runs the user's autocommands for an event, once Neovim has read all messages of the companion.
---@param event string
---@param data table
function M.run_autocommands(event, data)
  local function run()
    vim.api.nvim_exec_autocmds('User', { pattern = event, data = data, modeline = false })
  end
  vim.schedule(function()
    -- See `quietly`.
    M.call(event, vim.fn.call, run, {})
  end)
end

return M
