-- Sets the environment by which a CLI in a terminal of this Neovim finds its companion.

local M = {}

--- What was in the environment before: a value, or false for none.
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

--- Puts back what was there.
function M.unset()
  for name, value in pairs(before) do
    vim.env[name] = value or nil
  end
  before = {}
end

return M
