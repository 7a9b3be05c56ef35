-- Shows in each open proposal its place among the others, and its CLI.

local M = {}

--- Which CLI a proposal is from, if those of several are among `proposals`.
---@param proposal GeminiCompanion.Proposal
---@param proposals table<any, GeminiCompanion.Proposal>
---@return string?
function M.cli(proposal, proposals)
  for _, other in pairs(proposals) do
    if other.cli ~= proposal.cli then
      return ('CLI %d'):format(proposal.cli)
    end
  end
end

--- Has each say which of them it is, and from whom; or that nobody waits for it. `proposals` are in the
--- order in which they came.
---@param proposals GeminiCompanion.Proposal[]
function M.say(proposals)
  local waiting = {}
  for _, proposal in ipairs(proposals) do
    if proposal.orphan then
      proposal.view:say_orphan()
    else
      waiting[#waiting + 1] = proposal
    end
  end
  for index, proposal in ipairs(waiting) do
    proposal.view:say(index, #waiting, M.cli(proposal, proposals))
  end
end

return M
