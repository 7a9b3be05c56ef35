-- Updates the bar of each open proposal: its position among the others, and its CLI.

local M = {}

--- Returns the name of a proposal's CLI if `proposals` come from several CLIs.
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

--- Updates the bars of all proposals. Those without a waiting CLI are not counted.
---@param proposals GeminiCompanion.Proposal[] oldest first
function M.update(proposals)
  local waiting = {}
  for _, proposal in ipairs(proposals) do
    if proposal.orphan then
      proposal.view:show_orphan_label()
    else
      waiting[#waiting + 1] = proposal
    end
  end
  for index, proposal in ipairs(waiting) do
    proposal.view:show_labels(index, #waiting, M.cli(proposal, proposals))
  end
end

return M
