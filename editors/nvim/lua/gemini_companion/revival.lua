-- Decides whether Neovim starts a companion again that has ended by itself.

local M = {}

--- A companion that ends more often is not started again, since it would end without end.
local MAX = 3
local WITHIN_MS = 10 * 60 * 1000

--- When Neovim has done so.
local times = {}

--- Returns whether Neovim starts the companion again. Each time counts.
---@return boolean
function M.may()
  local now = vim.uv.now()
  times = vim.tbl_filter(function(time)
    return now - time < WITHIN_MS
  end, times)
  if #times == MAX then
    return false
  end
  times[#times + 1] = now
  return true
end

return M
