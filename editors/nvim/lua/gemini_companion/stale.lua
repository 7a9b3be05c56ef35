-- Warns before the user accepts a proposal for a changed file.

local file = require('gemini_companion.file')
local log = require('gemini_companion.log')

local M = {}

--- Returns whether a client that accepts would overwrite a text that it has not seen: a change of the file, or unsaved
--- changes in its buffer.
---@param proposal GeminiCompanion.Proposal
function M.is_unseen(proposal)
  local buffer = file.buffer(proposal.path)
  return (file.read(proposal.path) or false) ~= proposal.base or (buffer ~= nil and vim.bo[buffer].modified)
end

--- Warns the user and returns true if the CLI may overwrite changes in the file. It overwrites them with a text that
--- the user has edited, and with an unchanged text if its tool writes whole files. Editors do not know the tool.
--- `insists` is true if the user accepts anyway. If it is nil, a second acceptance counts as such.
---@param proposal GeminiCompanion.Proposal
---@param insists? boolean
function M.warn_if_stale(proposal, insists)
  local now = file.read(proposal.path) or false
  if insists == nil then
    insists = proposal.warned == now
  end
  if insists or now == proposal.base then
    return false
  end
  proposal.warned = now
  proposal.view:show_file()
  -- The CLI would search for the place of its edit again, and may find it inside the edited text.
  local words = now == proposal.content
      and proposal.replays_edits
      and 'the file already has this text, :w! may repeat the edit'
    or 'the file changed after the proposal, :w! accepts it'
  -- Later: the user's mapping may write by `:silent!`.
  vim.schedule_wrap(log.warn)(('%s: %s'):format(words, file.short(proposal.path)))
  return true
end

return M
