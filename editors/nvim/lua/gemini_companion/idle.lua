-- Waits until windows may open and close, or until the user pauses.

local focus = require('gemini_companion.focus')

local M = {}

local api = vim.api
local uv = vim.uv

local POLL_INTERVAL_MS = 50
--- How long the user must have pressed no key before something changes under the user's hands.
M.QUIET_MS = 500

--- The time of the last key, and the number of keys so far.
local last_key, key_count = 0, 0
vim.on_key(function(_, typed)
  if typed ~= '' then
    last_key, key_count = uv.now(), key_count + 1
  end
end, api.nvim_create_namespace('gemini_companion_idle'))

local function is_idle()
  return focus.is_idle(focus.situation())
end

--- Calls `act` as soon as windows may open and close and `must_wait()` is not true, or at once. Calls `give_up` instead
--- after `timeout` ms, if there is a timeout.
---@param act fun()
---@param timeout? integer
---@param give_up? fun()
---@param must_wait? fun(): boolean
function M.when_idle(act, timeout, give_up, must_wait)
  if is_idle() and not (must_wait and must_wait()) then
    act()
  elseif timeout and timeout <= 0 then
    give_up()
  else
    vim.defer_fn(function()
      M.when_idle(act, timeout and timeout - POLL_INTERVAL_MS, give_up, must_wait)
    end, POLL_INTERVAL_MS)
  end
end

--- Calls `act` as soon as windows may open and close, but later: for callers that read the companion's messages, which
--- a question or an error in `act` must not stop.
---@param act fun()
function M.when_idle_later(act)
  vim.schedule_wrap(M.when_idle)(act)
end

--- Calls `act` once the user has typed no key for half a second, and again every 50 ms while it returns
--- true.
---@param act fun(): boolean
function M.when_quiet(act)
  local began = uv.now()
  local function poll()
    local rest = math.max(last_key, began) + M.QUIET_MS - uv.now()
    if rest > 0 or act() then
      vim.defer_fn(poll, math.max(rest, POLL_INTERVAL_MS))
    end
  end
  vim.defer_fn(poll, M.QUIET_MS)
end

--- Returns a function that calls `act` like `when_idle_later`, for the companion's answer to a command of the user. If
--- the user has typed on since the command, it first waits until the user pauses in Normal mode.
---@return fun(act: fun())
function M.after_command()
  local count = key_count
  return function(act)
    M.when_idle_later(function()
      if key_count == count then
        act()
        return
      end
      M.when_quiet(function()
        local mode = api.nvim_get_mode().mode
        if not is_idle() or (mode ~= 'n' and mode ~= 'nt') then
          return true
        end
        act()
        return false
      end)
    end)
  end
end

--- Returns whether the next key is meant for the present text of a buffer: the user types in it, selects lines, is
--- between an operator and its motion, or records a macro.
---@param buffer integer
function M.is_in_use(buffer)
  local mode = api.nvim_get_mode()
  return buffer == api.nvim_get_current_buf()
    and (mode.mode ~= 'n' or mode.blocking or vim.fn.state('moS') ~= '' or vim.fn.reg_recording() ~= '')
end

--- Returns whether the user works in a buffer, or may be about to.
---@param buffer integer
function M.is_busy_in(buffer)
  return M.is_in_use(buffer) or (buffer == api.nvim_get_current_buf() and uv.now() - last_key < M.QUIET_MS)
end

return M
