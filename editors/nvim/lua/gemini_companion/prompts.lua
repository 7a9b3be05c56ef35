-- Keeps the prompts of CLIs with the files that each has changed, and words them for lists and bars.

local file = require('gemini_companion.file')
local log = require('gemini_companion.log')

local M = {}

--- The message if there is no prompt.
M.NONE = 'the list of changes is empty'

--- The longest title in a bar, in characters. Neovim would cut the beginning of a bar that is too long.
local MAX_BAR_TITLE = 40

local KINDS = { created = 'new', deleted = 'deleted' }

--- The prompts by their keys.
---@type table<string, GeminiCompanion.CliChanged>
local prompts = {}

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
end

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

--- Returns the number of changed files that are not reverted.
function M.count()
  local seen, number = {}, 0
  for _, change in ipairs(M.all()) do
    for _, changed in ipairs(change.files) do
      number = number + ((changed.reverted or seen[changed.path]) and 0 or 1)
      seen[changed.path] = true
    end
  end
  return number
end

--- Returns the words for a prompt in a list or in a bar.
---@param change GeminiCompanion.CliChanged
function M.title(change)
  local title = change.title ~= '' and change.title or ('prompt %d'):format(change.prompt)
  return ('%s %s'):format(os.date('%H:%M', math.floor(change.time / 1000)), log.printable(title))
end

--- Returns the words for a file in a list.
---@param changed GeminiCompanion.ChangedFile
function M.of_file(changed)
  local words = {}
  if changed.private then
    words[1] = 'private'
  elseif changed.added and changed.removed then
    words[1] = ('+%d −%d'):format(changed.added, changed.removed)
  end
  words[#words + 1] = KINDS[changed.kind]
  if changed.reverted then
    words[#words + 1] = 'reverted'
  elseif not changed.revertible and not changed.private then
    words[#words + 1] = "can't be reverted"
  end
  return table.concat(words, ', ')
end

local function now_bar(path)
  if vim.uv.fs_stat(path) then
    return 'Now (do reverts a change, :w saves)'
  elseif file.buffer(path) then
    return 'Now deleted (:w writes this text again)'
  end
  return 'Now deleted (do and :w bring it back)'
end

--- Returns the bars of a comparison.
---@param change GeminiCompanion.CliChanged
---@param changed GeminiCompanion.ChangedFile
function M.bars(change, changed)
  local before = changed.kind == 'created' and 'No file before: %s' or 'Before: %s'
  local title = M.title(change)
  if vim.fn.strchars(title) > MAX_BAR_TITLE then
    title = vim.fn.strcharpart(title, 0, MAX_BAR_TITLE - 1) .. '…'
  end
  return { before:format(title), now_bar(changed.path) }
end

return M
