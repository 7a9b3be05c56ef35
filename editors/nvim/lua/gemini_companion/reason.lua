-- Decides when the model gets the reason of a rejection, asks the user for the reason, and says when it arrives.

local config = require('gemini_companion.config')
local file = require('gemini_companion.file')
local log = require('gemini_companion.log')
local proposals = require('gemini_companion.proposals')

local M = {}

--- The question, by when the model gets the answer.
local QUESTIONS = {
  now = 'Reason (%s gets it and goes on): ',
  nextPrompt = 'Reason (%s gets it with your next prompt): ',
}

--- The message after the rejection.
local MESSAGES = {
  now = '%s gets the reason and goes on: %s',
  nextPrompt = '%s gets the reason with your next prompt: %s',
}

--- The message if the model can't get a reason.
local NEVER = "the model can't get a reason: %s"

--- The reasons that rejected nothing, or that no model got, the oldest first. Each question offers one.
---@type string[]
local unsent = {}

M.NO_CLI = NEVER:format('no CLI waits for this proposal')

--- Returns the name of a proposal's CLI for the middle of a sentence.
local function cli_name(proposal)
  return proposals.cli_name(proposal) or 'the CLI'
end

--- Returns when the model would get the reason of a rejection: `now` or `nextPrompt`. If it can't get one, returns nil
--- and the cause.
---@param proposal GeminiCompanion.Proposal
---@return GeminiCompanion.ReasonArrival?, string? why
function M.arrival(proposal)
  if proposal.orphan then
    return nil, M.NO_CLI
  elseif not config.options.share_context then
    return nil, NEVER:format('sharing with CLIs is off')
  elseif proposal.private then
    return nil, NEVER:format('the file is private')
  elseif not proposal.was_shared then
    return nil, NEVER:format('sharing with CLIs was off when this proposal opened')
  elseif not QUESTIONS[proposal.reason] then
    return nil, NEVER:format('its CLI is not known (see gemini-companion doctor)')
  elseif (file.read(proposal.path) or false) ~= proposal.base then
    return 'nextPrompt'
  end
  return proposal.reason
end

--- Asks for the reason, and passes it to `act`. The question says when the model gets the reason. An empty answer does
--- nothing. Shows an error if the model can't get a reason.
---@param proposal GeminiCompanion.Proposal
---@param act fun(reason: string): boolean returns whether the model will get it
function M.ask(proposal, act)
  local arrival, why = M.arrival(proposal)
  if not arrival then
    log.fail(why)
    return
  end
  local question = {}
  proposal.question = question
  local offered = unsent[1]
  vim.ui.input({ prompt = QUESTIONS[arrival]:format(cli_name(proposal)), default = offered }, function(reason)
    if not reason then
      return
    end
    reason = vim.trim(reason)
    if unsent[1] == offered then
      table.remove(unsent, 1)
    end
    if reason == '' then
      return
    end
    -- The CLI may have ended or replaced the proposal while the user typed.
    if proposal.decided or proposal.question ~= question then
      table.insert(unsent, reason)
      log.fail('the proposal has ended, so nothing is rejected')
      return
    end
    if not act(reason) then
      table.insert(unsent, reason)
    end
  end)
end

--- Shows when the model gets the reason of a rejection.
---@param arrival GeminiCompanion.ReasonArrival
---@param proposal GeminiCompanion.Proposal
function M.confirm(arrival, proposal)
  log.notify(MESSAGES[arrival]:format(cli_name(proposal), file.short(proposal.path)))
end

--- Handles `diff/reasonLost`.
function M.on_lost(params)
  local name = file.short(params.filePath)
  table.insert(unsent, params.reason)
  log.warn(('the CLI does not get your reason for %s: %s; a later question offers it'):format(name, params.why))
end

return M
