-- Keeps the text of an ended proposal until the companion reports that the CLI has written it. The CLI may never do so:
-- it may have ended, or the user may have rejected the edit in the terminal.

local buffers = require('gemini_companion.buffer')
local file = require('gemini_companion.file')
local log = require('gemini_companion.log')
local server = require('gemini_companion.server')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

--- The texts that the user has not saved, by buffer. The user or a plugin may delete a buffer that nobody has offered.
---@type table<integer, GeminiCompanion.Text>
local held = {}

--- Stand for a text that needs no buffer, and for one that the companion has reported as unwritten.
local NO_BUFFER, REPORTED = -1, -2

--- The buffers that the user knows of, and whether their texts are unsaved changes.
---@type table<integer, boolean>
local offered = { [REPORTED] = false }

--- The buffers with texts that a CLI is to write, by path, oldest first.
---@type table<string, integer[]>
local expected = {}

--- The buffers with accepted texts that a CLI may still get, from this companion or the next one.
---@type table<integer, true>
local queued = {}

local KEPT = ':sbuffer %d has your text for %s, which is not in the file'
local QUEUED = ':sbuffer %d has your text for %s; the CLI writes it when it is back'
local MAY_REPEAT = 'The CLI may have received your acceptance. If you write the file, it can be edited twice.'

local WITHDRAW_TIMEOUT_MS = 1000

--- Withdraws the acceptance of a text that the CLI would write a second time. Returns whether the user may write it.
local function withdraw(buffer, path)
  local may_wait = queued[buffer] or vim.tbl_contains(expected[path] or {}, buffer)
  local answer = may_wait and server.ask('diff/withdraw', WITHDRAW_TIMEOUT_MS, { filePath = path })
  if not answer and not queued[buffer] then
    return true
  end
  return answer and answer.withdrawn or vim.fn.confirm(MAY_REPEAT, '&Write\n&Cancel', 2) == 1
end

local function save(buffer, name, path)
  local options = vim.bo[buffer]
  if path == name then
    log.warn('this text belongs to no file; :w {file} saves it')
    return
  elseif not withdraw(buffer, path) then
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
---@param waits boolean whether a CLI waits for the proposal
function M.save_copy(parsed, path, waits)
  local ok, why = file.write(path, text.render(parsed))
  local saved = (waits and 'saved as %s; the proposal still waits' or 'saved as %s'):format(file.short(path))
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
  held[buffer] = parsed
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
    options.modified = held[buffer] ~= nil and offered[buffer] == true
  end)
  return buffer
end

--- Returns the buffers for a path that the companion still looks for. It no longer looks for earlier texts that the
--- user knows of.
local function waiting(path)
  expected[path] = vim.tbl_filter(function(buffer)
    return offered[buffer] == nil
  end, expected[path] or {})
  return expected[path]
end

--- Keeps a text that a CLI is to write, until the companion reports the outcome.
---@param path string
---@param parsed GeminiCompanion.Text
---@return integer buffer
function M.expect(path, parsed)
  local buffer = M.hold(path, parsed)
  table.insert(waiting(path), buffer)
  return buffer
end

--- Expects the companion's report about a changed text that Neovim has written itself, and keeps no text.
---@param path string
function M.wrote(path)
  table.insert(waiting(path), NO_BUFFER)
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
  offered[buffer] = not is_dropped
  log.warn((is_queued and QUEUED or KEPT):format(buffer, file.short(path)))
end

--- Offers an accepted text unless its CLI has got the acceptance. `kept` is its buffer, if there is one. Returns that
--- buffer.
---@param path string
---@param parsed GeminiCompanion.Text
---@param kept? integer
---@param delivery 'delivered'|'queued'|'unknown'|'unanswered'
---@return integer? kept
function M.delivered(path, parsed, kept, delivery)
  if delivery == 'delivered' then
    return kept
  end
  if not kept then
    kept = (delivery == 'queued' and M.expect or M.hold)(path, parsed)
  end
  queued[kept] = delivery ~= 'unknown' or nil
  M.offer(kept, path, false, delivery == 'queued')
  return kept
end

--- Deletes a buffer, unless the user sees it or has changed it.
local function release(buffer)
  if #vim.fn.win_findbuf(buffer) > 0 then
    return
  end
  if api.nvim_buf_get_changedtick(buffer) == vim.b[buffer].gemini_companion_tick then
    api.nvim_buf_delete(buffer, { force = true })
  end
end

--- Handles `diff/written`, about the text that was accepted last.
---@param params GeminiCompanion.DiffPath
function M.on_written(params)
  local buffer = table.remove(expected[params.filePath] or {})
  queued[buffer or 0] = nil
  if buffer and api.nvim_buf_is_valid(buffer) and held[buffer] then
    release(buffer)
  end
end

--- Returns whether a file has a text, in any form.
local function is_written(path, parsed)
  local bytes = file.read(path)
  return bytes ~= nil and text.plain(bytes) == text.plain(text.render(parsed))
end

--- Handles `diff/unwritten`, about the oldest text that the user does not know of. The CLI may yet write it.
---@param params GeminiCompanion.DiffPath
function M.on_unwritten(params)
  local list = expected[params.filePath] or {}
  for index, buffer in ipairs(list) do
    if buffer == NO_BUFFER then
      list[index] = REPORTED
      return
    elseif offered[buffer] == nil then
      if not api.nvim_buf_is_valid(buffer) and held[buffer] then
        local parsed = held[buffer]
        held[buffer] = nil
        buffer = M.hold(params.filePath, parsed)
        list[index] = buffer
      end
      if held[buffer] and is_written(params.filePath, held[buffer]) then
        list[index] = REPORTED
        release(buffer)
      elseif api.nvim_buf_is_valid(buffer) then
        M.offer(buffer, params.filePath)
      end
      return
    end
  end
end

--- Offers all texts that the CLIs may not have written, since no companion looks any more.
function M.stop()
  for path, list in pairs(expected) do
    for _ = 1, #list do
      M.on_unwritten({ filePath = path })
    end
  end
  expected = {}
end

return M
