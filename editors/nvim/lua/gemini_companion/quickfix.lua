-- Shows a list of the plugin in the quickfix window, where Enter goes to an entry.

local guard = require('gemini_companion.guard')

local M = {}

local DESCRIPTION = 'go to the entry'

--- The function that goes to an item of a list, by the context that identifies the list among the user's own.
---@type table<any, fun(item: table): boolean>
local go = {}

--- The mapping of Enter that another plugin has had, by buffer.
local others = {}

--- Returns the item in the current line of the quickfix window, and the context of its list.
local function current()
  if vim.bo.buftype ~= 'quickfix' or vim.fn.win_gettype() ~= 'quickfix' then
    return nil
  end
  local list = vim.fn.getqflist({ context = 0, items = 0 })
  return list.items[vim.fn.line('.')], list.context
end

--- Returns the item of a list in the current line, if the user is in that list.
---@param context string
function M.current(context)
  local item, found = current()
  return found == context and item or nil
end

local map

--- Goes to the entry in the current line. In a list of the user, runs the mapping of the other plugin in place of ours.
local function enter()
  local item, context = current()
  local go_to = item and go[context]
  local buffer = vim.api.nvim_get_current_buf()
  local other = others[buffer]
  if go_to and go_to(item) then
    return
  elseif go_to or not other then
    guard.try(vim.cmd, '.cc')
  else
    vim.keymap.del('n', '<CR>', { buffer = buffer })
    if other.buffer == 1 then
      vim.fn.mapset('n', false, other)
    end
    local count = vim.v.count > 0 and vim.v.count or ''
    vim.fn.feedkeys(count .. vim.keycode('<CR>'), 'im')
    -- Neovim reads the key first.
    vim.schedule_wrap(map)(buffer)
  end
end

function map(buffer)
  if vim.api.nvim_buf_is_valid(buffer) then
    vim.keymap.set('n', '<CR>', enter, { buffer = buffer, desc = DESCRIPTION })
  end
end

--- Goes to the list with that context if there is one: Neovim keeps ten lists, and the others are the user's. Returns
--- whether there is one.
local function reuse(context)
  for number = vim.fn.getqflist({ nr = '$' }).nr, 1, -1 do
    if vim.fn.getqflist({ nr = number, context = 0 }).context == context then
      vim.cmd(('silent %dchistory'):format(number))
      return true
    end
  end
  return false
end

--- Shows a list. Enter calls `go_to(item)`. If that returns false, Enter does what it does in other lists.
---@param title string
---@param items table[]
---@param context string
---@param go_to fun(item: table): boolean
function M.show(title, items, context, go_to)
  go[context] = go_to
  vim.fn.setqflist({}, reuse(context) and 'r' or ' ', { title = title, context = context, items = items })
  vim.cmd('botright copen')
  local other = vim.fn.maparg('<CR>', 'n', false, true)
  if other.lhs and other.desc ~= DESCRIPTION then
    others[vim.api.nvim_get_current_buf()] = other
  end
  map(vim.api.nvim_get_current_buf())
end

--- Returns a function for the new number of an item of `old` by its `user_data`. If the item is gone, the function
--- returns that of the next one that is left.
local function finder(old, new)
  local numbers = {}
  for number, item in ipairs(new) do
    numbers[vim.inspect(item.user_data)] = number
  end
  return function(number)
    for index = number, #old do
      local found = numbers[vim.inspect(old[index].user_data)]
      if found then
        return found
      end
    end
    return math.max(#new, 1)
  end
end

--- Replaces the items of a list, if it is the current one. The cursor and the place of `:cnext` stay on their items.
---@param context string
---@param items fun(): table[]
function M.update(context, items)
  local list = vim.fn.getqflist({ context = 0, id = 0, idx = 0, items = 0, qfbufnr = 0, title = 0 })
  if list.context ~= context then
    return
  end
  local new, lines = items(), {}
  local find_again = finder(list.items, new)
  for _, window in ipairs(vim.fn.win_findbuf(list.qfbufnr)) do
    lines[window] = find_again(vim.api.nvim_win_get_cursor(window)[1])
  end
  local index = find_again(math.max(list.idx, 1))
  vim.fn.setqflist({}, 'r', { id = list.id, title = list.title, items = new, idx = index })
  for window, line in pairs(lines) do
    vim.api.nvim_win_set_cursor(window, { line, 0 })
  end
end

return M
