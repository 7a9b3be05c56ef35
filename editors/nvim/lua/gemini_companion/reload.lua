-- Reloads the buffers of files that a CLI has written. Buffers with unsaved changes stay as they are.

local buffers = require('gemini_companion.buffer')
local file = require('gemini_companion.file')
local guard = require('gemini_companion.guard')
local idle = require('gemini_companion.idle')
local log = require('gemini_companion.log')
local proposals = require('gemini_companion.proposals')
local server = require('gemini_companion.server')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

M.IN_USE = 'the user is working in its buffer'

--- How often an accepted file is checked, until the CLI should have written it.
local POLL_INTERVAL_MS = 100
local WRITE_TIMEOUT_MS = 10000
--- How often all files are checked.
local SLOW_POLL_INTERVAL_MS = 1000

--- How many times as long as the last reload of a buffer the next one waits. A program may write a large file, such
--- as a log, all the time, and Neovim is blocked while it reads.
local REST_FACTOR = 20
--- The longest time of a reload that counts for that. The user's autocommands may take long as well.
local MAX_RELOAD_NS = 0.5e9

--- Checks files that a CLI may write without a proposal.
local timer
--- The `file.state` of each buffer's file at the last reload or check.
local states = {}
--- The end of each buffer's pause after its last reload, by `vim.uv.hrtime()`.
local rest_ends = {}
--- Whether the last check of all files has left out a buffer in its pause.
local is_resting = false

--- Returns whether a buffer has another text than its file, as far as both can be compared.
---@param buffer integer
---@param name string
local function has_other_text(buffer, name)
  if not api.nvim_buf_is_valid(buffer) then
    -- An autocommand of the user has deleted it.
    return false
  end
  local options = vim.bo[buffer]
  local bytes = file.read(name)
  if not bytes or bytes:find('\0', 1, true) or options.fileformat == 'mac' then
    return false
  end
  local is_utf8 = options.fileencoding == '' or options.fileencoding == 'utf-8'
  return is_utf8 and bytes ~= text.render(buffers.parsed(buffer))
end

--- Runs the command that reads the file of a buffer. An error of the user's autocommands does not stop it. `is_newer`
--- says whether the file is known to have changed, and `is_noticed` whether Neovim has noticed a change.
local function read_silently(buffer, name, is_newer, is_noticed)
  -- `:checktime` would keep the empty line.
  local must_edit = buffers.has_empty_line(buffer) and has_other_text(buffer, name)
  if not must_edit then
    vim.cmd('silent! checktime ' .. buffer)
    -- Neovim takes a time for the same that is exactly a second later. File systems count it in steps of milliseconds.
    must_edit = is_newer and not is_noticed() and has_other_text(buffer, name)
  end
  if must_edit then
    api.nvim_buf_call(buffer, function()
      vim.cmd('silent! edit')
    end)
  end
end

--- Reads the file of a buffer again. Detects its line endings and encoding again as well, as `:edit` does; the user
--- has decided for the text, so Neovim need not ask. See `read_silently` for `is_newer`.
local function read_again(buffer, is_newer)
  local name = api.nvim_buf_get_name(buffer)
  if not vim.uv.fs_stat(name) then
    -- Neovim itself says that the file is gone, once. It must not do so here.
    return
  end
  states[buffer] = file.state(name)
  local options = vim.bo[buffer]
  local own = api.nvim_get_option_value('autoread', { buf = buffer, scope = 'local' })
  local is_noticed = false
  local reading = api.nvim_create_autocmd('FileChangedShell', {
    buffer = buffer,
    callback = function()
      is_noticed = true
      vim.v.fcs_choice = vim.v.fcs_reason == 'deleted' and 'ask' or 'edit'
    end,
  })
  -- With 'autoread', Neovim keeps the form of the old text, and does not ask the autocommand.
  guard.quietly(function()
    options.autoread = false
  end)
  local message = vim.v.errmsg
  vim.v.errmsg = ''
  local ok, why = pcall(read_silently, buffer, name, is_newer, function()
    return is_noticed
  end)
  why = ok and vim.v.errmsg or why
  -- A plugin that suppresses an error by `:silent!` sets the variable as well.
  if why ~= '' and (not ok or has_other_text(buffer, name)) then
    log.warn(('reloading %s: %s'):format(file.short(name), guard.reason(why)))
  end
  vim.v.errmsg = message
  pcall(api.nvim_del_autocmd, reading)
  if api.nvim_buf_is_valid(buffer) then
    guard.quietly(function()
      options.autoread = own
    end)
  end
end

--- Reloads the buffer of a file that a CLI has written. If the buffer has unsaved changes, warns the user instead.
---@param path string
function M.reload(path)
  local buffer = file.buffer(path)
  if not buffer then
    return
  end
  if vim.bo[buffer].modified then
    local name = file.short(path)
    log.warn(name .. " changed on disk, but its buffer has unsaved changes: :e! loads the CLI's text, :w! keeps yours")
  else
    read_again(buffer, true)
  end
end

--- Reloads a buffer without unsaved changes if its file has changed. Only with 'autoread', since Neovim would
--- otherwise ask the user. Returns whether the buffer has the file's text now, and if not, the reason.
---@param buffer integer
function M.refresh(buffer)
  if vim.bo[buffer].modified then
    return false, 'its buffer has unsaved changes'
  elseif vim.fn.getbufvar(buffer, '&autoread') ~= 1 then
    return false, "with 'noautoread', its buffer may have an older text"
  end
  local state = file.state(api.nvim_buf_get_name(buffer))
  if state and state ~= states[buffer] then
    -- Neovim reads no file in the command-line window.
    if vim.fn.getcmdwintype() ~= '' or idle.is_busy_in(buffer) then
      return false, M.IN_USE
    end
    local began = vim.uv.hrtime()
    -- At the first check, the buffer of an unchanged file may have another text, as a plugin shows it.
    read_again(buffer, states[buffer] ~= nil)
    local ended = vim.uv.hrtime()
    rest_ends[buffer] = ended + REST_FACTOR * math.min(ended - began, MAX_RELOAD_NS)
  end
  return true
end

--- Reloads all buffers without unsaved changes whose files have changed; see `refresh`. Returns whether none must wait
--- for the user.
local function refresh_all()
  local is_done = true
  is_resting = false
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == '' then
      if vim.uv.hrtime() < (rest_ends[buffer] or 0) then
        is_resting = true
      else
        local _, why = M.refresh(buffer)
        is_done = is_done and why ~= M.IN_USE
      end
    end
  end
  return is_done
end

local is_waiting = false

--- Reloads changed files as soon as that disturbs the user in nothing, also those in hidden buffers.
function M.refresh_soon()
  if is_waiting then
    return
  end
  is_waiting = true
  local function refresh()
    is_waiting = false
    if timer and not refresh_all() then
      vim.defer_fn(M.refresh_soon, POLL_INTERVAL_MS)
    end
  end
  idle.when_idle(refresh)
end

--- Starts to reload changed files while CLIs are connected: they may write files without a proposal.
function M.start()
  api.nvim_create_autocmd('BufWritePost', {
    group = api.nvim_create_augroup('gemini_companion_reload', {}),
    callback = function(event)
      if file.is_own(event.buf, event.match) then
        -- The user's formatter may have changed the file after Neovim has written it.
        states[event.buf] = nil
      end
    end,
  })
  timer = vim.uv.new_timer()
  local function poll()
    local status = server.status()
    if (status and status.clients > 0) or is_resting then
      idle.when_idle(refresh_all, 0, function() end)
    end
  end
  timer:start(SLOW_POLL_INTERVAL_MS, SLOW_POLL_INTERVAL_MS, vim.schedule_wrap(poll))
end

function M.stop()
  if timer then
    api.nvim_del_augroup_by_name('gemini_companion_reload')
    timer:close()
    timer = nil
  end
end

--- Waits until the CLI has written a file, and reloads its buffer. Gives up after ten seconds. The time does not run
--- while `cli` has a proposal open, since Qwen Code writes all files of a turn at its end.
---@param path string
---@param before? string the `file.state` at the decision
---@param cli? integer
function M.expect(path, before, cli)
  local waited, is_written = 0, false
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
    local buffer = file.buffer(path)
    local must_wait = state ~= before and buffer ~= nil and idle.is_busy_in(buffer)
    local is_changed = state ~= before and not must_wait
    if is_changed then
      M.reload(path)
      before, is_written = state, true
    end
    -- A file that has just changed may be half written.
    local is_done = is_written and not is_changed and not must_wait
    if is_done or waited >= WRITE_TIMEOUT_MS then
      api.nvim_del_autocmd(saving)
      return
    end
    waited = waited + ((must_wait or proposals.is_asking(cli)) and 0 or POLL_INTERVAL_MS)
    vim.defer_fn(poll, POLL_INTERVAL_MS)
  end
  vim.defer_fn(poll, POLL_INTERVAL_MS)
end

return M
