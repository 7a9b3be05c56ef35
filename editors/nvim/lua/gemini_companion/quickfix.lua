-- Shows a list of the plugin in the quickfix window, where Enter goes to an entry.

local M = {}

--- The function that goes to an item of a list, by the context that identifies the list among the user's own.
---@type table<any, fun(item: table): boolean>
local go = {}

--- Goes to the entry in the current line.
local function enter()
  local list = vim.fn.getqflist({ context = 0, items = 0 })
  local item = list.items[vim.fn.line('.')]
  local go_to = item and go[list.context]
  if not (go_to and go_to(item)) then
    vim.cmd('.cc')
  end
end

--- Shows a list. Enter calls `go_to(item)`. If that returns false, Enter does what it does in other lists.
---@param title string
---@param items table[]
---@param context string
---@param go_to fun(item: table): boolean
function M.show(title, items, context, go_to)
  go[context] = go_to
  vim.fn.setqflist({}, ' ', { title = title, context = context, items = items })
  vim.cmd('botright copen')
  vim.keymap.set('n', '<CR>', enter, { buffer = 0, desc = 'go to the entry' })
end

return M
