-- Shows a proposal in one window: the lines that it adds are marked, and those that it removes are virtual lines.

local buffers = require('gemini_companion.buffer')
local guard = require('gemini_companion.guard')

local M = {}

local api = vim.api

local namespace = api.nvim_create_namespace('gemini_companion_unified')

--- How long the user must pause before the marks follow an edit. A diff of a large text takes a while.
local PAUSE_MS = 150

--- Returns a line with spaces in place of tabs, since virtual lines have no tabs, and its width.
local function expand(line, tabstop)
  local parts, width = {}, 0
  for words, tab in line:gmatch('([^\t]*)(\t?)') do
    width = width + vim.fn.strdisplaywidth(words)
    local blanks = (tab == '' and 0 or tabstop - width % tabstop) --[[@as integer]]
    width = width + blanks
    parts[#parts + 1] = words .. (' '):rep(blanks)
  end
  return table.concat(parts), width
end

--- Returns removed lines as virtual ones, as wide as the window.
local function virtual(view, window, from, count)
  local window_width = api.nvim_win_get_width(window)
  return vim.tbl_map(function(line)
    local shown, width = expand(line, vim.bo[view.right].tabstop)
    return { { shown .. (' '):rep(math.max(window_width - width, 0)), 'DiffDelete' } }
  end, api.nvim_buf_get_lines(view.left, from - 1, from - 1 + count, false))
end

--- Shows virtual lines above the first line. Neovim hides them until the user scrolls.
local function show_above(view, window)
  local hunk = view.hunks[1]
  if hunk and hunk[2] > 0 and (hunk[4] == 0 and hunk[3] == 0 or hunk[3] == 1) then
    api.nvim_win_call(window, function()
      local now = vim.fn.winsaveview()
      if now.topline == 1 then
        vim.fn.winrestview({ topline = 1, topfill = hunk[2] })
      end
    end)
  end
end

--- Marks the changes of a proposal, unless one of its sides is gone.
---@param view GeminiCompanion.View
---@param changes? integer[][] if they are known; see `text.changes`
function M.mark(view, changes)
  local window = vim.fn.win_findbuf(view.right)[1]
  if not window or not view:is_whole() then
    view.hunks = {}
    return
  end
  api.nvim_buf_clear_namespace(view.right, namespace, 0, -1)
  view.hunks = changes or (view.is_unmarked and {} or buffers.changes(view.left, view.right))
  for _, hunk in ipairs(view.hunks) do
    local from, removed, to, added = unpack(hunk)
    for row = to - 1, to + added - 2 do
      api.nvim_buf_set_extmark(view.right, namespace, row, 0, { line_hl_group = 'DiffAdd' })
    end
    if removed > 0 then
      -- Without added lines, `to` is the line before. Nothing is before the first line.
      local is_above = added > 0 or to == 0
      api.nvim_buf_set_extmark(view.right, namespace, math.max(to - 1, 0), 0, {
        virt_lines = virtual(view, window, from, removed),
        virt_lines_above = is_above,
      })
    end
  end
  show_above(view, window)
end

local function line_of(hunk)
  return math.max(hunk[3], 1)
end

--- Goes to the next change, or with a negative `by` to an earlier one. If `here` is set, the one at the cursor counts.
---@param view GeminiCompanion.View
---@param by integer
---@param here? boolean
function M.go(view, by, here)
  local line = api.nvim_win_get_cursor(0)[1]
  local targets = {}
  for _, hunk in ipairs(view.hunks) do
    local to = line_of(hunk)
    local is_before, is_after = by < 0 and to < line, by > 0 and (to > line or here and to == line)
    if is_before then
      table.insert(targets, 1, to)
    elseif is_after then
      table.insert(targets, to)
    end
  end
  local target = targets[math.min(math.abs(by), #targets)]
  if target then
    api.nvim_win_set_cursor(0, { target, 0 })
  end
end

--- Reverts the change at the cursor. The user can undo that.
---@param view GeminiCompanion.View
function M.obtain(view)
  M.mark(view)
  local line = api.nvim_win_get_cursor(0)[1]
  for _, hunk in ipairs(view.hunks) do
    local from, removed, to, added = unpack(hunk)
    local first = line_of(hunk)
    if line >= first and line <= (added > 0 and to + added - 1 or to + 1) then
      -- Without added lines, `to` is the line before the removed ones.
      local row = added > 0 and to - 1 or to
      local old = api.nvim_buf_get_lines(view.left, from - 1, from - 1 + removed, false)
      api.nvim_buf_set_lines(view.right, row, row + added, false, old)
      M.mark(view)
      return
    end
  end
end

--- Maps the keys of diff mode, and lets the marks follow the user's edits.
---@param view GeminiCompanion.View
function M.listen(view)
  local function map(keys, act, description)
    vim.keymap.set('n', keys, function()
      guard.try(act)
    end, { buffer = view.right, desc = description })
  end
  map(']c', function()
    M.go(view, vim.v.count1)
  end, 'go to the next change')
  map('[c', function()
    M.go(view, -vim.v.count1)
  end, 'go to the previous change')
  map('do', function()
    M.obtain(view)
  end, 'revert this change')
  local newest = 0
  local function follow()
    newest = newest + 1
    local edit = newest
    vim.defer_fn(function()
      if edit == newest and api.nvim_buf_is_loaded(view.right) and not view.closing then
        M.mark(view)
      end
    end, PAUSE_MS)
  end
  api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'InsertLeave' }, {
    group = view.group,
    buffer = view.right,
    callback = follow,
  })
end

return M
