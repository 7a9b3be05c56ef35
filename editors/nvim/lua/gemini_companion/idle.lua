-- Owns the wait for a moment at which windows may be opened and closed: not while the user is
-- typing a command, answering a question, or between an operator and its motion.

local M = {}

local EVERY_MS = 50

local function is_idle()
  local mode = vim.api.nvim_get_mode()
  return not mode.blocking
    and vim.fn.getcmdwintype() == ''
    and not mode.mode:find('^[cr!]')
    and not mode.mode:find('^no')
end

--- Calls `act` as soon as that is possible, at once if it is. If it isn't for `patience` ms, if
--- given, `give_up` is called instead.
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

return M
