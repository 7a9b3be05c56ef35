-- Notices that the user undoes the revert of a file, or makes it again, by the text of its buffer.

local M = {}

local api = vim.api

local GROUP = 'gemini_companion_undone'

--- Returns what identifies the text of a buffer.
---@param buffer integer
---@return GeminiCompanion.TextMark
function M.mark(buffer)
  local lines = api.nvim_buf_get_lines(buffer, 0, -1, false)
  return { count = #lines, hash = vim.fn.sha256(table.concat(lines, '\n')) }
end

local function is_at(buffer, mark)
  return api.nvim_buf_line_count(buffer) == mark.count and M.mark(buffer).hash == mark.hash
end

--- Watches a buffer whose text a revert has changed. `is_reverted` returns whether the file is listed as reverted; nil
--- ends the watch. Passes to `tell` whether the text of the revert is there, each time that this changes.
---@param buffer integer
---@param before GeminiCompanion.TextMark
---@param is_reverted fun(): boolean?
---@param tell fun(reverted: boolean)
function M.watch(buffer, before, is_reverted, tell)
  local after = M.mark(buffer)
  if after.hash == before.hash then
    return
  end
  api.nvim_create_autocmd('TextChanged', {
    group = api.nvim_create_augroup(GROUP, { clear = false }),
    buffer = buffer,
    callback = function()
      local reverted = is_reverted()
      if reverted and is_at(buffer, before) then
        tell(false)
      elseif reverted == false and is_at(buffer, after) then
        tell(true)
      end
      -- The result true removes this autocommand.
      return reverted == nil
    end,
  })
end

--- Ends all watches.
function M.stop()
  api.nvim_create_augroup(GROUP, { clear = true })
end

return M
