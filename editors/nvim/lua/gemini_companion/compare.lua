-- Compares a file with a text that the companion keeps, in a tab page. The left side is that text, read-only; the right
-- side is the buffer of the file.

local buffers = require('gemini_companion.buffer')
local file = require('gemini_companion.file')
local idle = require('gemini_companion.idle')
local labels = require('gemini_companion.labels')
local log = require('gemini_companion.log')
local reload = require('gemini_companion.reload')
local server = require('gemini_companion.server')
local text = require('gemini_companion.text')
local windows = require('gemini_companion.windows')

local M = {}

local api = vim.api

--- The open comparisons, by `id_of`.
---@type table<string, GeminiCompanion.Comparison>
local comparisons = {}

local function id_of(comparison)
  return comparison.key .. comparison.path
end

local function new_left(path, content, right)
  local buffer = buffers.create('before' .. path, 'nofile', 'wipe')
  local function fill()
    buffers.fill(buffer, text.parse(content or '', vim.bo[right].fileformat == 'dos'))
    vim.bo[buffer].modifiable = false
  end
  fill()
  -- `:edit` would empty it.
  api.nvim_create_autocmd('BufReadCmd', { buffer = buffer, callback = fill })
  -- The user's plugins may fail in a buffer without a file.
  pcall(function()
    vim.bo[buffer].filetype = vim.bo[right].filetype
  end)
  return buffer
end

--- Returns the comparison that has a window, or nil.
local function of_window(window)
  for _, comparison in pairs(comparisons) do
    if vim.tbl_contains(comparison.windows, window) then
      return comparison
    end
  end
end

--- Makes windows ordinary ones that have been those of a comparison, or have been split from one.
local function restore_windows()
  windows.restore(function(window)
    return of_window(window) ~= nil
  end)
end

--- Removes the left side and both windows. The buffer of the file stays.
local function close(comparison)
  if comparisons[id_of(comparison)] ~= comparison then
    return
  end
  comparisons[id_of(comparison)] = nil
  labels.follow(comparison, false)
  pcall(api.nvim_del_augroup_by_id, comparison.group)
  local right = comparison.windows[1]
  -- Otherwise Neovim would use their options in the next window for that buffer.
  restore_windows()
  vim.schedule(function()
    local is_own = api.nvim_win_is_valid(right) and api.nvim_win_get_buf(right) == comparison.right
    if is_own then
      -- Not if it is the last window, or if the user does not hide changed buffers.
      pcall(api.nvim_win_close, right, false)
    end
    windows.close_floats({ comparison.left })
    buffers.delete(comparison.left)
    if comparison.was_current and api.nvim_win_is_valid(comparison.origin) then
      windows.go_to(comparison.origin)
    end
  end)
end

--- Gives the file the line endings and the BOM of the text, too, except what the user has set, if the user has
--- reverted all changes: a diff does not show them.
local function restore_form(comparison)
  local now, opened = buffers.parsed(comparison.right), comparison.opened
  local original = text.of_file(comparison.content)
  if not vim.deep_equal(now.lines, original.lines) or vim.deep_equal(now.lines, opened.lines) then
    return
  end
  local restored = text.restored(now, opened, original)
  if text.render(now) ~= text.render(restored) then
    buffers.replace(comparison.right, restored)
  end
end

local function listen(comparison)
  comparison.group = api.nvim_create_augroup('gemini_companion_compare_' .. comparison.left, {})
  local function on(event, buffer, callback)
    api.nvim_create_autocmd(event, { group = comparison.group, buffer = buffer, callback = callback })
  end
  on('WinClosed', nil, function(event)
    if vim.tbl_contains(comparison.windows, tonumber(event.match)) then
      comparison.was_current = vim.tbl_contains(comparison.windows, api.nvim_get_current_win())
      close(comparison)
    end
  end)
  on('BufWritePre', comparison.right, function()
    restore_form(comparison)
  end)
  on('BufWritePost', comparison.right, function()
    if comparison.on_equal and file.read(comparison.path) == comparison.content then
      vim.schedule_wrap(comparison.on_equal)(text.render(comparison.opened), vim.fn.changenr())
    end
  end)
  -- The user has gone to another buffer in one of the windows.
  on('BufWinEnter', nil, function()
    for index, buffer in ipairs({ comparison.right, comparison.left }) do
      local window = comparison.windows[index]
      if not api.nvim_win_is_valid(window) or api.nvim_win_get_buf(window) ~= buffer then
        return close(comparison)
      end
    end
  end)
end

--- Returns the key and the path of the comparison in the current window, or nil.
---@return string? key, string? path
function M.current()
  local comparison = of_window(api.nvim_get_current_win())
  if comparison then
    return comparison.key, comparison.path
  end
end

--- Shows a comparison. If the same one is open, goes there. Returns whether that is possible, and if not, the cause.
local function show(comparison)
  local path, open = comparison.path, comparisons[id_of(comparison)]
  if open and open.content == comparison.content and api.nvim_win_is_valid(open.windows[1]) then
    windows.go_to(open.windows[1])
    return true
  elseif open then
    close(open)
  end
  local right, why = file.load(path)
  if not right then
    return false, why
  end
  vim.bo[right].buflisted = true
  if not vim.bo[right].modified and vim.uv.fs_stat(path) then
    reload.reload(path)
  end
  comparison.right, comparison.left = right, new_left(path, comparison.content, right)
  comparison.opened = buffers.parsed(right)
  comparison.origin = api.nvim_get_current_win()
  local ok, cause = pcall(windows.open_tab, comparison)
  if not ok then
    buffers.delete(comparison.left)
    return false, tostring(cause)
  end
  comparisons[id_of(comparison)] = comparison
  labels.follow(comparison, true)
  listen(comparison)
  windows.set_bar(comparison.windows[2], comparison.bars[1])
  windows.set_bar(comparison.windows[1], comparison.bars[2])
  windows.go_to(comparison.windows[1])
  return true
end

--- Opens the comparison that `of` returns for the texts that the companion keeps of a file, for a command of the user.
---@param change GeminiCompanion.CliChanged
---@param path string
---@param of fun(kept: table): GeminiCompanion.Comparison
function M.open(change, path, of)
  local when_answered = idle.after_command()
  local params = { session = change.session, prompt = change.prompt, path = path }
  server.request('cli/texts', params, function(kept)
    local comparison = of(kept)
    when_answered(function()
      local ok, why = show(comparison)
      if not ok then
        log.fail(why)
      end
    end)
  end, log.fail)
end

-- Neovim keeps the options of each buffer that has left a window. The user may go back to the file there.
api.nvim_create_autocmd('BufWinEnter', {
  group = api.nvim_create_augroup('gemini_companion_compare', {}),
  callback = restore_windows,
})

return M
