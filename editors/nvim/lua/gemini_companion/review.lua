-- Leads through several proposals: from one to the next, all at once, and a list of them.

local diff = require('gemini_companion.diff')
local log = require('gemini_companion.log')

local M = {}

--- By which the list is known among the user's own quickfix lists.
local CONTEXT = 'gemini_companion'

local NONE = 'no proposal is open'

local function step(by)
  local all = diff.list()
  local at = by > 0 and 0 or 1
  for index, proposal in ipairs(all) do
    if proposal.is_current then
      at = index
    end
  end
  local to = all[(at + by - 1) % math.max(#all, 1) + 1]
  if not to then
    return false, NONE
  end
  return diff.show(to.path)
end

--- Goes to the proposal that came after the one in sight, or before it; beyond the last, the first.
---@return boolean
---@return string? why
function M.next()
  return step(1)
end

---@return boolean
---@return string? why
function M.prev()
  return step(-1)
end

local function all(verb, act, asks)
  local proposals = diff.list()
  if #proposals == 0 then
    return false, NONE
  end
  local changed = #vim.tbl_filter(function(proposal)
    return proposal.is_changed
  end, proposals)
  if asks(#proposals, changed) then
    local words = changed > 0 and (', %d with changes of yours'):format(changed) or ''
    local question = ('%s %d proposal%s%s?'):format(verb, #proposals, #proposals == 1 and '' or 's', words)
    if vim.fn.confirm(question, '&Yes\n&No', 2) ~= 1 then
      return true
    end
  end
  local left = #vim.tbl_filter(function(proposal)
    return not act(proposal.path, false)
  end, proposals)
  -- Each has said why; of several only the last would be seen.
  if left > 1 then
    log.warn(('%d of %d proposals stay open, see :GeminiCompanion log'):format(left, #proposals))
  end
  return true
end

--- Accepts all in the order in which they came, each with what the user has changed in it, but those whose
--- files have changed since. Asks first.
---@return boolean
---@return string? why
function M.accept_all()
  return all('Accept', diff.accept, function(count)
    return count > 1
  end)
end

---@return boolean
---@return string? why
function M.reject_all()
  return all('Reject', diff.reject, function(count, changed)
    return count > 1 or changed > 0
  end)
end

--- Goes to the proposal in the line of the list, or does what Enter does in another list.
local function enter()
  local list = vim.fn.getqflist({ context = 0, items = 0 })
  local item = list.items[vim.fn.line('.')]
  if list.context == CONTEXT and item then
    local ok, why = diff.show(vim.fn.bufname(item.bufnr))
    if not ok then
      log.fail(why)
    end
  else
    vim.cmd('.cc')
  end
end

--- Lists all in the quickfix window, where Enter goes to one.
---@return boolean
---@return string? why
function M.list()
  local proposals = diff.list()
  if #proposals == 0 then
    return false, NONE
  end
  local items = vim.tbl_map(function(proposal)
    local text = proposal.kind == 'create' and 'new file' or 'change'
    text = proposal.cli and ('%s by %s'):format(text, proposal.cli) or text
    return { filename = proposal.path, lnum = 1, text = text .. (proposal.is_changed and ', changed by you' or '') }
  end, proposals)
  vim.fn.setqflist({}, ' ', { title = 'Proposals of the CLI', context = CONTEXT, items = items })
  vim.cmd('botright copen')
  vim.keymap.set('n', '<CR>', enter, { buffer = 0, desc = 'go to the proposal of the CLI' })
  return true
end

return M
