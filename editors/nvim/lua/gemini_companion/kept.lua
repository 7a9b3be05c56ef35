-- Keeps texts of ended proposals for the user, each in a hidden buffer of its own.

local buffers = require('gemini_companion.buffer')
local file = require('gemini_companion.file')
local log = require('gemini_companion.log')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

--- The state of each buffer: offered with unsaved changes, or saved by the user.
---@type table<integer, 'offered'|'saved'?>
local states = {}

--- The `changedtick` of each buffer with the text as it was.
---@type table<integer, integer>
local ticks = {}

local KEPT = ':sbuffer %d has your text for %s, which is not in the file'
local QUEUED = ':sbuffer %d has your text for %s; the CLI writes it when it is back'

local function save(buffer, path)
  local ok, why = file.write(path, text.render(buffers.parsed(buffer)))
  if ok then
    vim.bo[buffer].modified = false
    states[buffer] = 'saved'
  else
    log.notify(why, vim.log.levels.ERROR)
  end
end

--- Saves a copy of a proposal, and notifies the user.
---@param parsed GeminiCompanion.Text
---@param path string
---@param waits boolean whether a CLI waits for the proposal
function M.save_copy(parsed, path, waits)
  local ok, why = file.write(path, text.render(parsed))
  local saved = (waits and 'saved as %s; the proposal still waits' or 'saved as %s'):format(file.short(path))
  log.notify(ok and saved or why, not ok and vim.log.levels.ERROR or nil)
end

--- Puts a text into a buffer that the user does not know of. `may_write(file)` is called before the user writes it.
---@param path string
---@param parsed GeminiCompanion.Text
---@param may_write? fun(file: string): boolean
---@return integer buffer
function M.hold(path, parsed, may_write)
  local buffer = buffers.create('kept' .. path, 'acwrite', 'hide')
  local options = vim.bo[buffer]
  buffers.fill(buffer, parsed)
  ticks[buffer] = api.nvim_buf_get_changedtick(buffer)
  -- `:saveas` and `:file` rename the buffer before it is written.
  local name, has_warned = api.nvim_buf_get_name(buffer), false
  api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buffer,
    callback = function(event)
      if event.match == name then
        -- An autosave plugin may write all buffers again and again. The user of this one is in a window with it.
        if not has_warned or vim.fn.win_gettype() ~= 'autocmd' then
          has_warned = true
          log.warn('this text belongs to no file; :w {file} saves it')
        end
      elseif not may_write or may_write(event.match) then
        save(buffer, event.match)
      end
    end,
  })
  buffers.outlive_edit(buffer, function()
    return parsed
  end, function()
    buffers.set_form(buffer, parsed)
    options.modified = states[buffer] == 'offered'
  end)
  return buffer
end

--- Shows the user where the text is. From now on, Neovim asks about the buffer before it quits, unless the user has
--- dropped the text.
---@param buffer integer
---@param path string
---@param is_dropped? boolean
---@param is_queued? boolean the CLI may still write it
function M.offer(buffer, path, is_dropped, is_queued)
  vim.bo[buffer].buflisted = true
  vim.bo[buffer].modified = not is_dropped
  states[buffer] = not is_dropped and 'offered' or nil
  log.warn((is_queued and QUEUED or KEPT):format(buffer, file.short(path)))
end

--- Keeps the user's changes to a proposal; see `offer`.
---@param path string
---@param parsed GeminiCompanion.Text
---@param is_dropped? boolean
function M.keep(path, parsed, is_dropped)
  M.offer(M.hold(path, parsed), path, is_dropped)
end

--- Deletes a buffer whose text is in its file, unless the user sees it, or has changed or saved it.
---@param buffer integer
function M.release(buffer)
  if not api.nvim_buf_is_valid(buffer) or states[buffer] == 'saved' or #vim.fn.win_findbuf(buffer) > 0 then
    return
  end
  if api.nvim_buf_get_changedtick(buffer) == ticks[buffer] then
    api.nvim_buf_delete(buffer, { force = true })
  end
end

return M
