-- Reports open files, focus, cursor and selection to the companion. It compares the state of the editor with
-- the reported one, so an event only triggers a look.

local selection = require('gemini_companion.selection')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api
local uv = vim.uv

--- By number of the buffer, what was told: `{path, line, character, selected}`.
local told = {}
--- By number of the buffer, when it last had the focus: greater is later.
local focused = {}
local last_focus = 0
--- The buffer that was told to have the focus.
local active
--- The buffers to be looked at, beside the current one.
local dirty = {}
local scheduled = false
local notify

--- The file of a buffer, if it is one that the user edits and that exists.
local function path_of(buffer)
  if not api.nvim_buf_is_loaded(buffer) then
    return nil
  end
  local options = vim.bo[buffer]
  local name = api.nvim_buf_get_name(buffer)
  if options.buftype ~= '' or not options.buflisted or name == '' or text.utf8(name) ~= name then
    return nil
  end
  local stat = uv.fs_stat(name)
  return stat and stat.type == 'file' and name or nil
end

local function look_at(buffer)
  local file, path = told[buffer], path_of(buffer)
  if file and not path then
    notify('editor/closed', { path = file.path })
    told[buffer] = nil
    active = active ~= buffer and active or nil
  elseif file and path ~= file.path then
    notify('editor/renamed', { from = file.path, to = path })
    file.path = path
  elseif path and not file then
    notify('editor/opened', { path = path })
    told[buffer] = { path = path, selected = '' }
  end
end

local function tell_selection(buffer, selected)
  local file = told[buffer]
  if file and file.selected ~= selected then
    file.selected = selected
    notify('editor/selection', { path = file.path, text = selected })
  end
end

--- The cursor, 1-based; the character in UTF-16 units.
local function cursor(buffer)
  local line, column = unpack(api.nvim_win_get_cursor(0))
  local before = api.nvim_buf_get_text(buffer, line - 1, 0, line - 1, column, {})[1]
  return line, text.utf16_units(before) + 1
end

--- A window without a file, such as a terminal, changes nothing: the file that was left for it
--- keeps the focus and its selection, so that one can ask about it there.
local function look_at_current()
  local buffer = api.nvim_get_current_buf()
  local file = told[buffer]
  if not file then
    return
  end
  if active ~= buffer then
    if active then
      tell_selection(active, '')
    end
    active = buffer
    last_focus = last_focus + 1
    focused[buffer] = last_focus
    notify('editor/focused', { path = file.path })
  end
  local line, character = cursor(buffer)
  if line ~= file.line or character ~= file.character then
    file.line, file.character = line, character
    notify('editor/cursor', { path = file.path, line = line, character = character })
  end
  tell_selection(buffer, text.utf8(selection.text()))
end

local function look()
  scheduled = false
  if not notify then
    return
  end
  local buffers = dirty
  dirty = {}
  for buffer in pairs(buffers) do
    look_at(buffer)
  end
  look_at_current()
end

--- Looks once the event is over, for then things are as they will stay, and once for many events.
local function look_soon()
  if not scheduled then
    scheduled = true
    vim.schedule(look)
  end
end

local function look_at_soon(buffer)
  dirty[buffer] = true
  look_soon()
end

--- From now on tells everything by `notify(method, params)`, beginning with what is there.
---@param notify_with GeminiCompanion.Notify
function M.start(notify_with)
  local before = told
  notify, told, active = notify_with, {}, nil
  local group = api.nvim_create_augroup('gemini_companion_context', {})
  api.nvim_create_autocmd({
    'BufEnter',
    'BufReadPost',
    'BufNewFile',
    'BufWritePost',
    'BufFilePost',
    'BufDelete',
    'BufUnload',
    'BufWipeout',
    'FileChangedShellPost',
  }, {
    group = group,
    callback = function(event)
      look_at_soon(event.buf)
    end,
  })
  api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI', 'ModeChanged', 'WinEnter' }, {
    group = group,
    callback = look_soon,
  })

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
    notify('editor/focused', { path = path })
    local file = before[buffer] or {}
    told[buffer] = { path = path, line = file.line, character = file.character, selected = '' }
    active = buffer
    if file.line then
      notify('editor/cursor', { path = path, line = file.line, character = file.character })
    end
  end
  look_soon()
end

--- The path of the file that was told to have the focus.
---@return string?
function M.front()
  return active and told[active] and told[active].path
end

--- Tells nothing any more.
function M.stop()
  notify, dirty = nil, {}
  pcall(api.nvim_del_augroup_by_name, 'gemini_companion_context')
end

return M
