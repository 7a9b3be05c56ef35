-- Sets the environment variables that lead a CLI in a :terminal to its companion.

local M = {}

--- The earlier value of each variable, or false if it was not set.
local before = {}

--- Sets the variables for all terminals and jobs that start from now on.
---@param env table<string, string>
function M.set(env)
  for name, value in pairs(env) do
    if before[name] == nil then
      before[name] = vim.env[name] or false
    end
    vim.env[name] = value
  end
end

--- Restores the earlier values.
function M.unset()
  for name, value in pairs(before) do
    vim.env[name] = value or nil
  end
  before = {}
end

return M
