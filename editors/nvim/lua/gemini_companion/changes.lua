-- Lists the files that CLIs have changed, by prompt. Finds the one that the user means, to compare, revert or keep it.

local compare = require('gemini_companion.compare')
local file = require('gemini_companion.file')
local guard = require('gemini_companion.guard')
local hunks = require('gemini_companion.hunks')
local idle = require('gemini_companion.idle')
local log = require('gemini_companion.log')
local prompts = require('gemini_companion.prompts')
local quickfix = require('gemini_companion.quickfix')
local reload = require('gemini_companion.reload')
local reverts = require('gemini_companion.reverts')

local M = {}

local LIST = 'gemini_companion_changes'
local NOT_LISTED = '%s is not in the list of changes'
local NOT_KEPT = 'the text of %s from before the prompt is not kept'

--- The newest states of prompts, by their keys, that wait until the user has typed a command.
---@type table<string, GeminiCompanion.CliChanged>
local arrived = {}

local function items()
  local list = {}
  for _, change in ipairs(prompts.all()) do
    local key = prompts.key(change)
    list[#list + 1] = { text = prompts.title(change), valid = 0, user_data = { key = key } }
    for _, changed in ipairs(change.files) do
      local data = { key = key, path = changed.path }
      list[#list + 1] = { filename = changed.path, lnum = 1, text = prompts.of_file(changed), user_data = data }
    end
  end
  return list
end

--- Returns the prompt and the path of an item of the list. A prompt's own item has no path.
local function prompt_of(item)
  local data = item.user_data
  -- The user may have added an item.
  local change = type(data) == 'table' and prompts.get(data.key) or nil
  return change, change and data.path
end

--- Returns the prompt and the path where the user is: in the list, in a comparison or among all changes of a prompt.
--- Also returns whether that is the list.
local function here()
  local item = quickfix.current(LIST)
  local change, path
  if item then
    change, path = prompt_of(item)
  end
  if change then
    return change, path, true
  end
  local key
  key, path = compare.current()
  if not key then
    key, path = hunks.current()
  end
  change = key and prompts.get(key)
  return change, change and path, false
end

--- Returns the prompt that the user means: the one where the user is, or else the latest one.
local function find_prompt()
  return here() or prompts.all()[1], prompts.NONE
end

--- Returns the file that the user means and its prompt: the one with that name, or in its latest prompt the current
--- buffer, unless the user is at another one. Otherwise returns nil and the reason.
local function find_file(name)
  local change, path, is_list = here()
  if not name and change and path and prompts.file(change, path) then
    return change, path
  elseif not name and is_list then
    return nil, path and NOT_LISTED:format(file.short(path)) or 'this line is a prompt; go to a file'
  end
  name = name or vim.api.nvim_buf_get_name(0)
  path = name ~= '' and prompts.path(name) or nil
  if path then
    return prompts.latest(path), path
  end
  return nil, #prompts.all() > 0 and NOT_LISTED:format(name ~= '' and file.short(name) or 'this buffer') or prompts.NONE
end

--- Returns the prompt and the paths that an argument means: `prompt`, a path, or nil. Otherwise returns nil and the
--- reason.
---@param argument? string
---@return GeminiCompanion.CliChanged?, string[], string? why
local function find(argument)
  if argument ~= 'prompt' then
    local change, found = find_file(argument)
    return change, { found }, found
  end
  local change, why = find_prompt()
  local paths = vim.tbl_map(function(changed)
    return changed.path
  end, change and change.files or {})
  return change, paths, why
end

--- Compares a file with its text from before a prompt, in a tab page. If the user reverts every change there, that is
--- a revert of the file.
local function open(change, changed)
  local key, path = prompts.key(change), changed.path
  compare.open(change, path, function(kept)
    return {
      key = key,
      path = path,
      content = kept.before,
      bars = prompts.bars(change, changed),
      on_equal = function(before, number)
        reverts.on_reverted(key, path, before, number)
      end,
    }
  end)
end

--- Compares the file with that name, or the one that the user is in. `prompt` shows all changes of the prompt in one
--- buffer. Returns whether that is possible, and if not, the cause.
---@param name? string
function M.diff(name)
  if name == 'prompt' then
    local change, why = find_prompt()
    if change then
      hunks.show(change)
    end
    return change ~= nil, why
  end
  local change, path = find_file(name)
  if not change then
    return false, path
  end
  local changed = prompts.file(change, path)
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
    hunks.show(change)
    return true
  end
  local changed = change and path and prompts.file(change, path)
  if changed and changed.revertible then
    open(change, changed)
    return true
  end
  return not path
end

--- Lists the changed files by prompt in the quickfix window. Enter goes to one.
function M.list()
  local list = items()
  if #list == 0 then
    return false, prompts.NONE
  end
  quickfix.show('Changes of the CLI', list, LIST, go_to)
  return true
end

--- Reverts files: `prompt` is all files of the prompt, a path is that file, and nil the file that the user is in. Asks
--- where the user would lose something. Returns whether that is possible, and if not, the cause.
---@param what? string
function M.revert(what)
  local change, paths, why = find(what)
  if not change then
    return false, why
  end
  local kept = vim.tbl_filter(function(path)
    return prompts.file(change, path).revertible
  end, paths)
  if #kept == 0 then
    return false, NOT_KEPT:format(#paths == 1 and file.short(paths[1]) or 'these files')
  elseif #kept < #paths then
    log.warn(('%d of %d files stay as they are: their text from before is not kept'):format(#paths - #kept, #paths))
  end
  reverts.revert(change, kept)
  return true
end

--- Removes files from the list; see `revert` for `what`.
---@param what? string
function M.keep(what)
  local change, paths, why = find(what)
  if not change then
    return false, why
  end
  reverts.keep(change, paths)
  return true
end

--- Takes a new state of a prompt: updates an open list, and runs the user's autocommands.
local function update(change)
  local key = prompts.key(change)
  prompts.set(change)
  if not prompts.get(key) then
    reverts.forget(key)
  end
  guard.call('the changes of a prompt', hunks.update, change)
  guard.run_autocommands('GeminiCompanionChanged', change)
  guard.call('the list of changes', quickfix.update, LIST, items)
end

--- Handles `cli/changed`. A command that the user is typing is about the changes that the user knows.
---@param params GeminiCompanion.CliChanged
function M.on_changed(params)
  reload.refresh_soon()
  arrived[prompts.key(params)] = params
  idle.when_idle(function()
    for key, newest in vim.spairs(arrived) do
      arrived[key] = nil
      update(newest)
    end
  end)
end

--- Handles `cli/command`.
function M.on_command(params)
  if not params.running then
    reload.refresh_soon()
  end
end

--- Empties the list after the companion has ended, which kept the texts.
function M.stop()
  arrived = {}
  reverts.stop()
  for _, change in ipairs(prompts.all()) do
    change.files = {}
    update(change)
  end
end

return M
