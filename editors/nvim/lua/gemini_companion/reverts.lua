-- Reverts files and single changes for the user, and reports that to the companion. Also reports the undo of a revert.

local config = require('gemini_companion.config')
local file = require('gemini_companion.file')
local log = require('gemini_companion.log')
local prompts = require('gemini_companion.prompts')
local revert_plan = require('gemini_companion.revert_plan')
local server = require('gemini_companion.server')
local undone = require('gemini_companion.undone')

local M = {}

--- The reverts of single changes by the keys of their prompts, for undo. The latest one is last.
---@type table<string, GeminiCompanion.RevertedHunk[]>
local reverted_hunks = {}

--- Reports files that are reverted, or whose revert is undone. With `hunk`, it is only that change of a file.
local function report(change, paths, is_reverted, hunk)
  if not hunk then
    prompts.set_reverted(change, paths, is_reverted)
  end
  local method = is_reverted and 'cli/reverted' or 'cli/revertUndone'
  server.notify(method, { session = change.session, prompt = change.prompt, paths = paths, hunk = hunk })
end

--- Notifies the user of a revert. While nothing is shared, the model does not learn it.
local function notify(what)
  local message = config.options.share_context and 'reverted %s; the model learns it with your next prompt'
    or 'reverted %s'
  log.notify(message:format(what))
end

--- Reports files that have their text from before a prompt again.
local function report_files(change, paths)
  if #paths == 0 then
    return
  end
  report(change, paths, true)
  notify(#paths == 1 and file.short(paths[1]) or ('%d files'):format(#paths))
end

--- Reports it if the user undoes the revert of a file, or makes it again. `single` is the state of a single change.
---@param key string
---@param reverted GeminiCompanion.Reverted
---@param single? GeminiCompanion.RevertedHunk
local function watch_undo(key, reverted, single)
  local path = reverted.path
  if not reverted.before then
    return
  end
  undone.follow(path, reverted.before, reverted.after, function()
    local change = prompts.get(key)
    local changed = change and prompts.file(change, path)
    if changed and single then
      return single.is_reverted
    end
    return changed and changed.reverted
  end, function(is_reverted)
    if single then
      single.is_reverted = is_reverted
    end
    report(prompts.get(key), { path }, is_reverted, single and single.hunk)
  end)
end

--- Reverts files of a prompt.
---@param change GeminiCompanion.CliChanged
---@param paths string[]
function M.revert(change, paths)
  revert_plan.run(change, paths, nil, function(reverted)
    local done = {}
    for index, one in ipairs(reverted) do
      done[index] = one.path
      watch_undo(prompts.key(change), one)
    end
    report_files(change, done)
  end)
end

--- Reports a file that the user has reverted in its buffer, unless it is reverted already.
---@param key string
---@param path string
---@param before string the bytes before the revert
function M.on_reverted(key, path, before)
  local change = prompts.get(key)
  local changed = change and prompts.file(change, path)
  if changed and not changed.reverted then
    report_files(change, { path })
    watch_undo(key, { path = path, before = before })
  end
end

--- Reverts one change of a file, and only that.
---@param key string
---@param path string
---@param hunk GeminiCompanion.Hunk
function M.revert_hunk(key, path, hunk)
  local change = prompts.get(key)
  if not change then
    return log.fail(prompts.NONE)
  end
  revert_plan.run(change, { path }, hunk, function(reverted)
    for _, one in ipairs(reverted) do
      local since = revert_plan.state(path)
      local single = { hunk = hunk, path = path, bytes = one.bytes, since = since, is_reverted = true }
      local list = reverted_hunks[key] or {}
      reverted_hunks[key] = list
      list[#list + 1] = single
      report(change, { path }, true, hunk)
      watch_undo(key, one, single)
      notify('a change in ' .. file.short(path))
    end
  end)
end

--- Undoes the last revert of a single change of a prompt, if the user has not undone it in the file.
---@param key string
function M.undo_hunk(key)
  local list = reverted_hunks[key] or {}
  while #list > 0 and not list[#list].is_reverted do
    table.remove(list)
  end
  local last, change = list[#list], prompts.get(key)
  if not last or not change then
    return log.fail('no revert is left to undo')
  end
  local ok, why = revert_plan.undo(last)
  if not ok then
    -- The next undo is about the revert before.
    table.remove(list)
    return log.fail(('the revert in %s is not undone: %s'):format(file.short(last.path), why))
  end
  if last.is_reverted then
    last.is_reverted = false
    report(change, { last.path }, false, last.hunk)
  end
end

--- Forgets the reverts of single changes of a prompt that has left the list.
---@param key string
function M.forget(key)
  reverted_hunks[key] = nil
end

--- Ends all watches after the companion has ended.
function M.stop()
  undone.stop()
  reverted_hunks = {}
end

return M
