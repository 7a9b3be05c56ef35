-- Owns the look at a file that the CLI is about to write: its buffer is to show what was written,
-- and to lose nothing.

local file = require('gemini_companion.file')
local kept = require('gemini_companion.kept')
local log = require('gemini_companion.log')

local M = {}

local api = vim.api

local EVERY_MS = 100
local TIMES = 100

--- Has the buffer of a file that was written read it again. One with changes that were not saved
--- is left as it is, and the user is told.
function M.reload(path, is_new)
  local buffer = file.buffer(path)
  if not buffer then
    return
  end
  if vim.bo[buffer].modified then
    local name = vim.fn.fnamemodify(path, ':~:.')
    log.warn(name .. ' was written, but its buffer has changes: :e! drops them, :w! drops the edit')
  elseif is_new then
    api.nvim_buf_call(buffer, function()
      vim.cmd('silent edit')
    end)
  else
    -- The user has seen and accepted it, so there is nothing to be asked.
    local reading = api.nvim_create_autocmd('FileChangedShell', {
      buffer = buffer,
      callback = function()
        vim.v.fcs_choice = 'reload'
      end,
    })
    vim.cmd('silent checktime ' .. buffer)
    pcall(api.nvim_del_autocmd, reading)
  end
end

--- Waits until the file, which was as `before` says, is written, some seconds, and has it read again.
--- With `written`, which is the text that the user has written, that is to be what is written; if it is not,
--- it is kept.
function M.expect(path, before, written)
  local times = 0
  local function look()
    times = times + 1
    local state = file.state(path)
    local is_changed = state ~= before
    if is_changed then
      M.reload(path, before == nil)
      before = state
    end
    local is_last = times == TIMES
    if is_changed or is_last then
      if not written or kept.is_written(path, written) then
        return
      end
    end
    if is_last then
      kept.offer(path, written)
    else
      vim.defer_fn(look, EVERY_MS)
    end
  end
  vim.defer_fn(look, EVERY_MS)
end

return M
