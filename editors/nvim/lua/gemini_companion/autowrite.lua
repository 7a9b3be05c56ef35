-- Switches 'autowrite' and 'autowriteall' off while a proposal is visible. Otherwise `:make` or `:q` would write the
-- proposal, and a write accepts it.

local M = {}

--- The visible views, and the user's values of the options.
local in_sight = {}
local before

--- Updates the options after a view became visible or hidden.
---@param view GeminiCompanion.View
---@param is_in_sight boolean
function M.follow(view, is_in_sight)
  in_sight[view] = is_in_sight or nil
  if next(in_sight) and not before then
    before = { autowrite = vim.o.autowrite, autowriteall = vim.o.autowriteall }
    vim.o.autowrite, vim.o.autowriteall = false, false
  elseif not next(in_sight) and before then
    -- The user may have switched one on meanwhile.
    vim.o.autowrite = vim.o.autowrite or before.autowrite
    vim.o.autowriteall = vim.o.autowriteall or before.autowriteall
    before = nil
  end
end

return M
