-- Notices that the user undoes the revert of a file, or makes it again, by the text of its buffer. Lets the user undo
-- the revert of a file that was not open.

local buffers = require('gemini_companion.buffer')
local file = require('gemini_companion.file')
local guard = require('gemini_companion.guard')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

local GROUP = 'gemini_companion_undone'

--- The last revert of each file, by `file.real`.
---@type table<string, GeminiCompanion.RememberedRevert>
local reverts = {}

local function digest(lines)
  return text.digest(table.concat(lines, '\n'))
end

--- Returns what identifies lines without a copy of them. The line `probe` is compared first: after a revert, texts
--- differ there, so that an edit elsewhere costs nothing in a large file.
local function fingerprint(lines, probe)
  local number = math.min(probe, #lines)
  return { count = #lines, number = number, line = lines[number], digest = digest(lines) }
end

--- Returns whether a buffer has the lines of a fingerprint.
local function has_lines(buffer, wanted)
  local number = wanted.number
  return api.nvim_buf_line_count(buffer) == wanted.count
    and api.nvim_buf_get_lines(buffer, number - 1, number, false)[1] == wanted.line
    and digest(api.nvim_buf_get_lines(buffer, 0, -1, false)) == wanted.digest
end

--- Watches a buffer that has the text of a revert.
local function watch(revert, buffer)
  local path = api.nvim_buf_get_name(buffer)
  local group = api.nvim_create_augroup(GROUP, { clear = false })
  api.nvim_create_autocmd({ 'TextChanged', 'BufReadPost' }, {
    group = group,
    buffer = buffer,
    callback = function()
      local reverted = revert.is_reverted()
      if reverted and has_lines(buffer, revert.old) then
        revert.notify(false)
      elseif reverted == false and has_lines(buffer, revert.new) then
        revert.notify(true)
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
      local reverted = revert.is_reverted()
      if reverted == false and digest(text.of_file(file.read(path)).lines) == revert.new.digest then
        revert.notify(true)
      end
      return reverted == nil
    end,
  })
end

--- Gives a buffer that has read a reverted file the undo step of the revert.
local function add_step(buffer, before)
  local after = buffers.parsed(buffer)
  -- Otherwise a write after the redo would give an empty file a line.
  after.eol = after.eol and not after.empty
  if api.nvim_buf_call(buffer, vim.fn.undotree).seq_last > 0 then
    -- With 'undofile', the buffer has the user's earlier changes. `fill` would forget them.
    buffers.replace(buffer, before)
  else
    buffers.fill(buffer, before)
    buffers.set_form(buffer, before)
  end
  -- `u` sets the option as it was before a change.
  vim.bo[buffer].modified = true
  buffers.replace(buffer, after)
  vim.bo[buffer].modified = false
end

--- Watches a buffer that has just read a reverted file. With 'undofile', it may have the step of the revert.
local function follow(buffer)
  local path = file.path_of(buffer)
  local revert = path and reverts[file.real(path)]
  if not revert or revert.buffer == buffer then
    return
  end
  if not has_lines(buffer, revert.new) then
    if not revert.buffer then
      -- A later buffer may have the user's own history.
      reverts[file.real(path)] = nil
    end
    return
  end
  if not revert.buffer then
    add_step(buffer, revert.before)
  end
  revert.buffer, revert.before = buffer, nil
  if revert.differs then
    watch(revert, buffer)
  end
end

--- Follows the revert of a file in its buffer, and in each later buffer that reads the file. If the file is not open,
--- undo works there as if it had been.
---@param path string
---@param before GeminiCompanion.Text the text before the revert
---@param after? GeminiCompanion.Text the text since, if the file is not open
---@param is_reverted fun(): boolean? whether the file is listed as reverted; nil ends the watch
---@param notify fun(reverted: boolean) called each time that the text of the revert is gone or there again
function M.follow(path, before, after, is_reverted, notify)
  local buffer = not after and file.buffer(path) or nil
  after = after or (buffer and buffers.parsed(buffer))
  if not after then
    return
  end
  local probe = text.first_difference(before.lines, after.lines)
  local revert = {
    old = fingerprint(before.lines, probe or 1),
    new = fingerprint(after.lines, probe or 1),
    differs = probe ~= nil,
    before = not buffer and before or nil,
    buffer = buffer,
    is_reverted = is_reverted,
    notify = notify,
  }
  reverts[file.real(path)] = revert
  if buffer and revert.differs then
    watch(revert, buffer)
  end
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
