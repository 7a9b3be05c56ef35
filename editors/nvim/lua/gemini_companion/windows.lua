-- Opens the windows of proposals, sets their bars, and turns them back into ordinary windows.

local M = {}

local api = vim.api

--- Sets the window bar ('winbar') of a side of the diff.
---@param window integer
---@param words string
function M.set_bar(window, words)
  vim.wo[window][0].winbar = ' ' .. words
end

--- Makes a window one side of the diff.
local function enable_diff(window)
  api.nvim_win_call(window, vim.cmd.diffthis)
end

--- Makes a window an ordinary one again. The user may have opened another buffer in it.
---@param window integer
function M.disable_diff(window)
  api.nvim_win_call(window, function()
    vim.cmd('diffoff')
    vim.cmd('setlocal winbar<')
  end)
end

--- Returns a window that shows a buffer, or nil.
---@param buffer integer
---@return integer?
function M.of(buffer)
  return vim.fn.win_findbuf(buffer)[1]
end

local function is_floating(window)
  return api.nvim_win_get_config(window).relative ~= ''
end

--- Closes the floating windows of each tab page whose ordinary windows all show one of `buffers`. Neovim crashes if a
--- tab page in the background loses its last ordinary window while a float remains (neovim#30425).
---@param buffers integer[]
function M.close_floats(buffers)
  for _, tab in ipairs(api.nvim_list_tabpages()) do
    local floating, ordinary = {}, {}
    for _, window in ipairs(api.nvim_tabpage_list_wins(tab)) do
      table.insert(is_floating(window) and floating or ordinary, window)
    end
    local is_closing = vim.tbl_isempty(vim.tbl_filter(function(window)
      return not vim.tbl_contains(buffers, api.nvim_win_get_buf(window))
    end, ordinary))
    for _, window in ipairs(is_closing and floating or {}) do
      -- It may have closed together with another one.
      pcall(api.nvim_win_close, window, true)
    end
  end
end

local function find_first_change(window)
  api.nvim_win_call(window, function()
    vim.cmd('keepjumps normal! gg')
    if vim.fn.diff_hlID(1, 1) == 0 and vim.fn.diff_filler(1) == 0 then
      pcall(vim.cmd, 'normal! ]c')
    end
  end)
end

--- Goes to a window, even if the user's autocommands fail.
---@param window integer
function M.go_to(window)
  pcall(api.nvim_set_current_win, window)
end

local function open_windows(view)
  local origin = api.nvim_get_current_win()
  -- The user's autocommands may fail here as well. Only the windows count.
  pcall(vim.cmd, ('tab sbuffer %d'):format(view.right))
  local right = api.nvim_get_current_win()
  assert(right ~= origin and api.nvim_win_get_buf(right) == view.right, 'no tab page could be opened')
  pcall(vim.cmd, ('leftabove vertical sbuffer %d'):format(view.left))
  local left = M.of(view.left)
  view.windows = { right, left }
  if left then
    enable_diff(left)
  end
  enable_diff(right)
  M.go_to(right)
  find_first_change(right)
end

--- Opens a tab page with two sides in the background, without editor events for other plugins. Sets its `windows`: the
--- right one, and the left one.
---@param view GeminiCompanion.View|GeminiCompanion.Comparison
function M.open_tab(view)
  local origin = api.nvim_get_current_win()
  local ignored, switching = vim.o.eventignore, vim.o.switchbuf
  -- A window may show the file already. Its buffer gets another one.
  vim.o.eventignore, vim.o.switchbuf = 'all', ''
  local ok, why = pcall(open_windows, view)
  M.go_to(origin)
  vim.o.eventignore, vim.o.switchbuf = ignored, switching
  if not ok then
    error(why, 0)
  end
end

return M
