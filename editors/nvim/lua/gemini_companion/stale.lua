-- Owns the word before a proposal is accepted whose file is not as it was when it came.

local file = require('gemini_companion.file')
local log = require('gemini_companion.log')

local M = {}

--- What a file has now: its bytes, or false if there is none.
function M.bytes(path)
  return file.read(path) or false
end

--- Whether one of `diff`'s proposals waits for another word of the user, who is told so: Gemini CLI writes the
--- whole file as proposed. `insists` says whether that word was said; if nil, it is to be accepted again.
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
  log.warn(('changed since it came, :w! accepts it: %s'):format(vim.fn.fnamemodify(proposal.path, ':~:.')))
  return true
end

return M
