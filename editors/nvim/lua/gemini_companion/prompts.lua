-- Keeps the prompts of CLIs with the files that each has changed.

local file = require('gemini_companion.file')

local M = {}

--- The message if there is no prompt.
M.NONE = 'the list of changes is empty'

--- The prompts by their keys.
---@type table<string, GeminiCompanion.CliChanged>
local prompts = {}
--- The number of changed files, until it changes.
---@type integer?
local count

--- Returns the key of a prompt.
---@param change GeminiCompanion.CliChanged
function M.key(change)
  return ('%s %d'):format(change.session, change.prompt)
end

--- Returns the newest state of a prompt, or nil if it has left the list.
---@param key? string
---@return GeminiCompanion.CliChanged?
function M.get(key)
  return prompts[key]
end

--- Sets the newest state of a prompt. One without files leaves the list.
---@param change GeminiCompanion.CliChanged
function M.set(change)
  prompts[M.key(change)] = #change.files > 0 and change or nil
  count = nil
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
function M.all()
  local list = vim.tbl_values(prompts)
  table.sort(list, is_later)
  return list
end

--- Returns the file of a prompt with that path, or nil.
---@param change GeminiCompanion.CliChanged
---@param path string
---@return GeminiCompanion.ChangedFile?
function M.file(change, path)
  for _, changed in ipairs(change.files) do
    if changed.path == path then
      return changed
    end
  end
end

--- Returns the latest prompt that has changed a file.
---@param path string
---@return GeminiCompanion.CliChanged?
function M.latest(path)
  for _, change in ipairs(M.all()) do
    if M.file(change, path) then
      return change
    end
  end
end

--- Returns the paths of the changed files, those of newer prompts first.
function M.paths()
  local paths, has = {}, {}
  for _, change in ipairs(M.all()) do
    for _, changed in ipairs(change.files) do
      if not has[changed.path] then
        has[changed.path] = true
        paths[#paths + 1] = changed.path
      end
    end
  end
  return paths
end

--- Returns the path of a changed file by any of its names, or nil.
---@param name string
function M.path(name)
  local real = file.real(vim.fn.fnamemodify(name, ':p'))
  for _, path in ipairs(M.paths()) do
    if file.real(path) == real then
      return path
    end
  end
end

--- Sets whether files of a prompt are reverted.
---@param change GeminiCompanion.CliChanged
---@param paths string[]
---@param is_reverted boolean
function M.set_reverted(change, paths, is_reverted)
  for _, path in ipairs(paths) do
    local changed = M.file(change, path)
    if changed then
      changed.reverted = is_reverted
    end
  end
  count = nil
end

--- Returns the number of changed files that are not reverted.
---@return integer
function M.count()
  if not count then
    local seen, number = {}, 0
    for _, change in ipairs(M.all()) do
      for _, changed in ipairs(change.files) do
        number = number + ((changed.reverted or seen[changed.path]) and 0 or 1)
        seen[changed.path] = true
      end
    end
    count = number
  end
  return count
end

return M
