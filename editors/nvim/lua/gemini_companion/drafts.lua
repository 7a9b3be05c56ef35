-- Keeps the user's text of an ended proposal until the CLI has written it. The CLI may never do so: it may have
-- ended, or the user may have rejected the edit in the terminal.

local buffers = require('gemini_companion.buffer')
local file = require('gemini_companion.file')
local log = require('gemini_companion.log')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

--- The buffers with texts that the user has not saved.
---@type table<integer, true>
local held = {}

--- Returns whether a file has the lines of a text, with any line endings.
---@param path string
---@param parsed GeminiCompanion.Text
---@return boolean
function M.is_written(path, parsed)
  local bytes = file.read(path)
  return bytes ~= nil and vim.deep_equal(text.parse(bytes).lines, parsed.lines)
end

local function save(buffer, name, path)
  local options = vim.bo[buffer]
  if path == name then
    log.warn('this text belongs to no file; :w {file} saves it')
    return
  end
  local parsed = buffers.parsed(buffer)
  local ok, why = file.write(path, text.render(parsed))
  if ok then
    options.modified = false
    held[buffer] = nil
  else
    log.notify(why, vim.log.levels.ERROR)
  end
end

--- Saves a copy of a proposal, and notifies the user.
---@param parsed GeminiCompanion.Text
---@param path string
function M.copy(parsed, path)
  local ok, why = file.write(path, text.render(parsed))
  local saved = ('saved as %s; the proposal still waits'):format(file.short(path))
  log.notify(ok and saved or why, not ok and vim.log.levels.ERROR or nil)
end

--- Puts a text into its own hidden buffer.
---@param path string
---@param parsed GeminiCompanion.Text
---@return integer buffer
function M.hold(path, parsed)
  local buffer = buffers.create('kept' .. path, 'acwrite', 'hide')
  local options = vim.bo[buffer]
  buffers.fill(buffer, parsed)
  buffers.set_form(buffer, parsed)
  options.modified = false
  held[buffer] = true
  vim.b[buffer].gemini_companion_tick = api.nvim_buf_get_changedtick(buffer)
  -- `:saveas` and `:file` rename the buffer before it is written.
  local name = api.nvim_buf_get_name(buffer)
  api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buffer,
    callback = function(event)
      save(buffer, name, event.match)
    end,
  })
  buffers.outlive_edit(buffer, nil, function()
    return parsed
  end, function()
    buffers.set_form(buffer, parsed)
    options.modified = held[buffer] and vim.b[buffer].gemini_companion_offered == true
  end)
  return buffer
end

--- Returns whether a buffer exists and its text is unsaved.
---@param buffer integer
---@return boolean
function M.is_held(buffer)
  return api.nvim_buf_is_valid(buffer) and held[buffer] ~= nil
end

--- Shows the user where the text is. From now on, Neovim asks about the buffer before it quits, unless the user has
--- dropped the text.
---@param buffer integer
---@param path string
---@param is_dropped? boolean
function M.offer(buffer, path, is_dropped)
  vim.bo[buffer].buflisted = true
  vim.bo[buffer].modified = not is_dropped
  vim.b[buffer].gemini_companion_offered = not is_dropped
  local offer = ':sbuffer %d has your text for %s, which is not in the file'
  log.warn(offer:format(buffer, file.short(path)))
end

--- Deletes a buffer after the CLI has written its text, unless the user sees it or has changed it.
---@param buffer integer
function M.release(buffer)
  if not api.nvim_buf_is_valid(buffer) or #vim.fn.win_findbuf(buffer) > 0 then
    return
  end
  if api.nvim_buf_get_changedtick(buffer) == vim.b[buffer].gemini_companion_tick then
    api.nvim_buf_delete(buffer, { force = true })
  end
end

return M
