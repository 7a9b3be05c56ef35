-- Shows all changes of a prompt in one buffer, as a unified diff. Enter goes to a line in its file; keys revert or keep
-- the change under the cursor.

local buffers = require('gemini_companion.buffer')
local file = require('gemini_companion.file')
local guard = require('gemini_companion.guard')
local idle = require('gemini_companion.idle')
local log = require('gemini_companion.log')
local prompts = require('gemini_companion.prompts')
local reverts = require('gemini_companion.reverts')
local server = require('gemini_companion.server')

local M = {}

local api = vim.api

local HELP = '# Enter: go to the line   X: revert the change   K: keep it   u: undo the last X'

--- The most files that the buffer shows.
local MAX_FILES = 200

--- The most lines of changes that it shows.
local MAX_LINES = 100000

--- The most lines that are searched, in each direction, for a line that has moved.
local MAX_MOVED = 1000

--- The views by the keys of their prompts: `{buffer, change, text, places, ready}`. `places` has the place in a file of
--- each line: `{path, line, text, hunk, index}`, where `index` counts the lines from the header of the hunk.
local views = {}

--- Adds the lines of a hunk, and notes the line of the file for each. Returns the number of lines that do not fit.
local function add_hunk(lines, places, path, hunk)
  local left_out, number, header = 0, hunk.after, #lines + 1
  local function add(shown, text)
    if #lines < MAX_LINES then
      lines[#lines + 1] = shown
      places[#lines] = { path = path, hunk = hunk, index = #lines - header, line = number, text = text }
    else
      left_out = left_out + 1
    end
  end
  add(hunk.header)
  for _, line in ipairs(hunk.lines) do
    local content = line:gsub('\r?\n$', '')
    add(content, content:sub(2))
    if line:sub(1, 1) ~= '-' then
      number = number + 1
    end
    if not line:find('\n$') then
      add('\\ No newline at end of file')
    end
  end
  return left_out
end

local function rendered(change, found)
  local lines, places = { '# ' .. prompts.title(change), HELP }, {}
  for index, changed in ipairs(change.files) do
    if index > MAX_FILES or #lines >= MAX_LINES then
      lines[#lines + 1] = ('# … and %d more files'):format(#change.files - index + 1)
      break
    end
    local name = log.printable(file.short(changed.path))
    lines[#lines + 1] = '--- ' .. (changed.kind == 'created' and '/dev/null' or 'a/' .. name)
    lines[#lines + 1] = '+++ ' .. (changed.kind == 'deleted' and '/dev/null' or 'b/' .. name)
    local top = { path = changed.path, line = 1 }
    places[#lines - 1], places[#lines] = top, top
    local left_out = 0
    for _, hunk in ipairs(found[changed.path] or {}) do
      left_out = left_out + add_hunk(lines, places, changed.path, hunk)
    end
    if left_out > 0 then
      lines[#lines + 1] = ('# … and %d more lines in this file'):format(left_out)
    end
    if changed.private then
      lines[#lines + 1] = '# private'
    elseif changed.reverted then
      lines[#lines + 1] = '# reverted'
    elseif not changed.revertible then
      lines[#lines + 1] = "# can't be reverted: the text from before is not kept"
    end
    places[#lines] = places[#lines] or top
  end
  if #change.files == 0 then
    lines[#lines + 1] = '# this prompt is no longer in the list of changes'
  end
  return lines, places
end

--- Gets the hunks of all files, and passes them by path to `done`.
local function with_hunks(change, done)
  local found, waiting = {}, 1
  local function finish()
    waiting = waiting - 1
    if waiting == 0 then
      done(found)
    end
  end
  for _, changed in ipairs(vim.list_slice(change.files, 1, MAX_FILES)) do
    if changed.revertible and not changed.reverted then
      waiting = waiting + 1
      local params = { session = change.session, prompt = change.prompt, path = changed.path }
      server.request('cli/hunks', params, function(result)
        found[changed.path] = result.hunks
        finish()
      end, finish)
    end
  end
  finish()
end

--- Returns the line that shows an earlier place. If its change is gone, returns the first line of its file, or else of
--- the buffer: the next key must not revert another change, not even an equal one.
local function find_again(places, count, earlier)
  local in_file
  for line = 1, earlier and count or 0 do
    local at = places[line]
    if at and at.path == earlier.path then
      in_file = in_file or line
      local is_same = at.hunk and earlier.hunk and at.hunk.before == earlier.hunk.before
      if is_same and at.index == earlier.index and vim.deep_equal(at.hunk.lines, earlier.hunk.lines) then
        return line
      end
    end
  end
  return in_file or 1
end

--- Sets the lines of a view. In each of its windows, the cursor stays on its change.
local function set_lines(view, lines, places)
  local earlier, saved = view.places, {}
  for _, window in ipairs(vim.fn.win_findbuf(view.buffer)) do
    saved[window] = api.nvim_win_call(window, vim.fn.winsaveview)
  end
  view.text = { lines = lines, dos = false, bomb = false, eol = true, empty = false }
  view.places = places
  buffers.set_lines(view.buffer, view.text)
  vim.bo[view.buffer].modified = false
  for window, state in pairs(saved) do
    local line = find_again(places, #lines, earlier[state.lnum])
    state.topline, state.lnum = math.max(state.topline + line - state.lnum, 1), line
    api.nvim_win_call(window, function()
      vim.fn.winrestview(state)
    end)
  end
end

--- Fills the buffer of a view, unless a newer state of its prompt has come.
local function fill(view, change)
  view.change = change
  with_hunks(change, function(found)
    idle.when_idle_later(function()
      if view.change ~= change or not api.nvim_buf_is_loaded(view.buffer) then
        return
      end
      set_lines(view, rendered(change, found))
      if view.ready then
        view.ready()
        view.ready = nil
      end
    end)
  end)
end

--- Returns the line of a buffer that is nearest to `line` and has the text.
local function nearest(buffer, line, text)
  local first = math.max(0, line - 1 - MAX_MOVED) --[[@as integer]]
  local best = line
  local distance = math.huge
  for index, found in ipairs(api.nvim_buf_get_lines(buffer, first, line + MAX_MOVED, false)) do
    local number = first + index
    if found == text and math.abs(number - line) < distance then
      best, distance = number, math.abs(number - line)
    end
  end
  return math.min(best, api.nvim_buf_line_count(buffer))
end

local function place(view)
  return view.places[api.nvim_win_get_cursor(0)[1]]
end

--- Goes to the line under the cursor in its file, also if the line has moved.
local function go(view)
  local at = place(view)
  if not at then
    return
  elseif not vim.uv.fs_stat(at.path) then
    return log.fail(('%s does not exist'):format(file.short(at.path)))
  end
  local buffer = file.buffer(at.path) or vim.fn.bufadd(at.path)
  vim.bo[buffer].buflisted = true
  local window = vim.fn.win_findbuf(buffer)[1]
  local is_there = guard.try(function()
    if window then
      api.nvim_set_current_win(window)
    else
      vim.cmd.buffer(buffer)
    end
  end)
  if not is_there then
    return
  end
  local line = at.text and nearest(0, at.line, at.text) or math.min(at.line, api.nvim_buf_line_count(0))
  api.nvim_win_set_cursor(0, { line, 0 })
  vim.cmd('normal! zv')
end

--- Returns a function for a key that passes the hunk under the cursor to `act`.
local function on_hunk(view, act)
  return function()
    local at = place(view)
    if at and at.hunk then
      act(view.change, { at.path }, at.hunk)
    else
      log.fail('go to a change first')
    end
  end
end

local function create(change)
  local name = 'changes of ' .. prompts.title(change)
  local view = { buffer = buffers.create(name, 'nofile', 'hide'), places = {} }
  vim.bo[view.buffer].modifiable = false
  -- The user's plugins may fail in a buffer without a file.
  pcall(function()
    vim.bo[view.buffer].filetype = 'diff'
  end)
  buffers.outlive_edit(view.buffer, function()
    return view.text
  end, function()
    vim.bo[view.buffer].modifiable = false
  end)
  local function map(lhs, description, act)
    vim.keymap.set('n', lhs, act, { buffer = view.buffer, nowait = true, desc = description })
  end
  map('<CR>', 'go to the line in its file', function()
    go(view)
  end)
  map('X', 'revert the change under the cursor', on_hunk(view, reverts.revert))
  map('K', 'keep the change under the cursor', on_hunk(view, reverts.keep))
  map('u', 'undo the last X', function()
    reverts.undo(view.change)
  end)
  views[prompts.key(change)] = view
  return view
end

--- Returns the prompt and the path under the cursor in a buffer of all changes, or nil.
---@return string? key, string? path
function M.current()
  for key, view in pairs(views) do
    if view.buffer == api.nvim_get_current_buf() then
      local at = place(view)
      return key, at and at.path
    end
  end
end

local function view_of(change)
  local view = views[prompts.key(change)]
  return view and api.nvim_buf_is_loaded(view.buffer) and view or nil
end

--- Shows all changes of a prompt in a tab page.
---@param change GeminiCompanion.CliChanged
function M.show(change)
  local view = view_of(change) or create(change)
  local when_ready = idle.after_command()
  view.ready = function()
    when_ready(function()
      if not api.nvim_buf_is_loaded(view.buffer) then
        return
      end
      local window = vim.fn.win_findbuf(view.buffer)[1]
      if window then
        api.nvim_set_current_win(window)
      else
        vim.cmd('tab sbuffer ' .. view.buffer)
      end
    end)
  end
  fill(view, change)
end

--- Updates the buffer of a prompt, if it is open.
---@param change GeminiCompanion.CliChanged
function M.update(change)
  local view = view_of(change)
  if view then
    fill(view, change)
  end
end

return M
