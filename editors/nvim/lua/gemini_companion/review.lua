-- Handles several proposals: goes from one to the next, decides all, and lists them.

local diff = require('gemini_companion.diff')
local log = require('gemini_companion.log')
local proposals = require('gemini_companion.proposals')
local quickfix = require('gemini_companion.quickfix')

local M = {}

local NONE = 'no proposal is open'

local function is_changed(proposal)
  local _, changed = proposal.view:proposal()
  return changed
end

local function step(by)
  local all = proposals.all()
  local at = by > 0 and 0 or 1
  for index, proposal in ipairs(all) do
    if proposal.view:is_current() then
      at = index
    end
  end
  local to = all[(at + by - 1) % math.max(#all, 1) + 1]
  if not to then
    return false, NONE
  end
  return diff.show(to.path)
end

--- Goes to the next newer proposal; after the newest, to the oldest.
function M.next()
  return step(1)
end

--- Goes to the next older proposal; after the oldest, to the newest.
function M.prev()
  return step(-1)
end

local function decide_all(verb, act, asks)
  local all = proposals.all()
  if #all == 0 then
    return false, NONE
  end
  local changed = #vim.tbl_filter(is_changed, all)
  if asks(#all, changed) then
    local words = changed > 0 and (', %d changed by you'):format(changed) or ''
    local question = ('%s %d proposal%s%s?'):format(verb, #all, #all == 1 and '' or 's', words)
    if vim.fn.confirm(question, '&Yes\n&No', 2) ~= 1 then
      return true
    end
  end
  local left = #vim.tbl_filter(function(proposal)
    return not act(proposal.path)
  end, all)
  -- Each of them showed a reason, but only the last message stays visible.
  if left > 1 then
    log.warn(('%d of %d proposals stay open; see :GeminiCompanion log'):format(left, #all))
  end
  return true
end

--- Accepts all proposals with the user's changes, oldest first, except those whose files have changed. Asks if there
--- are several.
function M.accept_all()
  local function accept(path)
    return diff.accept(path, false)
  end
  return decide_all('Accept', accept, function(count)
    return count > 1
  end)
end

--- Rejects all proposals. Asks if there are several, or if the user has changed one.
function M.reject_all()
  return decide_all('Reject', diff.reject, function(count, changed)
    return count > 1 or changed > 0
  end)
end

local function go_to(item)
  local ok, why = diff.show(item.user_data)
  if not ok then
    log.fail(why)
  end
  return true
end

--- Lists all proposals in the quickfix window. Enter goes to one.
function M.list()
  local all = proposals.all()
  if #all == 0 then
    return false, NONE
  end
  local items = vim.tbl_map(function(proposal)
    local text = proposal.view.kind == 'create' and 'new file' or 'change'
    local name = proposals.cli_name(proposal)
    text = text .. (name and ' by ' .. name or '') .. (is_changed(proposal) and ', changed by you' or '')
    return { filename = proposal.path, lnum = 1, text = text, user_data = proposal.path }
  end, all)
  quickfix.show('Proposals of the CLI', items, 'gemini_companion', go_to)
  return true
end

return M
