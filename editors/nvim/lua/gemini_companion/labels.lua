-- Gives the buffers of the plugin short names in the status line and the tab line, unless the user has own lines.

local M = {}

local api = vim.api

local TABLINE = "%!v:lua.require'gemini_companion.labels'.tabline()"
--- Much like the default of Neovim, with a name in place of the path.
local STATUSLINE = '%%<%s %%m%%r%%= %%l,%%c%%V %%P'

--- The words after a file name, by the kind of the buffer.
local KINDS = { proposal = 'proposal', file = 'on disk', before = 'before', kept = 'your text' }

--- Returns the short name of a buffer of the plugin, or nil.
---@param buffer integer
function M.of(buffer)
  local kind, path = api.nvim_buf_get_name(buffer):match('^gemini%-companion://(%l+)(.+)$')
  return kind and ('%s (%s)'):format(vim.fn.fnamemodify(path, ':t'), KINDS[kind] or kind)
end

local function escape(words)
  return (words:gsub('%%', '%%%%'))
end

--- Returns whether an option has the default of Neovim.
local function is_default(name)
  return vim.go[name] == api.nvim_get_option_info2(name, {}).default
end

--- Sets the status line of a window that shows a buffer of the plugin.
---@param window integer
function M.set_statusline(window)
  local name = M.of(api.nvim_win_get_buf(window))
  if name and is_default('statusline') then
    vim.wo[window][0].statusline = STATUSLINE:format(escape(name))
  end
end

--- The open views and comparisons.
local open = {}

--- Sets the tab line while a view or a comparison is open. A session may have set it as well.
function M.update()
  if next(open) and is_default('tabline') then
    vim.o.tabline = TABLINE
  elseif not next(open) and vim.o.tabline == TABLINE then
    vim.o.tabline = ''
  end
end

---@param view GeminiCompanion.View|GeminiCompanion.Comparison
---@param is_open boolean
function M.follow(view, is_open)
  open[view] = is_open or nil
  M.update()
end

local function tab_label(tab)
  local window = api.nvim_tabpage_get_win(tab)
  local buffer = api.nvim_win_get_buf(window)
  local name = M.of(buffer)
  if not name then
    local path = vim.fn.bufname(buffer)
    name = path == '' and '[No Name]' or vim.fn.pathshorten(vim.fn.fnamemodify(path, ':~:.'))
  end
  local windows = api.nvim_tabpage_list_wins(tab)
  local is_modified = #vim.tbl_filter(function(one)
    return vim.bo[api.nvim_win_get_buf(one)].modified
  end, windows) > 0
  local count = #windows > 1 and ('%%#Title#%d%%*'):format(#windows) or ''
  local marks = count .. (is_modified and '+' or '')
  return (marks ~= '' and marks .. ' ' or '') .. escape(name)
end

--- Returns the tab line, like the default of Neovim.
function M.tabline()
  local parts = {}
  for number, tab in ipairs(api.nvim_list_tabpages()) do
    local group = tab == api.nvim_get_current_tabpage() and 'TabLineSel' or 'TabLine'
    local label = tab_label(tab):gsub('%%%*', '%%#' .. group .. '#')
    parts[#parts + 1] = ('%%#%s#%%%dT %s '):format(group, number, label)
  end
  local close = #parts > 1 and '%=%#TabLine#%999XX' or ''
  return table.concat(parts) .. '%#TabLineFill#%T' .. close
end

return M
