-- Gives a proposal the form of its file, and finds its remarks for the user.

local file = require('gemini_companion.file')
local text = require('gemini_companion.text')

local M = {}

--- The proposal in the form of the file: a file with `\r\n` or a BOM keeps them, though the CLI
--- leaves them out of what it proposes. With the words about that.
---@param path string
---@param content string
---@return GeminiCompanion.Text
---@return string[] words
function M.of(path, content)
  local bytes, why = file.read(path)
  if why then
    error(why, 0)
  end
  local old = bytes and text.parse(bytes)
  local new = text.parse(content, old and old.dos or nil)
  local words = {}
  if old and old.bomb then
    new.bomb = true
  elseif old and new.bomb then
    words[#words + 1] = 'adds a byte order mark'
  end
  if old and #old.lines > 1 and new.dos ~= old.dos then
    words[#words + 1] = 'changes all line ends to \\r\\n'
  end
  return new, words
end

--- What the user is told of a proposal when it comes.
---@param proposal GeminiCompanion.Proposal
---@param words string[]
---@return string
function M.remarks(proposal, words)
  local buffer = file.buffer(proposal.path)
  if buffer and vim.bo[buffer].modified then
    words[#words + 1] = 'does not know the unsaved changes in its buffer'
  end
  local more = #words > 0 and ('; it ' .. table.concat(words, ', ')) or ''
  if not proposal.view.takes_focus then
    more = more .. '; :GeminiCompanion show'
  end
  return more
end

return M
