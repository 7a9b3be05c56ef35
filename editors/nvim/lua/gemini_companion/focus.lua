-- Decides whether a proposal may take the focus. The next key of the user goes to the window with the focus, where it
-- could change or decide a proposal that the user has not seen.

local buffers = require('gemini_companion.buffer')

local M = {}

local api = vim.api

--- Returns whether the user looks at a proposal, a comparison or another diff in the current tab page.
local function is_reviewing()
  if vim.wo.diff then
    return true
  end
  for _, window in ipairs(api.nvim_tabpage_list_wins(0)) do
    if buffers.is_own(api.nvim_win_get_buf(window)) then
      return true
    end
  end
  return false
end

--- Returns whether Neovim forbids changes of windows and texts, as while a completion function or an `<expr>` mapping
--- runs.
local function is_locked()
  -- The function checks that before the buffer, which does not exist.
  local _, why = pcall(api.nvim_buf_delete, -1, {})
  return tostring(why):find('E565') ~= nil
end

--- Returns what the user is doing, as Neovim's functions say it.
function M.situation()
  local now = api.nvim_get_mode()
  return {
    mode = now.mode,
    is_blocking = now.blocking,
    is_locked = is_locked(),
    state = vim.fn.state(),
    has_macro = vim.fn.reg_recording() ~= '' or vim.fn.reg_executing() ~= '',
    window = vim.fn.win_gettype(),
    is_reviewing = is_reviewing(),
  }
end

--- Returns whether windows may open and close: not while the user types a command, answers a question, or is between
--- an operator, a count or a register and the rest of the command.
---@param situation table
function M.is_idle(situation)
  local mode = situation.mode
  return not situation.is_blocking
    and not situation.is_locked
    and situation.window ~= 'command'
    and not mode:find('^[cr!]')
    and not mode:find('^no')
    -- `o`: a register or an operator. `S`: a plugin reads a key, or the command after i_CTRL-O.
    and not (mode:find('^[nvVsS\22\19]') and situation.state:find('[oS]'))
end

--- Returns `take` if a proposal may take the focus, `wait` if it may ask again soon, and `stay` if it may not.
---@param situation table
---@return 'take'|'wait'|'stay'
function M.decide(situation)
  -- Floats, quickfix lists and the like have a type.
  local has_other_window = situation.window ~= '' and situation.window ~= 'command'
  if situation.is_reviewing or situation.has_macro or has_other_window then
    return 'stay'
  elseif not M.is_idle(situation) or situation.state:find('[mx]') then
    return 'wait'
  end
  -- `nt` is Normal mode in a terminal. The `ni…` modes lead back to Insert mode.
  local is_normal = situation.mode == 'n' or situation.mode == 'nt'
  return is_normal and 'take' or 'stay'
end

return M
