-- Warns before a proposal is accepted whose file has changed since it came.

local file = require('gemini_companion.file')
local log = require('gemini_companion.log')

local M = {}

--- What a file has now: its bytes, or false if there is none.
---@param path string
---@return string|false
function M.bytes(path)
  return file.read(path) or false
end

--- Warns the user, and returns true, if the CLI may overwrite what has changed in the file: with a text that the
--- user has edited always, with an unchanged one if its tool writes whole files. No editor knows the tool.
--- `insists` says whether the user accepts all the same; if nil, accepting again does.
---@param proposal GeminiCompanion.Proposal
---@param insists? boolean
---@return boolean
function M.waits(proposal, insists)
  local now = M.bytes(proposal.path)
  if insists == nil then
    insists = proposal.warned == now
  end
  if insists or now == proposal.base then
    return false
  end
  proposal.warned = now
  proposal.view:show_file()
  -- Otherwise `:wq` would close it next, which is to reject it.
  vim.bo[proposal.view.right].modified = true
  -- The CLI would look for the place of its edit again, and can find it in what the edit has put there.
  local words = now == proposal.content
      and proposal.replays_edits
      and 'has this text already, :w! can make the edit twice'
    or 'changed since it came, :w! accepts it'
  log.warn(('%s: %s'):format(words, vim.fn.fnamemodify(proposal.path, ':~:.')))
  return true
end

return M
