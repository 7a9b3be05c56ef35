-- Words about the changes of a CLI, for lists and bars.

local file = require('gemini_companion.file')
local log = require('gemini_companion.log')

local M = {}

--- The longest title in a bar, in characters. Neovim would cut the beginning of a bar that is too long.
local MAX_BAR_TITLE = 40

local KINDS = { created = 'new', deleted = 'deleted' }

--- Returns the words for a prompt in a list or in a bar.
---@param change GeminiCompanion.CliChanged
---@return string
function M.title(change)
  local title = change.title ~= '' and change.title or ('prompt %d'):format(change.prompt)
  return ('%s %s'):format(os.date('%H:%M', math.floor(change.time / 1000)), log.printable(title))
end

--- Returns the words for a file in a list.
---@param changed GeminiCompanion.ChangedFile
---@return string
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

--- Returns the bar above the file in a comparison.
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
---@return string[]
function M.bars(change, changed)
  local before = changed.kind == 'created' and 'No file before: %s' or 'Before: %s'
  local title = M.title(change)
  if vim.fn.strchars(title) > MAX_BAR_TITLE then
    title = vim.fn.strcharpart(title, 0, MAX_BAR_TITLE - 1) .. '…'
  end
  return { before:format(title), now_bar(changed.path) }
end

return M
