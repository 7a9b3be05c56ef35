-- Reads and replaces the text of a buffer, with its line endings and BOM.

local M = {}

local api = vim.api

--- Replaces the lines of a buffer, even if it is not 'modifiable'.
---@param buffer integer
---@param lines string[]
function M.set_lines(buffer, lines)
  local options = vim.bo[buffer]
  local modifiable = options.modifiable
  options.modifiable = true
  api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  options.modifiable = modifiable
end

--- Replaces the lines of a buffer without an undo step.
---@param buffer integer
---@param lines string[]
function M.fill(buffer, lines)
  local options = vim.bo[buffer]
  local levels = options.undolevels
  options.undolevels = -1
  M.set_lines(buffer, lines)
  options.undolevels = levels
  options.modified = false
end

--- Returns the text of a loaded buffer in the format of `text.parse`.
---@param buffer integer
---@return GeminiCompanion.Text
function M.parsed(buffer)
  local options = vim.bo[buffer]
  return {
    lines = api.nvim_buf_get_lines(buffer, 0, -1, true),
    dos = options.fileformat == 'dos',
    bomb = options.bomb,
    eol = options.endofline,
  }
end

--- Sets the options of a buffer for the line endings, BOM and last line of a text.
---@param buffer integer
---@param parsed GeminiCompanion.Text
function M.set_form(buffer, parsed)
  local options = vim.bo[buffer]
  options.fileformat = parsed.dos and 'dos' or 'unix'
  options.bomb = parsed.bomb
  options.fixendofline = false
  options.endofline = parsed.eol
end

--- Makes `:e` restore the lines of `original()`, and a following `u` the user's lines. Without this, Neovim looks
--- for a file of that name and empties the buffer. Calls `read()` afterwards. The returned function gives the text
--- at the last unload, or nil if the buffer was never unloaded.
---@param buffer integer
---@param group? integer
---@param original fun(): string[]
---@param read fun()
---@return fun(): GeminiCompanion.Text?
function M.outlive_edit(buffer, group, original, read)
  local before
  api.nvim_create_autocmd('BufUnload', {
    group = group,
    buffer = buffer,
    callback = function()
      before = M.parsed(buffer)
    end,
  })
  api.nvim_create_autocmd('BufReadCmd', {
    group = group,
    buffer = buffer,
    callback = function()
      local lines = original()
      M.fill(buffer, before and before.lines or lines)
      if before and not vim.deep_equal(before.lines, lines) then
        -- `u` restores this state.
        vim.bo[buffer].modified = true
        M.set_lines(buffer, lines)
      end
      read()
    end,
  })
  return function()
    return before
  end
end

return M
