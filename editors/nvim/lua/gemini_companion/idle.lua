-- Waits until windows may open and close, or until the user pauses.

local focus = require('gemini_companion.focus')

local M = {}

local api = vim.api
local uv = vim.uv

local POLL_INTERVAL_MS = 50
--- How long the user must have pressed no key before something changes under the user's hands.
local QUIET_MS = 500

--- The time of the last key.
local last_key = 0
vim.on_key(function(_, typed)
  if typed ~= '' then
    last_key = uv.now()
  end
end, api.nvim_create_namespace('gemini_companion_idle'))

local function is_idle()
  return focus.is_idle(focus.situation())
end

--- Calls `act` as soon as windows may open and close, or at once. Calls `give_up` instead after `timeout` ms, if
--- there is a timeout.
---@param act fun()
---@param timeout? integer
---@param give_up? fun()
function M.when_idle(act, timeout, give_up)
  if is_idle() then
    act()
  elseif timeout and timeout <= 0 then
    give_up()
  else
    vim.defer_fn(function()
      M.when_idle(act, timeout and timeout - POLL_INTERVAL_MS, give_up)
    end, POLL_INTERVAL_MS)
  end
end

--- Calls `act` as soon as windows may open and close, but later: for callers that read the companion's messages, which
--- a question or an error in `act` must not stop.
---@param act fun()
function M.when_idle_later(act)
  vim.schedule(function()
    M.when_idle(act)
  end)
end

--- Calls `act` once the user has typed no key for half a second, and again every 50 ms while it returns
--- true.
---@param act fun(): boolean
function M.when_quiet(act)
  local began = uv.now()
  local function poll()
    local rest = math.max(last_key, began) + QUIET_MS - uv.now()
    if rest > 0 or act() then
      vim.defer_fn(poll, math.max(rest, POLL_INTERVAL_MS))
    end
  end
  vim.defer_fn(poll, QUIET_MS)
end

--- Returns whether the next key is meant for the present text of a buffer: the user types in it, selects lines, is
--- between an operator and its motion, or records a macro.
---@param buffer integer
---@return boolean
function M.is_in_use(buffer)
  local mode = api.nvim_get_mode()
  return buffer == api.nvim_get_current_buf()
    and (mode.mode ~= 'n' or mode.blocking or vim.fn.state('moS') ~= '' or vim.fn.reg_recording() ~= '')
end

--- Returns whether the user works in a buffer, or may be about to.
---@param buffer integer
---@return boolean
function M.is_busy_in(buffer)
  return M.is_in_use(buffer) or (buffer == api.nvim_get_current_buf() and uv.now() - last_key < QUIET_MS)
end

return M
