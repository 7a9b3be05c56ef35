-- Notices that the user undoes a change of a buffer, and that the user makes it again.

local M = {}

local api = vim.api

local group = api.nvim_create_augroup('gemini_companion_undone', {})

local function position(buffer)
  return api.nvim_buf_call(buffer, vim.fn.undotree).seq_cur
end

--- Watches the latest change of a buffer. Passes to `tell` whether it is undone, each time that this changes, until
--- `tell` returns false.
---@param buffer integer
---@param tell fun(is_undone: boolean): boolean
function M.watch(buffer, tell)
  local watched = position(buffer)
  local is_undone = false
  api.nvim_create_autocmd('TextChanged', {
    group = group,
    buffer = buffer,
    callback = function()
      -- A later edit leads to a later position, also if the change is undone.
      local now = position(buffer)
      local was_undone = is_undone
      is_undone = now < watched or (is_undone and now ~= watched)
      -- The result true removes this autocommand.
      return is_undone ~= was_undone and not tell(is_undone)
    end,
  })
end

return M
