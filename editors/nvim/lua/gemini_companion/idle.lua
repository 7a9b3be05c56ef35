-- Waits until windows may open and close: not while the user types a command, answers a question, or is between an
-- operator and its motion.

local M = {}

local uv = vim.uv

local EVERY_MS = 50
local QUIET_MS = 500

local function is_idle()
  local mode = vim.api.nvim_get_mode()
  return not mode.blocking
    and vim.fn.getcmdwintype() == ''
    and not mode.mode:find('^[cr!]')
    and not mode.mode:find('^no')
end

--- Calls `act` as soon as that is possible, at once if it is. If it isn't for `patience` ms, if
--- given, `give_up` is called instead.
---@param act fun()
---@param patience? integer
---@param give_up? fun()
function M.when_idle(act, patience, give_up)
  if is_idle() then
    act()
  elseif patience and patience <= 0 then
    give_up()
  else
    vim.defer_fn(function()
      M.when_idle(act, patience and patience - EVERY_MS, give_up)
    end, EVERY_MS)
  end
end

--- Calls `act` as soon as that is possible and no key has been typed for half a second.
---@param act fun()
function M.when_quiet(act)
  local namespace = vim.api.nvim_create_namespace('')
  local last_key = uv.now()
  vim.on_key(function(_, typed)
    last_key = typed ~= '' and uv.now() or last_key
  end, namespace)
  local function look()
    local rest = last_key + QUIET_MS - uv.now()
    if rest <= 0 and is_idle() then
      vim.on_key(nil, namespace)
      act()
    else
      vim.defer_fn(look, math.max(rest, EVERY_MS))
    end
  end
  vim.defer_fn(look, QUIET_MS)
end

return M
