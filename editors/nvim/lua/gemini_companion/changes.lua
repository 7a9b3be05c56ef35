-- Keeps the files that CLIs have changed, by prompt: lists them, compares them with their text from before, and reverts
-- them.

local buffers = require('gemini_companion.buffer')
local compare = require('gemini_companion.compare')
local file = require('gemini_companion.file')
local guard = require('gemini_companion.guard')
local hunks = require('gemini_companion.hunks')
local idle = require('gemini_companion.idle')
local log = require('gemini_companion.log')
local quickfix = require('gemini_companion.quickfix')
local reload = require('gemini_companion.reload')
local revert = require('gemini_companion.revert')
local server = require('gemini_companion.server')
local undone = require('gemini_companion.undone')
local words = require('gemini_companion.words')

local M = {}

local api = vim.api

local LIST = 'gemini_companion_changes'
local NONE = 'the list of changes is empty'
local NOT_LISTED = '%s is not in the list of changes'
local NOT_KEPT = 'the text of %s from before the prompt is not kept'

--- The prompts by their keys.
---@type table<string, GeminiCompanion.CliChanged>
local prompts = {}
--- The reverts of single changes by prompt, for undo. The latest one is last.
---@type table<string, GeminiCompanion.RevertedHunk[]>
local reverted_hunks = {}
--- The newest states of prompts, by their keys, that wait until the user has typed a command.
---@type table<string, GeminiCompanion.CliChanged>
local arrived = {}
--- The number of changed files, until it changes.
---@type integer?
local count

local function key_of(change)
  return ('%s %d'):format(change.session, change.prompt)
end

--- Returns whether the prompt `a` is later than `b`.
local function is_later(a, b)
  if a.time ~= b.time then
    return a.time > b.time
  elseif a.prompt ~= b.prompt then
    return a.prompt > b.prompt
  end
  return a.session > b.session
end

--- Returns the prompts, newest first.
---@return GeminiCompanion.CliChanged[]
local function in_order()
  local list = vim.tbl_values(prompts)
  table.sort(list, is_later)
  return list
end

--- Returns the file of a prompt with that path, or nil.
---@param change GeminiCompanion.CliChanged
---@param path string
---@return GeminiCompanion.ChangedFile?
local function file_of(change, path)
  for _, changed in ipairs(change.files) do
    if changed.path == path then
      return changed
    end
  end
end

--- Returns the path of a changed file by any of its names, or nil.
local function known_path(name)
  local full = vim.fn.fnamemodify(name, ':p')
  local real = vim.uv.fs_realpath(full)
  for _, path in ipairs(M.paths()) do
    if path == full or (real and vim.uv.fs_realpath(path) == real) then
      return path
    end
  end
end

--- Returns the items of the list: each prompt, and then its files.
local function items()
  local list = {}
  for _, change in ipairs(in_order()) do
    local key = key_of(change)
    list[#list + 1] = { text = words.title(change), valid = 0, user_data = { key = key } }
    for _, changed in ipairs(change.files) do
      local data = { key = key, path = changed.path }
      list[#list + 1] = { filename = changed.path, lnum = 1, text = words.of_file(changed), user_data = data }
    end
  end
  return list
end

--- Returns the prompt and the path of an item of the list. A prompt's own item has no path.
local function prompt_of(item)
  local data = item and item.user_data
  if type(data) == 'table' and prompts[data.key] then
    return prompts[data.key], data.path
  end
end

--- Returns the same of the item that the user is on.
local function listed()
  return prompt_of(quickfix.current(LIST))
end

--- Returns the latest prompt that has changed a file.
local function latest(path)
  for _, change in ipairs(in_order()) do
    if file_of(change, path) then
      return change
    end
  end
end

--- Returns the prompt that the user means: the one of the list's item or of the comparison, or else the latest one.
local function find_prompt()
  local key = compare.current() or hunks.current()
  return listed() or prompts[key] or in_order()[1], NONE
end

--- Returns the file that the user means and its prompt: the one with that name, that of the list's item or of the
--- comparison, or else the current one in its latest prompt. Otherwise returns nil and the reason.
local function find_file(name)
  local change, path = listed()
  if not name and path then
    return change, path
  elseif not name and change then
    return nil, 'this line is a prompt; go to a file'
  end
  local key, compared = compare.current()
  if not key then
    key, compared = hunks.current()
  end
  if not name and compared and prompts[key] and file_of(prompts[key], compared) then
    return prompts[key], compared
  end
  name = name or api.nvim_buf_get_name(0)
  path = name ~= '' and known_path(name)
  if path then
    return latest(path), path
  end
  return nil, next(prompts) and NOT_LISTED:format(name ~= '' and file.short(name) or 'this buffer') or NONE
end

--- Returns the prompt and the files that an argument means: `prompt`, a path, or nil. Otherwise returns nil and the
--- reason.
---@param argument? string
---@return GeminiCompanion.CliChanged?
---@return GeminiCompanion.ChangedFile[]|string
local function find(argument)
  if argument == 'prompt' then
    local change, why = find_prompt()
    return change, change and change.files or why
  end
  local change, path = find_file(argument)
  return change, change and { file_of(change, path) } or path
end

--- Reports files that are reverted, or whose revert is undone.
local function report(change, paths, is_reverted, hunk)
  for _, path in ipairs(paths) do
    local changed = file_of(change, path)
    if changed and not hunk then
      changed.reverted = is_reverted
    end
  end
  count = nil
  local method = is_reverted and 'cli/reverted' or 'cli/revertUndone'
  server.notify(method, { session = change.session, prompt = change.prompt, paths = paths, hunk = hunk })
end

--- Reports it if the user undoes the revert of a file, or makes it again. `hunk` is the state of a single change.
---@param key string
---@param reverted GeminiCompanion.Reverted
---@param hunk? GeminiCompanion.RevertedHunk
local function watch_undo(key, reverted, hunk)
  local path, before, after = reverted.path, reverted.before, reverted.after
  if not before then
    return
  end
  local function watch(buffer)
    undone.watch(buffer, before.lines, function()
      local current = prompts[key]
      local changed = current and file_of(current, path)
      if changed and hunk then
        return hunk.is_reverted
      end
      return changed and changed.reverted
    end, function(is_reverted)
      if hunk then
        hunk.is_reverted = is_reverted
      end
      report(prompts[key], { path }, is_reverted, hunk and hunk.hunk)
    end)
  end
  if after then
    undone.remember(path, { before = before, after = after, watch = watch })
    return
  end
  local buffer = file.buffer(path)
  if buffer then
    watch(buffer)
    undone.remember(path, { before = before, after = buffers.parsed(buffer), buffer = buffer, watch = watch })
  end
end

--- Reports files that have their text from before again.
local function report_reverted(change, paths)
  if #paths == 0 then
    return
  end
  report(change, paths, true)
  revert.notify(#paths == 1 and file.short(paths[1]) or ('%d files'):format(#paths))
end

--- Compares a file with its text from before a prompt, in a tab page. If the user reverts every change there, that is
--- a revert of the file.
local function open(change, changed)
  local params = { session = change.session, prompt = change.prompt, path = changed.path }
  local show = idle.after_command()
  server.request('cli/texts', params, function(kept)
    local comparison = {
      key = key_of(change),
      path = changed.path,
      content = kept.before,
      bars = words.bars(change, changed),
      on_equal = function(before)
        local current = prompts[key_of(change)]
        local now = current and file_of(current, changed.path)
        if now and not now.reverted then
          report_reverted(current, { changed.path })
          watch_undo(key_of(change), { path = changed.path, before = before })
        end
      end,
    }
    show(function()
      local ok, why = compare.show(comparison)
      if not ok then
        log.fail(why)
      end
    end)
  end, log.fail)
end

--- Reverts one change of a file, and only that.
local function revert_hunk(key, path, hunk)
  local change = prompts[key]
  if not change then
    return log.fail(NONE)
  end
  revert.run(change, { path }, hunk, function(reverted)
    for _, one in ipairs(reverted) do
      local state = { hunk = hunk, reverted = one, is_reverted = true }
      local list = reverted_hunks[key] or {}
      reverted_hunks[key] = list
      list[#list + 1] = state
      report(change, { path }, true, hunk)
      watch_undo(key, one, state)
      revert.notify('a change in ' .. file.short(path))
    end
  end)
end

--- Undoes the last revert of a single change, if the user has not undone it in the file.
local function undo_hunk(key)
  local list = reverted_hunks[key] or {}
  while #list > 0 and not list[#list].is_reverted do
    table.remove(list)
  end
  local last, change = list[#list], prompts[key]
  if not last or not change then
    return log.fail('no revert is left to undo')
  end
  local ok, why = revert.undo(last.reverted)
  if not ok then
    -- The next undo is about the revert before.
    table.remove(list)
    return log.fail(('the revert in %s is not undone: %s'):format(file.short(last.reverted.path), why))
  end
  if last.is_reverted then
    last.is_reverted = false
    report(change, { last.reverted.path }, false, last.hunk)
  end
end

local function keep_hunk(key, path, hunk)
  local change = prompts[key]
  if change then
    local params = { session = change.session, prompt = change.prompt, paths = { path }, hunk = hunk }
    server.notify('cli/kept', params)
  end
end

--- Shows all changes of a prompt in one buffer.
local function show_hunks(change)
  local actions = { revert = revert_hunk, keep = keep_hunk, undo = undo_hunk }
  hunks.show(key_of(change), words.title(change), change, actions)
end

--- Compares a changed file with its text from before the prompt, in a tab page: the one with that name, or the one
--- that the user is in. `prompt` shows all changes of the prompt in one buffer. Returns whether that is possible,
--- and if not, the cause.
---@param name? string
---@return boolean
---@return string? why
function M.diff(name)
  if name == 'prompt' then
    local change, why = find_prompt()
    if change then
      show_hunks(change)
    end
    return change ~= nil, why
  end
  local change, path = find_file(name)
  if not change then
    return false, path
  end
  local changed = file_of(change, path)
  if not changed.revertible then
    return false, NOT_KEPT:format(file.short(path))
  end
  open(change, changed)
  return true
end

--- Goes to the file of an item in the quickfix list: to its comparison if the text from before is kept. Shows all
--- changes of a prompt's own item.
local function go_to(item)
  local change, path = prompt_of(item)
  if change and not path then
    show_hunks(change)
    return true
  end
  local changed = change and path and file_of(change, path)
  if changed and changed.revertible then
    open(change, changed)
    return true
  end
  return not path
end

--- Lists the changed files by prompt in the quickfix window. Enter goes to one.
---@return boolean
---@return string? why
function M.list()
  if not next(prompts) then
    return false, NONE
  end
  quickfix.show('Changes of the CLI', items(), LIST, go_to)
  return true
end

--- Reverts files to their text from before a prompt: `prompt` is all files of the prompt, a path is that file, and
--- nil the file that the user is in. Asks where the user would lose something. Returns whether that is possible, and if
--- not, the cause.
---@param what? string
---@return boolean
---@return string? why
function M.revert(what)
  local change, found = find(what)
  if not change then
    return false, found --[[@as string]]
  end
  local files = found --[[@as GeminiCompanion.ChangedFile[] ]]
  local kept = vim.tbl_filter(function(changed)
    return changed.revertible
  end, files)
  if #kept == 0 then
    return false, NOT_KEPT:format(#files == 1 and file.short(files[1].path) or 'these files')
  elseif #kept < #files then
    log.warn(('%d of %d files stay as they are: their text from before is not kept'):format(#files - #kept, #files))
  end
  local wanted = vim.tbl_map(function(changed)
    return changed.path
  end, kept)
  revert.run(change, wanted, nil, function(reverted)
    local paths = {}
    for index, one in ipairs(reverted) do
      paths[index] = one.path
      watch_undo(key_of(change), one)
    end
    report_reverted(change, paths)
  end)
  return true
end

--- Removes files from the list; see `revert` for `what`.
---@param what? string
---@return boolean
---@return string? why
function M.keep(what)
  local change, found = find(what)
  if not change then
    return false, found --[[@as string]]
  end
  local files = found --[[@as GeminiCompanion.ChangedFile[] ]]
  local paths = vim.tbl_map(function(changed)
    return changed.path
  end, files)
  server.notify('cli/kept', { session = change.session, prompt = change.prompt, paths = paths })
  return true
end

--- Returns the paths of the changed files, those of newer prompts first.
---@return string[]
function M.paths()
  local paths, has = {}, {}
  for _, change in ipairs(in_order()) do
    for _, changed in ipairs(change.files) do
      if not has[changed.path] then
        has[changed.path] = true
        paths[#paths + 1] = changed.path
      end
    end
  end
  return paths
end

--- Returns the number of changed files that are not reverted.
---@return integer
function M.count()
  if not count then
    local seen, number = {}, 0
    for _, change in ipairs(in_order()) do
      for _, changed in ipairs(change.files) do
        number = number + ((changed.reverted or seen[changed.path]) and 0 or 1)
        seen[changed.path] = true
      end
    end
    count = number
  end
  return count
end

--- Returns the prompts and their files, newest first.
---@return GeminiCompanion.CliChanged[]
function M.prompts()
  return vim.deepcopy(in_order())
end

--- Updates an open list, and runs the user's autocommands.
local function announce(change)
  count = nil
  guard.run_autocommands('GeminiCompanionChanged', change)
  guard.call('the list of changes', quickfix.update, LIST, items)
end

--- Takes a new state of a prompt.
local function update(params)
  local key = key_of(params)
  prompts[key] = #params.files > 0 and params or nil
  reverted_hunks[key] = prompts[key] and reverted_hunks[key]
  guard.call('the changes of a prompt', hunks.update, key, words.title(params), params)
  announce(params)
end

--- Handles `cli/changed`. A command that the user is typing is about the changes that the user knows.
---@param params GeminiCompanion.CliChanged
function M.on_changed(params)
  reload.refresh_soon()
  arrived[key_of(params)] = params
  idle.when_idle(function()
    for key, newest in vim.spairs(arrived) do
      arrived[key] = nil
      update(newest)
    end
  end)
end

--- Handles `cli/command`.
---@param params GeminiCompanion.CliCommand
function M.on_command(params)
  if not params.running then
    reload.refresh_soon()
  end
end

--- Empties the list after the companion has ended, which kept the texts.
function M.stop()
  arrived = {}
  undone.stop()
  reverted_hunks = {}
  for _, change in pairs(prompts) do
    change.files = {}
    update(change)
  end
end

return M
