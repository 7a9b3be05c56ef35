-- Makes the commands that write changes and leave, such as `:x`, write an unchanged proposal as well: by
-- themselves they would close it, which rejects it.

local M = {}

local api = vim.api

--- The commands by their full names: whether they write all buffers, or the current one.
local WRITES_ALL = { xit = false, exit = false, xall = true, wqall = true }

--- Returns whether a command line writes all buffers as it leaves; nil if it does not begin with such a command.
local function writes_all(line)
  local ok, command = pcall(api.nvim_parse_cmd, line, {})
  if ok and #command.args == 0 then
    return WRITES_ALL[command.cmd]
  end
end

--- Listens for the commands, typed or in a mapping of the user's.
function M.listen(view, group)
  local function prepare(line)
    local all = writes_all(line)
    if (all and view:is_current()) or (all == false and api.nvim_get_current_buf() == view.right) then
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
    if line and writes_all(line) ~= nil then
      vim.keymap.set('n', mapping.lhs, function()
        prepare(line)
        return mapping.rhs
      end, { buffer = view.right, expr = true, desc = mapping.desc })
    end
  end
end

return M
