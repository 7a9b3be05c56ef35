-- Puts a text into a buffer and takes it out again, with its form in a file.

local M = {}

local api = vim.api

--- Puts lines into a buffer, also one that the user can't change.
---@param buffer integer
---@param lines string[]
function M.set_lines(buffer, lines)
  local options = vim.bo[buffer]
  local modifiable = options.modifiable
  options.modifiable = true
  api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  options.modifiable = modifiable
end

--- Fills a buffer in a way that can't be undone.
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

--- The text of a buffer that is loaded, as `text.parse` returns it.
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

--- Gives a buffer the form of a text.
---@param buffer integer
---@param parsed GeminiCompanion.Text
function M.set_form(buffer, parsed)
  local options = vim.bo[buffer]
  options.fileformat = parsed.dos and 'dos' or 'unix'
  options.bomb = parsed.bomb
  options.fixendofline = false
  options.endofline = parsed.eol
end

--- Has `:e` put the lines back that `original()` returns, and `u` after it what was there: by itself Neovim
--- would look for a file of that name, find none, and leave nothing. `read()` is called afterwards. Returns what
--- gives the text of the buffer as it was when it was unloaded last, nil if it never was.
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
        -- As it is to be once `u` has brought it back.
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
