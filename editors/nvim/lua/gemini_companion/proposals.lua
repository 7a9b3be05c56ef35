-- Keeps the open proposals, and finds them by path, buffer or place.

local file = require('gemini_companion.file')

local M = {}

--- The open proposals, by path as the CLI wrote it.
---@type table<string, GeminiCompanion.Proposal>
local open = {}
--- The number of the newest proposal.
local last_number = 0

--- Adds a proposal, which gets its number.
---@param proposal GeminiCompanion.Proposal
function M.add(proposal)
  last_number = last_number + 1
  proposal.number = last_number
  open[proposal.path] = proposal
end

--- Removes a proposal, unless another one has its path by now.
---@param proposal GeminiCompanion.Proposal
function M.remove(proposal)
  if open[proposal.path] == proposal then
    open[proposal.path] = nil
  end
end

--- Returns the proposal for a path as the CLI wrote it, or nil.
---@param path string
---@return GeminiCompanion.Proposal?
function M.get(path)
  return open[path]
end

--- Returns the open proposals, oldest first.
---@return GeminiCompanion.Proposal[]
function M.all()
  local list = vim.tbl_values(open)
  table.sort(list, function(a, b)
    return a.number < b.number
  end)
  return list
end

--- Returns their paths, oldest first.
function M.paths()
  return vim.tbl_map(function(proposal)
    return proposal.path
  end, M.all())
end

--- Returns the name of a proposal's CLI if proposals of several CLIs are open.
---@param proposal GeminiCompanion.Proposal
function M.cli_name(proposal)
  for _, other in pairs(open) do
    if other.cli ~= proposal.cli then
      return ('CLI %d'):format(proposal.cli)
    end
  end
end

--- Returns whether a CLI waits for a decision about a proposal.
---@param cli? integer
function M.is_asking(cli)
  for _, proposal in pairs(open) do
    if proposal.cli == cli and not proposal.orphan then
      return true
    end
  end
  return false
end

--- Finds the proposal of a path, by any name of the file; without a path, the one in the current tab page, or the only
--- one. Otherwise returns nil and the reason.
---@param path? string
---@return GeminiCompanion.Proposal?, string why
function M.find(path)
  local full = path and vim.fn.fnamemodify(path, ':p')
  local real = full and file.real(full)
  local exact = open[path] or open[full]
  if exact then
    return exact, ''
  end
  local all = M.all()
  for _, proposal in ipairs(all) do
    if file.real(proposal.path) == real or (not path and proposal.view:is_current()) then
      return proposal, ''
    end
  end
  if path then
    return nil, 'no proposal is open for ' .. path
  elseif #all > 1 then
    return nil, 'several proposals are open; name one: ' .. table.concat(vim.tbl_map(file.short, M.paths()), ', ')
  end
  return all[1], 'no proposal is open'
end

--- Returns the proposal that shows a buffer on one of its sides, and whether that is the proposed side.
---@param buffer integer
---@return GeminiCompanion.Proposal?, boolean? is_proposed
function M.of_buffer(buffer)
  for _, proposal in pairs(open) do
    if buffer == proposal.view.right or buffer == proposal.view.left then
      return proposal, buffer == proposal.view.right
    end
  end
end

return M
