-- Makes the commands that write changes and leave, such as `:x`, write an unchanged proposal as well: by
-- themselves they would close it, which rejects it.

local M = {}

local api = vim.api

--- The commands that write one buffer, and those that write all, by their full names.
local ONE = { xit = true, exit = true }
local ALL = { xall = true, wqall = true }

--- Whether a command line begins with a command that is to write the proposal of a view.
local function writes(view, line)
  local ok, command = pcall(api.nvim_parse_cmd, line, {})
  if not ok or #command.args > 0 then
    return false
  end
  return (ONE[command.cmd] and api.nvim_get_current_buf() == view.right) or (ALL[command.cmd] and view:is_current())
end

--- Listens for the commands, typed or in a mapping of the user's.
function M.listen(view, group)
  local function prepare(line)
    if writes(view, line) then
      vim.bo[view.right].modified = true
    end
  end
  api.nvim_create_autocmd('CmdlineLeave', {
    group = group,
    pattern = ':',
    callback = function()
      if not vim.v.event.abort then
        prepare(vim.fn.getcmdline())
      end
    end,
  })
  local options = { buffer = view.right, desc = 'accept the proposal of the CLI' }
  vim.keymap.set('n', 'ZZ', '<Cmd>wq<CR>', options)
  for _, mapping in ipairs(api.nvim_get_keymap('n')) do
    local line = (mapping.rhs or ''):match('^<[Cc][Mm][Dd]>(.*)<[Cc][Rr]>$')
    if line then
      vim.keymap.set('n', mapping.lhs, function()
        prepare(line)
        return mapping.rhs
      end, { buffer = view.right, expr = true, desc = mapping.desc })
    end
  end
end

return M
