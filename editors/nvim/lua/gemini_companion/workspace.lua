-- Finds and reports the folders of the workspace. A CLI in one of them connects to this Neovim.

local config = require('gemini_companion.config')

local M = {}

--- The folders that the companion knows.
local reported

--- Returns the directories of all windows, as `:cd`, `:tcd` and `:lcd` have set them.
local function window_directories()
  local list = {}
  for tab = 1, vim.fn.tabpagenr('$') do
    for window = 1, vim.fn.tabpagewinnr(tab, '$') do
      list[#list + 1] = vim.fn.getcwd(window, tab)
    end
  end
  return list
end

local IS_WINDOWS = vim.fn.has('win32') == 1
--- Separators at the end of a path that is not a root.
local TRAILING = IS_WINDOWS and '([^:])[/\\]+$' or '(.)/+$'

local function is_inside(path, folder)
  local options = { expand_env = false, win = IS_WINDOWS }
  path, folder = vim.fs.normalize(path, options), vim.fs.normalize(folder, options)
  return vim.startswith(path, folder:sub(-1) == '/' and folder or folder .. '/')
end

--- Returns the absolute folders, sorted. A folder inside another one is left out. The CLI lets its model read each of
--- these folders.
---@return string[]
function M.folders()
  local wanted = config.options.workspace
  if type(wanted) == 'function' then
    wanted = wanted()
  end
  local existing = {}
  for _, folder in ipairs(wanted or window_directories()) do
    local path = vim.fn.fnamemodify(folder, ':p'):gsub(TRAILING, '%1')
    if vim.fn.isdirectory(path) == 1 then
      existing[path] = true
    end
  end
  local folders = vim.tbl_filter(function(path)
    for other in pairs(existing) do
      if other ~= path and is_inside(path, other) then
        return false
      end
    end
    return true
  end, vim.tbl_keys(existing))
  table.sort(folders)
  return folders
end

--- Returns the folders for a companion that starts.
---@return string[]
function M.begin()
  reported = M.folders()
  return reported
end

--- Reports the folders by `notify` if they have changed. A workspace without folders is not reported.
---@param notify GeminiCompanion.Notify
function M.report(notify)
  local now = M.folders()
  if #now > 0 and not vim.deep_equal(now, reported) and notify('workspace/folders', { paths = now }) then
    reported = now
  end
end

return M
