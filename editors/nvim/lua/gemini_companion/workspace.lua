-- Finds and reports the folders of the workspace. A CLI in one of them connects to this Neovim.

local config = require('gemini_companion.config')
local file = require('gemini_companion.file')
local log = require('gemini_companion.log')
local server = require('gemini_companion.server')

local M = {}

--- How soon after the user has entered a file a change of the directory is one of a plugin, in ms.
local FOLLOWS_WITHIN_MS = 100

--- Separators at the end of a path that is not a root.
local TRAILING = vim.fn.has('win32') == 1 and '([^:])[/\\]+$' or '(.)/+$'

--- The folders that the companion knows.
local reported
--- The last problem with the option that the user has seen.
local warned
--- The working directories that the user has chosen, and the one for all windows among them. The option 'autochdir' and
--- plugins that go to the root of each file change directories as well; the workspace does not follow these.
local chosen, main

--- Returns the directories of all windows, as `:cd`, `:tcd`, `:lcd` and plugins have set them.
local function window_directories()
  local list = {}
  for tab = 1, vim.fn.tabpagenr('$') do
    for window = 1, vim.fn.tabpagewinnr(tab, '$') do
      list[#list + 1] = vim.fn.getcwd(window, tab)
    end
  end
  return list
end

--- Returns the directories of all windows, as far as the user has chosen them.
local function chosen_directories()
  local directories = window_directories()
  if not chosen then
    return directories
  end
  return vim.tbl_map(function(directory)
    return chosen[directory] and directory or main
  end, directories)
end

--- Sets the directory where the user has opened Neovim. If `is_late`, the user may have chosen others since.
---@param directory string
---@param is_late boolean
function M.opened_in(directory, is_late)
  if chosen then
    return
  end
  chosen, main = { [directory] = true }, directory
  for _, other in ipairs(is_late and not vim.o.autochdir and window_directories() or {}) do
    chosen[other] = true
  end
end

--- Returns whether a plugin or an option has changed the directory: within an autocommand, or by a callback of one.
local function is_automatic(event, entered_ms_ago)
  local _, autocommands = vim.fn.expand('<stack>'):gsub(' Autocommands for ', '')
  local path = vim.api.nvim_buf_get_name(0)
  return event.match == 'auto'
    or autocommands > 1
    or (entered_ms_ago <= FOLLOWS_WITHIN_MS and path ~= '' and file.is_inside(path, vim.fn.getcwd()))
end

--- Notices in an autocommand for `DirChanged` that the user has chosen another directory.
---@param event table
---@param entered_ms_ago integer the time since the user has entered a buffer
function M.directory_changed(event, entered_ms_ago)
  if not chosen or vim.v.event.changed_window or is_automatic(event, entered_ms_ago) then
    return
  end
  local directory = vim.fn.getcwd()
  chosen[directory] = true
  if vim.v.event.scope == 'global' then
    main = directory
    -- The user may have left the others for good.
    local in_use = {}
    for _, used in ipairs(chosen_directories()) do
      in_use[used] = true
    end
    chosen = in_use
  end
end

--- Returns the folders of the user's option, or nil if it says none. A problem means no folder: the user may want to
--- share only those of the option.
local function configured()
  local wanted = config.options.workspace
  if type(wanted) ~= 'function' then
    return wanted
  end
  local ok, result = pcall(wanted)
  local problem
  if not ok then
    problem = 'the function in option workspace failed: ' .. require('gemini_companion.guard').reason(result)
  elseif result ~= nil and not config.is_list_of_texts(result) then
    problem = ('the function in option workspace must return a list of folders, not %s'):format(vim.inspect(result))
  end
  if problem and problem ~= warned then
    log.warn(problem)
  end
  warned = problem
  return not problem and result or (problem and {}) or nil
end

--- Returns the absolute folders, sorted. A folder inside another one is left out. The CLI lets its model read each of
--- these folders.
function M.folders()
  local existing = {}
  for _, folder in ipairs(configured() or chosen_directories()) do
    local path = vim.fn.fnamemodify(folder, ':p'):gsub(TRAILING, '%1')
    if vim.fn.isdirectory(path) == 1 then
      existing[path] = true
    end
  end
  local folders = vim.tbl_filter(function(path)
    for other in pairs(existing) do
      if other ~= path and file.is_inside(path, other) then
        return false
      end
    end
    return true
  end, vim.tbl_keys(existing))
  table.sort(folders)
  return folders
end

--- Returns the folders for a companion that starts.
function M.begin()
  reported = M.folders()
  return reported
end

--- Reports the folders if they have changed, and returns those that the companion knows. A workspace without folders is
--- not reported.
function M.report()
  local now = M.folders()
  if #now > 0 and not vim.deep_equal(now, reported) and server.notify('workspace/folders', { paths = now }) then
    reported = now
    server.update_environment()
  end
  return reported
end

return M
