-- Reloads the buffers of files that a CLI has written. Buffers with unsaved changes stay as they are.

local file = require('gemini_companion.file')
local idle = require('gemini_companion.idle')
local drafts = require('gemini_companion.drafts')
local log = require('gemini_companion.log')

local M = {}

local api = vim.api

--- How often an accepted file is checked, until the CLI should have written it.
local POLL_INTERVAL_MS = 100
local WRITE_TIMEOUT_MS = 10000
--- How often it is checked after that, and how often all files are checked.
local SLOW_POLL_INTERVAL_MS = 1000

--- Checks files that a CLI may write without a proposal.
local timer

--- Reloads the buffer of a file that a CLI has written. If the buffer has unsaved changes, warns the user instead.
---@param path string
---@param is_new? boolean
function M.reload(path, is_new)
  local buffer = file.buffer(path)
  if not buffer then
    return
  end
  if vim.bo[buffer].modified then
    local name = vim.fn.fnamemodify(path, ':~:.')
    log.warn(name .. " changed on disk, but its buffer has unsaved changes: :e! loads the CLI's text, :w! keeps yours")
  elseif is_new then
    -- The user's autocommands may fail.
    pcall(api.nvim_buf_call, buffer, function()
      vim.cmd('silent edit')
    end)
  else
    -- The user has accepted this text, so Neovim need not ask.
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

--- Reloads a buffer without unsaved changes if its file has changed. Only with 'autoread', since Neovim would
--- otherwise ask the user. Returns whether the buffer has the file's text now.
---@param buffer integer
---@return boolean
function M.refresh(buffer)
  if vim.bo[buffer].modified or vim.fn.getbufvar(buffer, '&autoread') ~= 1 then
    return false
  end
  -- The user's autocommands may fail.
  pcall(vim.cmd, 'silent! checktime ' .. buffer)
  return true
end

--- Reloads all buffers without unsaved changes whose files have changed; see `refresh`.
local function refresh_all()
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == '' then
      M.refresh(buffer)
    end
  end
end

local is_waiting = false

--- Reloads changed files as soon as that disturbs no question, also those in hidden buffers.
function M.refresh_soon()
  if is_waiting then
    return
  end
  is_waiting = true
  idle.when_idle(function()
    is_waiting = false
    refresh_all()
  end)
end

--- Starts to reload changed files while `is_needed()`: a CLI may write a file without a proposal.
---@param is_needed fun(): boolean
function M.start(is_needed)
  timer = vim.uv.new_timer()
  local function poll()
    if is_needed() then
      idle.when_idle(refresh_all, 0, function() end)
    end
  end
  timer:start(SLOW_POLL_INTERVAL_MS, SLOW_POLL_INTERVAL_MS, vim.schedule_wrap(poll))
end

function M.stop()
  if timer then
    timer:close()
    timer = nil
  end
end

--- Waits until the CLI has written a file, and reloads its buffer. Gives up after ten seconds, unless the user has
--- changed the proposal: `written` is then kept until the file has this text. The time does not run while
--- `is_busy()`, since Qwen Code writes all files of a turn at its end.
---@param path string
---@param before? string the `file.state` at the decision
---@param written? GeminiCompanion.Text the text with the user's changes
---@param is_busy fun(): boolean?
function M.expect(path, before, written, is_busy)
  local held = written and drafts.hold(path, written)
  local waited, is_written, is_offered = 0, false, false
  -- A write by the user does not count.
  local saving = api.nvim_create_autocmd('BufWritePost', {
    callback = function(event)
      if event.buf == file.buffer(path) then
        before = file.state(path)
      end
    end,
  })
  local function poll()
    -- Neovim can't read files in the command-line window.
    if vim.fn.getcmdwintype() ~= '' then
      return vim.defer_fn(poll, POLL_INTERVAL_MS)
    end
    local state = file.state(path)
    local is_changed = state ~= before
    if is_changed then
      M.reload(path, before == nil)
      before, is_written = state, true
    end
    local is_late = waited >= WRITE_TIMEOUT_MS
    -- A file that has just changed may be half written.
    local is_done = (is_written and not is_changed) or (is_late and not is_offered)
    if held then
      is_done = not drafts.is_held(held) or (is_done and drafts.is_written(path, written))
    end
    if is_done then
      api.nvim_del_autocmd(saving)
      if held then
        drafts.release(held)
      end
      return
    end
    if is_late and not is_offered then
      is_offered = true
      drafts.offer(held, path)
    end
    local pause = is_late and SLOW_POLL_INTERVAL_MS or POLL_INTERVAL_MS
    waited = waited + (is_busy() and 0 or pause)
    vim.defer_fn(poll, pause)
  end
  vim.defer_fn(poll, POLL_INTERVAL_MS)
end

return M
