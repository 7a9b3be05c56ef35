-- Applies the line endings and BOM of a file to its proposal, and collects remarks for the user.

local file = require('gemini_companion.file')
local text = require('gemini_companion.text')

local M = {}

--- Returns remarks about the changes of form, which a diff does not show.
---@param old GeminiCompanion.Text
---@param new GeminiCompanion.Text
---@return string[]
local function changes_of_form(old, new)
  local remarks = {}
  if new.bomb and not old.bomb then
    remarks[#remarks + 1] = 'adds a byte order mark'
  end
  if #old.lines > 1 and new.dos ~= old.dos then
    remarks[#remarks + 1] = 'changes all line endings to \\r\\n'
  end
  if old.eol ~= new.eol and not old.empty and not new.empty then
    local remark = new.eol and 'adds a line ending to the last line' or 'removes the line ending of the last line'
    remarks[#remarks + 1] = remark
  end
  return remarks
end

--- Returns the proposal with the line endings and BOM of its file, which the CLI omits, and the remarks about them.
---@param path string
---@param content string
---@return GeminiCompanion.Text, string[] remarks
function M.of(path, content)
  local bytes, why = file.read(path)
  if why then
    error(why, 0)
  end
  local old = bytes and text.parse(bytes)
  local new = text.parse(content, old and old.dos or nil)
  new.bomb = new.bomb or (old ~= nil and old.bomb)
  -- In another encoding, these bytes are no line endings.
  local is_utf8 = bytes ~= nil and text.utf8(bytes) == bytes
  return new, is_utf8 and changes_of_form(old, new) or {}
end

--- Joins the remarks for the notification about a new proposal.
---@param proposal GeminiCompanion.Proposal
---@param remarks string[]
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
