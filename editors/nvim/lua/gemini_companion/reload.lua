-- Reloads the buffers of files that the CLI writes, with a proposal or without. Nothing is lost by it.

local file = require('gemini_companion.file')
local idle = require('gemini_companion.idle')
local kept = require('gemini_companion.kept')
local log = require('gemini_companion.log')

local M = {}

local api = vim.api

--- How often it is looked at, at first and later, and for how long before the user is told.
local EVERY_MS = 100
local LATER_MS = 1000
local PATIENCE_MS = 10000

--- Runs while files are looked at that no proposal is for.
local timer

--- Has the buffer of a file that was written read it again. One with changes that were not saved
--- is left as it is, and the user is told.
---@param path string
---@param is_new? boolean
function M.reload(path, is_new)
  local buffer = file.buffer(path)
  if not buffer then
    return
  end
  if vim.bo[buffer].modified then
    local name = vim.fn.fnamemodify(path, ':~:.')
    log.warn(name .. ' was written, but its buffer has changes: :e! drops them, :w! drops the edit')
  elseif is_new then
    -- Autocommands of the user's may fail.
    pcall(api.nvim_buf_call, buffer, function()
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
    pcall(vim.cmd, 'silent checktime ' .. buffer)
    pcall(api.nvim_del_autocmd, reading)
  end
end

--- Has a buffer without changes read its file again if that has changed; only with 'autoread', otherwise Neovim
--- would ask. Returns whether the buffer has the file's text now.
---@param buffer integer
---@return boolean
function M.refresh(buffer)
  if vim.bo[buffer].modified or vim.fn.getbufvar(buffer, '&autoread') ~= 1 then
    return false
  end
  -- An autocommand of the user's may fail then.
  pcall(vim.cmd, 'silent! checktime ' .. buffer)
  return true
end

local function refresh_all()
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == '' then
      M.refresh(buffer)
    end
  end
end

--- Looks for changed files from now on while `is_needed()`: a CLI may write without a proposal.
---@param is_needed fun(): boolean
function M.start(is_needed)
  timer = vim.uv.new_timer()
  local function look()
    if is_needed() then
      idle.when_idle(refresh_all, 0, function() end)
    end
  end
  timer:start(LATER_MS, LATER_MS, vim.schedule_wrap(look))
end

function M.stop()
  if timer then
    timer:close()
    timer = nil
  end
end

--- Waits ten seconds until the file, which was as `before` says, is written, and has it read again.
--- With `written`, which is the text that the user has written, that is to be what is written; until it is,
--- however late, it is kept. While `is_busy()` its CLI may write it later: Qwen Code writes all files of a
--- turn at its end.
---@param path string
---@param before? string
---@param written? GeminiCompanion.Text
---@param is_busy fun(): boolean?
function M.expect(path, before, written, is_busy)
  local held = written and kept.hold(path, written)
  local waited, is_written, is_offered = 0, false, false
  -- What the user saves is no CLI's.
  local saving = api.nvim_create_autocmd('BufWritePost', {
    callback = function(event)
      if event.buf == file.buffer(path) then
        before = file.state(path)
      end
    end,
  })
  local function look()
    -- In the command-line window nothing can be read.
    if vim.fn.getcmdwintype() ~= '' then
      return vim.defer_fn(look, EVERY_MS)
    end
    local state = file.state(path)
    local is_changed = state ~= before
    if is_changed then
      M.reload(path, before == nil)
      before, is_written = state, true
    end
    local is_late = waited >= PATIENCE_MS
    -- A file that has just changed may be half written.
    local is_done = (is_written and not is_changed) or (is_late and not is_offered)
    if held then
      is_done = not kept.is_held(held) or (is_done and kept.is_written(path, written))
    end
    if is_done then
      api.nvim_del_autocmd(saving)
      if held then
        kept.release(held)
      end
      return
    end
    if is_late and not is_offered then
      is_offered = true
      kept.offer(held, path)
    end
    local pause = is_late and LATER_MS or EVERY_MS
    waited = waited + (is_busy() and 0 or pause)
    vim.defer_fn(look, pause)
  end
  vim.defer_fn(look, EVERY_MS)
end

return M
