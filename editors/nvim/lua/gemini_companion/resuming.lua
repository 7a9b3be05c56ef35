-- Names the proposals that still show to the next companion, which takes them up.
-- Until then they are paused: no companion takes a decision.

local bars = require('gemini_companion.bars')
local config = require('gemini_companion.config')
local diff = require('gemini_companion.diff')
local proposals = require('gemini_companion.proposals')
local reasons = require('gemini_companion.reason')
local server = require('gemini_companion.server')

local M = {}

--- Pauses the proposals after their companion has ended: the next one may take them up. Abandons those that had ended
--- before, unless they have the user's changes.
function M.pause()
  for _, proposal in ipairs(proposals.all()) do
    if proposal.orphan then
      diff.abandon(proposal)
    else
      proposal.is_paused = true
    end
  end
  bars.update()
end

--- Abandons the paused proposals. Those with the user's changes stay open.
function M.stop()
  for _, proposal in ipairs(proposals.all()) do
    if proposal.is_paused then
      diff.abandon(proposal)
    end
  end
end

--- Names the paused proposals to the companion, and abandons those that have ended.
function M.name()
  local paused, shown = {}, {}
  for _, proposal in ipairs(proposals.all()) do
    if proposal.is_paused then
      paused[proposal.diff] = proposal
      shown[#shown + 1] = { diff = proposal.diff, newContent = proposal.new_content }
    end
  end
  server.request('diff/resume', { proposals = shown }, function(result)
    for _, fields in ipairs(result.proposals or {}) do
      local proposal = paused[fields.diff]
      -- A newer one may have replaced it.
      if proposal and proposal.is_paused then
        proposal.is_paused, proposal.cli, proposal.reason = nil, fields.cli, fields.reason
        proposal.was_shared = config.options.share_context
        proposal.takes_reason = reasons.arrival(proposal) ~= nil
      end
    end
    M.stop()
    bars.update()
  end, function()
    -- If this companion has ended, too, the proposals wait for the next one.
    if server.status() then
      M.stop()
    end
  end)
end

return M
