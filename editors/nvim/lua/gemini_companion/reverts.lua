-- Reverts files and single changes for the user, and reports that to the companion. Also reports the undo of a revert,
-- and lets the user undo the revert of a file that was not open.

local buffers = require('gemini_companion.buffer')
local config = require('gemini_companion.config')
local file = require('gemini_companion.file')
local guard = require('gemini_companion.guard')
local log = require('gemini_companion.log')
local prompts = require('gemini_companion.prompts')
local revert_plan = require('gemini_companion.revert_plan')
local server = require('gemini_companion.server')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

local GROUP = 'gemini_companion_reverts'

--- The reverts since the companion has started, oldest first.
---@type GeminiCompanion.Revert[]
local reverts = {}

--- Reports files that are reverted, or whose revert is undone. With `hunk`, it is only that change of a file.
local function report(change, paths, is_reverted, hunk)
  for _, path in ipairs(not hunk and paths or {}) do
    -- Until the companion answers, a second write is no second revert.
    local changed = prompts.file(change, path)
    if changed then
      changed.reverted = is_reverted
    end
  end
  local method = is_reverted and 'cli/reverted' or 'cli/revertUndone'
  server.notify(method, { session = change.session, prompt = change.prompt, paths = paths, hunk = hunk })
end

--- Reports what the user has reverted, and shows it. While nothing is shared, the model does not learn it.
local function report_reverted(change, paths, hunk)
  report(change, paths, true, hunk)
  local what = #paths == 1 and file.short(paths[1]) or ('%d files'):format(#paths)
  local message = config.options.share_context and 'reverted %s; the model learns it with your next prompt'
    or 'reverted %s'
  log.notify(message:format(hunk and 'a change in ' .. what or what))
end

--- Sets and reports whether a file has the text of a revert.
local function set(revert, is_reverted)
  revert.is_reverted = is_reverted
  local change = prompts.get(revert.key)
  if change and prompts.file(change, revert.path) then
    report(change, { revert.path }, is_reverted, revert.hunk)
  end
end

--- Returns the reverts of the file of a buffer, newest first.
local function of_buffer(buffer)
  local found, path = {}, file.path_of(buffer)
  local real = path and file.real(path)
  for index = #reverts, 1, -1 do
    local revert = reverts[index]
    if path and (revert.path == path or revert.real == real) then
      found[#found + 1] = revert
    end
  end
  return found
end

--- Returns whether the text that the user has written contains a revert, nil if that is not known: by its bytes, or by
--- the undo tree if that has changed since the last write. A formatter or another edit may have changed the bytes.
local function contains(revert, buffer, now)
  local was_there = revert.is_there
  if revert.buffer == buffer then
    local is_there = buffers.contains_change(buffer, revert.number)
    if is_there ~= nil then
      revert.is_there = is_there
    end
  end
  if now == revert.new or now == revert.old then
    return now == revert.new
  elseif revert.is_there ~= was_there then
    return revert.is_there
  end
end

--- Notices that the user has written the text from before a revert, or that of the revert again.
local function on_write(buffer, name)
  if not file.is_own(buffer, name) then
    return
  end
  local found, again = of_buffer(buffer), {}
  local now = found[1] and text.digest(file.read(found[1].path) or '')
  for index, revert in ipairs(found) do
    local is_there = contains(revert, buffer, now)
    if is_there and not revert.is_reverted then
      table.insert(again, 1, revert)
    elseif is_there == false and revert.is_reverted then
      -- Later reverts are undone with it.
      for later = 1, index do
        if found[later].is_reverted then
          set(found[later], false)
        end
      end
    end
  end
  for _, revert in ipairs(again) do
    set(revert, true)
  end
end

--- Gives a buffer that has read a reverted file the undo step of the revert, unless the file has another text by now.
local function on_read(buffer)
  for index, revert in ipairs(of_buffer(buffer)) do
    -- The undo tree may be another one.
    local has_change = revert.number and buffers.contains_change(buffer, revert.number) ~= nil
    revert.buffer = has_change and buffer or nil
    local after = buffers.parsed(buffer)
    -- Otherwise a write after the redo would give an empty file a line.
    after.eol = after.eol and not after.empty
    if index == 1 and not revert.has_step and text.digest(text.render(after)) == revert.new then
      local before = text.of_file(revert.bytes)
      if api.nvim_buf_call(buffer, vim.fn.undotree).seq_last > 0 then
        -- With 'undofile', the buffer has the user's earlier changes. `fill` would forget them.
        buffers.replace(buffer, before)
      else
        buffers.fill(buffer, before)
      end
      -- `u` sets the option as it was before a change.
      vim.bo[buffer].modified = true
      revert.buffer, revert.number, revert.is_there = buffer, buffers.replace(buffer, after), true
      vim.bo[buffer].modified = false
    end
    -- A later buffer may have the user's own history.
    revert.has_step, revert.bytes = true, revert.may_undo and revert.bytes or nil
  end
end

--- Remembers a revert. `done` is an element of the result of `revert_plan.run`.
local function add(key, done, hunk)
  if done.before == done.after then
    return
  end
  if #reverts == 0 then
    local group = api.nvim_create_augroup(GROUP, {})
    guard.on_buffer(group, 'BufWritePost', on_write)
    guard.on_buffer(group, { 'BufReadPost', 'BufNewFile' }, on_read)
  end
  reverts[#reverts + 1] = {
    key = key,
    path = done.path,
    real = file.real(done.path),
    hunk = hunk,
    bytes = (hunk or not done.is_open) and done.before or nil,
    old = text.digest(done.before or ''),
    new = text.digest(done.after or ''),
    has_step = done.is_open,
    may_undo = hunk ~= nil,
    buffer = done.number and file.buffer(done.path),
    number = done.number,
    is_there = true,
    is_reverted = true,
  }
end

--- Reverts files of a prompt, or with `hunk` one change of a file, and only that.
---@param change GeminiCompanion.CliChanged
---@param paths string[]
---@param hunk? GeminiCompanion.Hunk
function M.revert(change, paths, hunk)
  revert_plan.run(change, paths, hunk, function(reverted)
    local done = {}
    for index, one in ipairs(reverted) do
      done[index] = one.path
      add(prompts.key(change), one, hunk)
    end
    if #done > 0 then
      report_reverted(change, done, hunk)
    end
  end)
end

--- Reports a file that the user has reverted in its buffer, unless it is reverted already.
---@param key string
---@param path string
---@param before string the bytes before the revert
---@param number integer its last change in the buffer
function M.on_reverted(key, path, before, number)
  local change = prompts.get(key)
  local changed = change and prompts.file(change, path)
  if changed and not changed.reverted then
    add(key, { path = path, before = before, after = file.read(path), is_open = true, number = number })
    report_reverted(change, { path })
  end
end

--- Undoes the last revert of a single change of a prompt, unless the user has done so in the file.
---@param change GeminiCompanion.CliChanged
function M.undo(change)
  local key = prompts.key(change)
  for index = #reverts, 1, -1 do
    local revert = reverts[index]
    if revert.key == key and revert.may_undo and revert.is_reverted then
      local ok, why = revert_plan.undo(revert)
      if not ok then
        -- The next undo is about the revert before.
        revert.may_undo = false
        log.fail(('the revert in %s is not undone: %s'):format(file.short(revert.path), why))
      elseif revert.is_reverted then
        set(revert, false)
      end
      return
    end
  end
  log.fail('no X is left to undo; u and :w in a file undo its revert')
end

--- Removes files of a prompt from the list, or with `hunk` one change of a file.
---@param change GeminiCompanion.CliChanged
---@param paths string[]
---@param hunk? GeminiCompanion.Hunk
function M.keep(change, paths, hunk)
  server.notify('cli/kept', { session = change.session, prompt = change.prompt, paths = paths, hunk = hunk })
end

--- Forgets the texts of single changes of a prompt that has left the list.
---@param key string
function M.forget(key)
  for _, revert in ipairs(reverts) do
    if revert.key == key then
      revert.may_undo = false
      revert.bytes = not revert.has_step and revert.bytes or nil
    end
  end
end

--- Forgets all reverts after the companion has ended.
function M.stop()
  reverts = {}
  api.nvim_create_augroup(GROUP, {})
end

return M
