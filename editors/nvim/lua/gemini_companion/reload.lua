-- Owns the look at a file that the CLI is about to write: its buffer is to show what was written,
-- and to lose nothing.

local file = require('gemini_companion.file')
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

--- Waits until the file is written, some seconds, and has it read again.
function M.expect(path)
  local before = file.state(path)
  local times = 0
  local function look()
    times = times + 1
    if file.state(path) ~= before then
      M.reload(path, before == nil)
    elseif times < TIMES then
      vim.defer_fn(look, EVERY_MS)
    end
  end
  vim.defer_fn(look, EVERY_MS)
end

return M
