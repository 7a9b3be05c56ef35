-- Owns the question before a proposal is accepted whose file is not as it was when it came.

local file = require('gemini_companion.file')

local M = {}

local QUESTION = [[
%s is not as it was when the CLI made its proposal.
Gemini CLI writes the whole file as proposed: what has changed meanwhile is lost.
Qwen Code does not write it, and has the model read the file again.
Accept anyway?]]

--- Whether the proposal in a view is accepted. `before` are the bytes that its file had, or nil if there
--- was none.
function M.is_accepted(view, before)
  if file.read(view.path) == before then
    return true
  end
  view:show_file()
  vim.cmd('redraw')
  if vim.fn.confirm(QUESTION:format(vim.fn.fnamemodify(view.path, ':~:.')), '&Yes\n&No', 2) == 1 then
    return true
  end
  -- Otherwise `:wq` would close it next, which is to reject it.
  vim.bo[view.right].modified = true
  return false
end

return M
