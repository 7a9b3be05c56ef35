-- Lists the files with unsaved changes, so that the model learns that the disk has an older text.

local text = require('gemini_companion.text')

local M = {}

--- Returns the file of a buffer if its text is not on the disk. The name of another buffer may be a URL.
local function unsaved_file(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local is_modified = vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].modified
  local is_file = vim.bo[buffer].buftype == '' and (name:find('^/') or name:find('^%a:[/\\]')) ~= nil
  return is_modified and is_file and text.utf8(name) == name and name or nil
end

--- Answers the companion's request `editor/unsaved`.
---@param _ table
---@param done fun(result: GeminiCompanion.UnsavedFiles)
function M.request(_, done)
  local paths = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    paths[#paths + 1] = unsaved_file(buffer)
  end
  done({ paths = paths })
end

return M
