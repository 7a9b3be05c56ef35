-- Makes the commands that write changes and leave, such as `:x`, accept an unchanged proposal as well: by
-- themselves they would close it, which rejects it.

local M = {}

local api = vim.api

--- The commands by their full names: whether they write all buffers, or the current one.
local WRITES_ALL = { xit = false, exit = false, xall = true, wqall = true }

--- Returns whether a command line writes all buffers as it leaves, and whether with `!`; nil if it does not
--- begin with such a command.
local function parse(line)
  local ok, command = pcall(api.nvim_parse_cmd, line, {})
  if ok and #command.args == 0 then
    return WRITES_ALL[command.cmd], command.bang
  end
end

--- Prepares a view for a command line. Returns whether Neovim may leave: it would without a proposal that
--- could not be accepted, or with changes of the user's that are not in sight.
local function prepare(view, line)
  local writes_all, insists = parse(line)
  if view.closing then
    return true
  elseif writes_all and view:is_current() then
    return view.on.accept(insists)
  elseif writes_all and select(2, view:proposal()) then
    view.on.waits()
    return false
  elseif writes_all == false and api.nvim_get_current_buf() == view.right then
    vim.bo[view.right].modified = true
  end
  return true
end

--- Listens for the commands, typed or in a mapping of the user's.
---@param view GeminiCompanion.View
---@param group integer
function M.listen(view, group)
  api.nvim_create_autocmd('CmdlineLeave', {
    group = group,
    pattern = ':',
    callback = function()
      if not vim.v.event.abort and not prepare(view, vim.fn.getcmdline()) then
        vim.cmd('let v:event.abort = v:true')
      end
    end,
  })
  local options = { buffer = view.right, desc = 'accept the proposal of the CLI' }
  vim.keymap.set('n', 'ZZ', '<Cmd>wq<CR>', options)
  for _, mapping in ipairs(api.nvim_get_keymap('n')) do
    local line = (mapping.rhs or ''):match('^<[Cc][Mm][Dd]>(.*)<[Cc][Rr]>$')
    if line and parse(line) ~= nil then
      vim.keymap.set('n', mapping.lhs, function()
        if prepare(view, line) then
          api.nvim_feedkeys(api.nvim_replace_termcodes(mapping.rhs, true, true, true), 'in', false)
        end
      end, options)
    end
  end
end

return M
