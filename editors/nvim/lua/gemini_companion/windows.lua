-- Opens the windows of proposals, sets their bars, and turns them back into ordinary windows.

local buffers = require('gemini_companion.buffer')
local guard = require('gemini_companion.guard')
local labels = require('gemini_companion.labels')
local unified = require('gemini_companion.unified')

local M = {}

local api = vim.api

--- The most changes that are marked. The time of Neovim's diff mode grows by the square of their number: 0.3 s for
--- 3,000, 2.8 s for 13,000, more than a minute for 60,000.
local MAX_MARKED = 3000

--- The end of each bar of the plugin. Neovim cuts off a bar that is too long at `%<`, and no user's bar ends like this.
local BAR_END = '%<%*'

--- Sets the window bar ('winbar') of a side of the diff. Neovim would cut off the beginning of a long one, so this
--- omits the parts with the greatest numbers.
---@param window integer
---@param parts string|GeminiCompanion.BarPart[] the bar, or its parts in order
function M.set_bar(window, parts)
  if type(parts) == 'string' then
    parts = { { parts, 1 } }
  end
  ---@cast parts GeminiCompanion.BarPart[]
  local function joined(most)
    local shown = {}
    for _, part in ipairs(parts) do
      shown[#shown + 1] = part[2] <= most and part[1] or ''
    end
    return table.concat(shown)
  end
  local width = api.nvim_win_get_width(window) - 1
  local most = #parts
  while most > 1 and vim.fn.strdisplaywidth(joined(most)) > width do
    most = most - 1
  end
  local bar = ' ' .. joined(most):gsub('%%', '%%%%') .. BAR_END
  -- A window of one line may have no room for it.
  guard.quietly(function()
    vim.wo[window][0].winbar = bar
  end)
end

--- Makes a window an ordinary one again. The user may have opened another buffer in it.
---@param window integer
function M.disable_diff(window)
  api.nvim_win_call(window, function()
    vim.cmd('diffoff')
    vim.cmd('setlocal winbar< statusline< scrollbind< cursorbind<')
  end)
end

--- Makes the windows ordinary ones that have a bar of the plugin, but another buffer. Leaves out those that are in use.
---@param is_in_use? fun(window: integer): boolean
function M.restore(is_in_use)
  for _, window in ipairs(api.nvim_list_wins()) do
    local is_own = buffers.is_own(api.nvim_win_get_buf(window)) or (is_in_use and is_in_use(window))
    if not is_own and vim.wo[window][0].winbar:sub(-#BAR_END) == BAR_END then
      M.disable_diff(window)
    end
  end
end

--- Marks the changes between both sides, unless there are too many.
---@param view GeminiCompanion.View|GeminiCompanion.Comparison
function M.mark(view)
  local changes = buffers.changes(view.left, view.right, MAX_MARKED)
  view.is_unmarked = changes == nil
  if view.layout == 'unified' then
    unified.mark(view, changes or {})
    return
  end
  for _, window in ipairs(view.windows) do
    if api.nvim_win_is_valid(window) then
      api.nvim_win_call(window, function()
        if view.is_unmarked then
          vim.cmd('diffoff | setlocal scrollbind cursorbind')
        else
          vim.cmd(vim.wo.diff and 'diffupdate' or 'diffthis')
        end
      end)
    end
  end
end

--- Closes the floating windows of each tab page whose ordinary windows all show one of `own`. Neovim crashes if a
--- tab page in the background loses its last ordinary window while a float remains (neovim#30425).
---@param own integer[]
function M.close_floats(own)
  for _, tab in ipairs(api.nvim_list_tabpages()) do
    local floating, ordinary = {}, {}
    for _, window in ipairs(api.nvim_tabpage_list_wins(tab)) do
      local is_floating = api.nvim_win_get_config(window).relative ~= ''
      table.insert(is_floating and floating or ordinary, window)
    end
    local is_closing = vim.tbl_isempty(vim.tbl_filter(function(window)
      return not vim.tbl_contains(own, api.nvim_win_get_buf(window))
    end, ordinary))
    for _, window in ipairs(is_closing and floating or {}) do
      -- It may have closed together with another one.
      pcall(api.nvim_win_close, window, true)
    end
  end
end

local function find_first_change(view, window)
  api.nvim_win_call(window, function()
    vim.cmd('keepjumps normal! gg')
    if view.layout == 'unified' then
      unified.go(view, 1, true)
    elseif vim.fn.diff_hlID(1, 1) == 0 and vim.fn.diff_filler(1) == 0 then
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
  if view.layout ~= 'unified' then
    local direction = view.layout == 'horizontal' and '' or 'vertical'
    pcall(vim.cmd, ('leftabove %s sbuffer %d'):format(direction, view.left))
  end
  view.windows = { right, vim.fn.win_findbuf(view.left)[1] }
  for _, window in ipairs(view.windows) do
    labels.set_statusline(window)
  end
  M.mark(view)
  M.go_to(right)
  find_first_change(view, right)
end

--- Selects again what Visual or Select mode had selected. Neovim ends these modes when it goes to another window.
local function restore_selection(mode)
  if mode:find('^[vV\22sS\19]') then
    vim.cmd('normal! gv' .. (mode:find('^[sS\19]') and '\7' or ''))
  end
end

--- Opens a tab page with two sides in the background, without editor events for other plugins. Sets its `windows`: the
--- right one, and the left one.
---@param view GeminiCompanion.View|GeminiCompanion.Comparison
function M.open_tab(view)
  local origin, mode = api.nvim_get_current_win(), api.nvim_get_mode().mode
  local _, ok, why = guard.without_events('all', function()
    local switching = vim.o.switchbuf
    -- A window may show the file already. Its buffer gets another one.
    vim.o.switchbuf = ''
    local is_open, problem = pcall(open_windows, view)
    vim.o.switchbuf = switching
    M.go_to(origin)
    restore_selection(mode)
    return is_open, problem
  end)
  if not ok then
    error(why, 0)
  end
end

return M
