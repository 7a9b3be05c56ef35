-- Makes commands that write and quit, such as `:x`, accept an unchanged proposal. Neovim itself would only close its
-- window, and that rejects the proposal.

local M = {}

local api = vim.api

--- Whether a command writes all buffers (true) or the current one (false), by its full name.
local WRITES_ALL = { xit = false, exit = false, xall = true, wqall = true }

--- Returns whether a command line writes all buffers before it quits, and whether it has a `!`. Returns nil for any
--- other command.
local function parse(line)
  local ok, command = pcall(api.nvim_parse_cmd, line, {})
  if ok and #command.args == 0 then
    return WRITES_ALL[command.cmd], command.bang
  end
end

--- Prepares a view for a command line. Returns whether Neovim may run it. It may not if the proposal can't be accepted,
--- or if the user's changes are not visible: both would be lost.
local function prepare(view, line)
  local writes_all, insists = parse(line)
  if view.closing then
    return true
  elseif writes_all and view:is_current() then
    return view.on.accept(insists)
  elseif writes_all and select(2, view:proposal()) then
    view.on.remind()
    return false
  elseif writes_all == false and api.nvim_get_current_buf() == view.right then
    vim.bo[view.right].modified = true
  end
  return true
end

--- Listens for the commands, typed or in a `<Cmd>` mapping. A Lua function that runs `:x` is not recognized: Neovim
--- sends the same editor events as for `:q`.
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
