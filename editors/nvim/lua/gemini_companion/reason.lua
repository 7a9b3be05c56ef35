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
---@param act fun(reason: string)
function M.ask(proposal, act)
  local arrival, why = M.arrival(proposal)
  if not arrival then
    log.fail(why)
    return
  end
  local question = {}
  proposal.question = question
  vim.ui.input({ prompt = QUESTIONS[arrival]:format(cli_name(proposal)) }, function(reason)
    if not reason or vim.trim(reason) == '' then
      return
    end
    -- If nothing is rejected, <Up> at the next question shows it. `vim.ui.input` of a plugin has no such history.
    vim.fn.histadd('input', vim.trim(reason))
    -- The CLI may have ended or replaced the proposal while the user typed.
    if proposal.decided or proposal.question ~= question then
      log.fail('the proposal has ended, so nothing is rejected')
      return
    end
    act(vim.trim(reason))
  end)
end

--- Shows when the model gets the reason of a rejection.
---@param arrival GeminiCompanion.ReasonArrival
---@param proposal GeminiCompanion.Proposal
function M.confirm(arrival, proposal)
  log.notify(MESSAGES[arrival]:format(cli_name(proposal), file.short(proposal.path)))
end

--- Handles `diff/reasonLost`. The next question offers the reason again, in its history.
function M.on_lost(params)
  local name = file.short(params.filePath)
  vim.fn.histadd('input', params.reason)
  log.warn(('the CLI does not get your reason for %s: %s; <Up> at a question shows it'):format(name, params.why))
end

return M
