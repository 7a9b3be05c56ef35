-- Waits until windows may open and close, or until the user pauses.

local focus = require('gemini_companion.focus')

local M = {}

local uv = vim.uv

local POLL_INTERVAL_MS = 50
local QUIET_MS = 500

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
  local namespace = vim.api.nvim_create_namespace('')
  local last_key = uv.now()
  vim.on_key(function(_, typed)
    last_key = typed ~= '' and uv.now() or last_key
  end, namespace)
  local function poll()
    local rest = last_key + QUIET_MS - uv.now()
    if rest > 0 or act() then
      vim.defer_fn(poll, math.max(rest, POLL_INTERVAL_MS))
    else
      vim.on_key(nil, namespace)
    end
  end
  vim.defer_fn(poll, QUIET_MS)
end

return M
