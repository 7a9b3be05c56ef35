-- Reports open files, focus, cursor and selection to the companion. Each editor event triggers a comparison of the
-- current state with the reported one.

local files = require('gemini_companion.file')
local guard = require('gemini_companion.guard')
local selection = require('gemini_companion.selection')
local server = require('gemini_companion.server')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

--- The reported state of each buffer, by its number: `{path, line, character, selected}`.
local reported = {}
--- When each buffer last had the focus, by its number: greater is later.
local focused = {}
local last_focus = 0
--- The buffer that was last reported to have the focus.
local active
--- The buffers to compare next, in addition to the current one.
local dirty = {}
local scheduled = false
local is_running = false

--- Returns the file of a listed buffer, if the file exists.
local function path_of(buffer)
  local is_shown = api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buflisted
  local path = is_shown and files.path_of(buffer)
  local stat = path and vim.uv.fs_stat(path)
  return stat and stat.type == 'file' and path or nil
end

local function report_buffer(buffer)
  local file, path = reported[buffer], path_of(buffer)
  if file and not path then
    server.notify('editor/closed', { path = file.path })
    reported[buffer] = nil
    active = active ~= buffer and active or nil
  elseif file and path ~= file.path then
    server.notify('editor/renamed', { from = file.path, to = path })
    file.path = path
  elseif path and not file then
    server.notify('editor/opened', { path = path })
    reported[buffer] = { path = path, selected = '' }
  end
end

local function report_selection(buffer, selected)
  local file = reported[buffer]
  if file and file.selected ~= selected then
    file.selected = selected
    server.notify('editor/selection', { path = file.path, text = selected })
  end
end

--- Returns the 1-based line and character of the cursor. The character counts UTF-16 units.
local function cursor(buffer)
  local line, column = unpack(api.nvim_win_get_cursor(0))
  local before = api.nvim_buf_get_text(buffer, line - 1, 0, line - 1, column, {})[1]
  return line, text.utf16_units(before) + 1
end

--- Reports focus, cursor and selection. A window without a file, such as a terminal, changes nothing: the last file
--- keeps its focus and selection, so the user can ask about it in the terminal.
local function report_current()
  local buffer = api.nvim_get_current_buf()
  local file = reported[buffer]
  if not file then
    return
  end
  if active ~= buffer then
    if active then
      report_selection(active, '')
    end
    active = buffer
    last_focus = last_focus + 1
    focused[buffer] = last_focus
    server.notify('editor/focused', { path = file.path })
  end
  local line, character = cursor(buffer)
  if line ~= file.line or character ~= file.character then
    file.line, file.character = line, character
    server.notify('editor/cursor', { path = file.path, line = line, character = character })
  end
  report_selection(buffer, text.utf8(selection.text()))
end

local function report()
  scheduled = false
  if not is_running then
    return
  end
  local buffers = dirty
  dirty = {}
  for buffer in pairs(buffers) do
    report_buffer(buffer)
  end
  report_current()
end

--- Reports once for many events, after Neovim has handled them.
local function report_soon()
  if not scheduled then
    scheduled = true
    vim.schedule(report)
  end
end

local function report_buffer_soon(buffer)
  dirty[buffer] = true
  report_soon()
end

--- Reports the current state to a companion that is ready, and then each change of it.
function M.start()
  local before = reported
  is_running, reported, active = true, {}, nil
  local group = api.nvim_create_augroup('gemini_companion_context', {})
  guard.on_buffer(group, { 'BufEnter', 'BufReadPost', 'BufNewFile', 'BufWritePost', 'BufFilePost' }, report_buffer_soon)
  guard.on_buffer(group, { 'BufDelete', 'BufUnload', 'BufWipeout', 'FileChangedShellPost' }, report_buffer_soon)
  guard.on_buffer(group, { 'CursorMoved', 'CursorMovedI', 'ModeChanged', 'WinEnter' }, report_soon)

  local buffers = vim.tbl_filter(path_of, api.nvim_list_bufs())
  local last_used = {}
  for _, info in ipairs(vim.fn.getbufinfo({ bufloaded = 1 })) do
    last_used[info.bufnr] = info.lastused
  end
  table.sort(buffers, function(a, b)
    local focus_a, focus_b = focused[a] or 0, focused[b] or 0
    if focus_a ~= focus_b then
      return focus_a < focus_b
    end
    if last_used[a] ~= last_used[b] then
      return last_used[a] < last_used[b]
    end
    return a < b
  end)
  for _, buffer in ipairs(buffers) do
    local path = path_of(buffer)
    server.notify('editor/focused', { path = path })
    local file = before[buffer] or {}
    reported[buffer] = { path = path, line = file.line, character = file.character, selected = '' }
    active = buffer
    if file.line then
      server.notify('editor/cursor', { path = path, line = file.line, character = file.character })
    end
  end
  report_soon()
end

--- Handles `editor/unsaved`: lists the files whose text is not on the disk.
---@param _ table
---@param done fun(result: table)
function M.on_unsaved(_, done)
  local paths = {}
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].modified then
      paths[#paths + 1] = files.path_of(buffer)
    end
  end
  done({ paths = paths })
end

--- Returns the path of the file that was last reported to have the focus.
function M.front()
  return active and reported[active] and reported[active].path
end

--- Stops the reports.
function M.stop()
  is_running, dirty = false, {}
  pcall(api.nvim_del_augroup_by_name, 'gemini_companion_context')
end

return M
