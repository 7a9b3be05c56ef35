-- Composes the window bars of proposals ('winbar'), as long as the windows allow, and updates them.

local keys = require('gemini_companion.keys')
local proposals = require('gemini_companion.proposals')
local windows = require('gemini_companion.windows')

local M = {}

--- The right bar once no CLI waits for the proposal.
local ORPHAN = {
  { 'No CLI waits', 1 },
  { ' for this proposal', 4 },
  { ' (:w {file} saves it', 2 },
  { ', :q! closes it', 3 },
  { ')', 2 },
}

--- The right bar until the next companion takes the proposal up.
local PAUSED = 'The companion starts again; decide in a moment'

local function show_left(proposal)
  local view = proposal.view
  local window = vim.fn.win_findbuf(view.left)[1]
  if window then
    windows.set_bar(window, {
      { view.kind == 'create' and 'No file yet' or 'The file as it is', 1 },
      { proposal.private and ' — private' or '', 2 },
      { proposal.private and ' (nothing else about it is shared)' or '', 4 },
      { view.is_unmarked and ' — too many changes to mark' or '', 3 },
    })
  end
end

--- Sets the bar of the proposal: what it is and the keys that decide, then the rest.
---@param proposal GeminiCompanion.Proposal
---@param place string the place of the proposal among several, or nothing
local function show_right(proposal, place)
  local view, cli = proposal.view, proposals.cli_name(proposal)
  local window = vim.fn.win_findbuf(view.right)[1]
  if not window then
    return
  end
  local is_changed = vim.bo[view.right].modified
  view.is_shown_as_changed = is_changed
  local reason = proposal.takes_reason and keys.shown('reason', view.right)
  local comment = proposal.takes_reason and keys.shown('comment', view.right)
  windows.set_bar(window, {
    { place, 3 },
    { view.kind == 'create' and 'New file' or 'Proposal', 1 },
    { ' by ' .. (cli or 'the CLI'), cli and 4 or 7 },
    { is_changed and ', edited' or '', 6 },
    { ' (:w accepts', 1 },
    { is_changed and ', :q! rejects' or ', :q rejects', 2 },
    { reason and (', %s says why'):format(reason) or '', 5 },
    { comment and (', %s comments'):format(comment) or '', 8 },
    { view.kind ~= 'create' and not view.is_unmarked and ', do reverts a change' or '', 9 },
    { ')', 1 },
    { view.layout == 'unified' and view.is_unmarked and ' — too many changes to mark' or '', 5 },
  })
end

--- Updates the bars of all proposals. Those without a waiting CLI are not counted.
function M.update()
  local waiting = {}
  for _, proposal in ipairs(proposals.all()) do
    local bar = proposal.orphan and ORPHAN or (proposal.is_paused and PAUSED)
    local window = bar and vim.fn.win_findbuf(proposal.view.right)[1]
    if window then
      windows.set_bar(window, bar)
    elseif not bar then
      waiting[#waiting + 1] = proposal
    end
  end
  for index, proposal in ipairs(waiting) do
    show_left(proposal)
    local place = #waiting > 1 and ('%d/%d '):format(index, #waiting) or ''
    show_right(proposal, place)
  end
end

return M
