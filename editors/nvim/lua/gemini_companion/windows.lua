-- Opens and labels the windows of proposals, and makes them ordinary windows again.

local M = {}

local api = vim.api

--- Labels a side of the diff above its text.
---@param window integer
---@param words string
function M.label(window, words)
  vim.wo[window][0].winbar = ' ' .. words
end

--- Makes a window a side of the diff.
local function dress(window)
  api.nvim_win_call(window, vim.cmd.diffthis)
end

--- Makes it an ordinary window again, for what the user has opened in it meanwhile.
---@param window integer
function M.undress(window)
  api.nvim_win_call(window, function()
    vim.cmd('diffoff')
    vim.cmd('setlocal winbar<')
  end)
end

--- A window that shows a buffer, if there is one.
---@param buffer integer
---@return integer?
function M.of(buffer)
  return vim.fn.win_findbuf(buffer)[1]
end

local function is_floating(window)
  return api.nvim_win_get_config(window).relative ~= ''
end

--- Closes the floating windows of each tab page that has no other windows than those of `buffers`. Neovim
--- crashes if a tab page loses its last ordinary window while another one is current and a float remains
--- (neovim#30425).
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
      -- It may have closed with another one.
      pcall(api.nvim_win_close, window, true)
    end
  end
end

local function find_first_change(window)
  api.nvim_win_call(window, function()
    if vim.fn.diff_hlID(1, 1) == 0 and vim.fn.diff_filler(1) == 0 then
      pcall(vim.cmd, 'normal! ]c')
    end
  end)
end

--- Goes to a window. Of the user's own autocommands some may fail then; we are there nevertheless.
---@param window integer
function M.go_to(window)
  pcall(api.nvim_set_current_win, window)
end

local function open_windows(view)
  -- Here, too, what counts is whether the windows are there.
  pcall(vim.cmd, ('tab sbuffer %d'):format(view.right))
  local right = M.of(view.right)
  assert(right, 'no tab page could be opened')
  pcall(vim.cmd, ('leftabove vertical sbuffer %d'):format(view.left))
  local left = M.of(view.left)
  view.windows = { right, left }
  if left then
    dress(left)
  end
  dress(right)
  M.go_to(right)
  find_first_change(right)
end

--- Opens the tab page in the background. Nothing that matters to the user's other plugins happens.
---@param view GeminiCompanion.View
function M.open_tab(view)
  local origin = api.nvim_get_current_win()
  local ignored = vim.o.eventignore
  vim.o.eventignore = 'all'
  local ok, why = pcall(open_windows, view)
  M.go_to(origin)
  vim.o.eventignore = ignored
  if not ok then
    error(why, 0)
  end
end

return M
