-- Notices that the user undoes the revert of a file, or makes it again, by the text of its buffer. Lets the user undo
-- the revert of a file that was not open.

local buffers = require('gemini_companion.buffer')
local file = require('gemini_companion.file')
local guard = require('gemini_companion.guard')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

local GROUP = 'gemini_companion_undone'

--- The number of lines that are compared at once.
local CHUNK = 1000

--- The last revert of each file, by `real`.
---@type table<string, GeminiCompanion.RememberedRevert>
local reverts = {}

--- Returns the path of a file without symbolic links, if the file exists.
local function real(path)
  return vim.uv.fs_realpath(path) or path
end

--- Returns whether a buffer has these lines. The line `probe` is compared first: after a revert, texts differ there, so
--- that an edit elsewhere costs nothing in a large file.
local function has_lines(buffer, lines, probe)
  if
    api.nvim_buf_line_count(buffer) ~= #lines
    or api.nvim_buf_get_lines(buffer, probe - 1, probe, false)[1] ~= lines[probe]
  then
    return false
  end
  for first = 0, #lines - 1, CHUNK do
    local found = api.nvim_buf_get_lines(buffer, first, first + CHUNK, false)
    for index = 1, #found do
      if found[index] ~= lines[first + index] then
        return false
      end
    end
  end
  return true
end

--- Watches a buffer whose text a revert has changed. `is_reverted` returns whether the file is listed as reverted; nil
--- ends the watch. Passes to `notify` whether the text of the revert is there, each time that this changes.
---@param buffer integer
---@param before string[] the lines before the revert
---@param is_reverted fun(): boolean?
---@param notify fun(reverted: boolean)
function M.watch(buffer, before, is_reverted, notify)
  local after = api.nvim_buf_get_lines(buffer, 0, -1, false)
  local probe = text.first_difference(before, after)
  if not probe then
    return
  end
  local old_probe, new_probe = math.min(probe, #before), math.min(probe, #after)
  local path = api.nvim_buf_get_name(buffer)
  local saved = file.read(path)
  local group = api.nvim_create_augroup(GROUP, { clear = false })
  api.nvim_create_autocmd({ 'TextChanged', 'BufReadPost' }, {
    group = group,
    buffer = buffer,
    callback = function()
      local reverted = is_reverted()
      if reverted and has_lines(buffer, before, old_probe) then
        notify(false)
      elseif reverted == false and has_lines(buffer, after, new_probe) then
        notify(true)
      end
      -- The result true removes this autocommand.
      return reverted == nil
    end,
  })
  -- An undo that the user does not save ends with the buffer.
  api.nvim_create_autocmd('BufUnload', {
    group = group,
    buffer = buffer,
    callback = function()
      local reverted = is_reverted()
      if reverted == false and file.read(path) == saved then
        notify(true)
      end
      return reverted == nil
    end,
  })
end

--- Gives a buffer the undo step of a revert.
local function add_step(buffer, revert)
  if api.nvim_buf_call(buffer, vim.fn.undotree).seq_last > 0 then
    -- With 'undofile', the buffer has the user's earlier changes. `fill` would forget them.
    buffers.replace(buffer, revert.before)
  else
    buffers.fill(buffer, revert.before)
    buffers.set_form(buffer, revert.before)
  end
  -- `u` sets the option as it was before a change.
  vim.bo[buffer].modified = true
  buffers.replace(buffer, revert.after)
  vim.bo[buffer].modified = false
end

--- Watches a buffer that has just read a reverted file. With 'undofile', it may have the step of the revert.
local function follow(buffer)
  local path = file.path_of(buffer)
  local revert = path and reverts[real(path)]
  if not revert or revert.buffer == buffer then
    return
  end
  local lines = api.nvim_buf_get_lines(buffer, 0, -1, false)
  if not vim.deep_equal(lines, revert.after.lines) then
    if not revert.buffer then
      -- A later buffer may have the user's own history.
      reverts[real(path)] = nil
    end
    return
  end
  if not revert.buffer then
    add_step(buffer, revert)
  end
  revert.buffer = buffer
  revert.watch(buffer)
end

--- Watches each later buffer that reads a reverted file. If the file was not open, undo works there as if it had been.
---@param path string
---@param revert GeminiCompanion.RememberedRevert
function M.remember(path, revert)
  reverts[real(path)] = revert
  api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
    group = api.nvim_create_augroup(GROUP .. '_later', { clear = true }),
    callback = function(event)
      guard.call('the undo step of a revert', follow, event.buf)
    end,
  })
end

--- Ends all watches.
function M.stop()
  reverts = {}
  api.nvim_create_augroup(GROUP, { clear = true })
  api.nvim_create_augroup(GROUP .. '_later', { clear = true })
end

return M
