-- Lists the files with unsaved changes, so that the model learns that the disk has an older text.

local file = require('gemini_companion.file')

local M = {}

--- Returns the file of a buffer if its text is not on the disk.
local function unsaved_file(buffer)
  local is_modified = vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].modified
  return is_modified and file.path_of(buffer) or nil
end

--- Handles `editor/unsaved`.
---@param _ table
---@param done fun(result: GeminiCompanion.UnsavedFiles)
function M.on_request(_, done)
  local paths = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    paths[#paths + 1] = unsaved_file(buffer)
  end
  done({ paths = paths })
end

return M
