-- Applies the line endings and BOM of a file to its proposal, and collects remarks for the user.

local file = require('gemini_companion.file')
local text = require('gemini_companion.text')

local M = {}

--- Returns the proposal with the line endings and BOM of its file, which the CLI omits, and the remarks about them.
---@param path string
---@param content string
---@return GeminiCompanion.Text
---@return string[] remarks
function M.of(path, content)
  local bytes, why = file.read(path)
  if why then
    error(why, 0)
  end
  local old = bytes and text.parse(bytes)
  local new = text.parse(content, old and old.dos or nil)
  local remarks = {}
  if old and old.bomb then
    new.bomb = true
  elseif old and new.bomb then
    remarks[#remarks + 1] = 'adds a byte order mark'
  end
  if old and #old.lines > 1 and new.dos ~= old.dos then
    remarks[#remarks + 1] = 'changes all line endings to \\r\\n'
  end
  return new, remarks
end

--- Joins the remarks for the notification about a new proposal.
---@param proposal GeminiCompanion.Proposal
---@param remarks string[]
---@return string
function M.join_remarks(proposal, remarks)
  local buffer = file.buffer(proposal.path)
  if buffer and vim.bo[buffer].modified then
    remarks[#remarks + 1] = 'ignores the unsaved changes in its buffer'
  end
  local ending = #remarks > 0 and ('; it ' .. table.concat(remarks, ', ')) or ''
  if not proposal.view.takes_focus then
    ending = ending .. '; :GeminiCompanion show'
  end
  return ending
end

return M
