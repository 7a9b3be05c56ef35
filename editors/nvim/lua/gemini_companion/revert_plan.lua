-- Carries out the companion's plan of a revert. Asks the plan's question first.

local buffers = require('gemini_companion.buffer')
local compare = require('gemini_companion.compare')
local file = require('gemini_companion.file')
local guard = require('gemini_companion.guard')
local idle = require('gemini_companion.idle')
local log = require('gemini_companion.log')
local prompts = require('gemini_companion.prompts')
local reload = require('gemini_companion.reload')
local server = require('gemini_companion.server')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

--- Returns the texts of a file at this moment, `{disk, unsaved}`, or nil and the reason.
local function texts_now(path)
  local disk, why = file.read(path)
  if why then
    return nil, why
  end
  local buffer = file.buffer(path)
  return { disk = disk, unsaved = buffer and vim.bo[buffer].modified and text.render(buffers.parsed(buffer)) or nil }
end

--- Shows the text that the CLI left beside the file.
local function show_differences(change, path)
  compare.open(change, path, function(kept)
    local bars = { 'As the CLI left it', 'Now' }
    return { key = 'left ' .. prompts.key(change), path = path, content = kept.after, bars = bars }
  end)
end

--- Returns the files to revert, after a question if there is something to ask.
local function ask(change, files, question)
  if not question then
    return files
  elseif #files == 1 then
    local planned = files[1]
    local verb = planned.action == 'delete' and 'Delete' or 'Revert'
    local choices = planned.differs and '&%s\n&Show differences\n&Cancel' or '&%s\n&Cancel'
    local answer = vim.fn.confirm(question, choices:format(verb), planned.differs and 3 or 2)
    if planned.differs and answer == 2 then
      show_differences(change, planned.path)
    end
    return answer == 1 and files or {}
  end
  local rest = vim.tbl_filter(function(planned)
    return not planned.warning
  end, files)
  local choices = #rest > 0 and '&All\n&Only the others\n&Cancel' or '&All\n&Cancel'
  local answer = vim.fn.confirm(question, choices, #rest > 0 and 3 or 2)
  return answer == 1 and files or (answer == 2 and rest) or {}
end

--- Writes a buffer to its file, byte for byte: without the user's formatters. `content` is its text.
local function write(buffer, path, content)
  local options = vim.bo[buffer]
  local fix = options.fixendofline
  options.fixendofline = false
  local _, why = pcall(api.nvim_buf_call, buffer, function()
    vim.cmd('silent write! ++p')
  end)
  if not api.nvim_buf_is_valid(buffer) then
    -- An autocommand of the user has deleted it after the write.
    return file.read(path) == content, guard.reason(why)
  end
  options.fixendofline = fix
  -- The user's autocommands may have failed after the write.
  return not options.modified, ('its buffer has the text from before, unsaved: %s'):format(guard.reason(why))
end

--- Deletes a file. Its buffer becomes empty, and `u` brings the text back there.
local function delete(path, buffer)
  local ok, why = os.remove(path)
  if not ok then
    return false, why
  end
  local number = buffers.replace(buffer, text.parse(''))
  vim.bo[buffer].modified = false
  -- Otherwise Neovim would soon warn that the file is gone.
  pcall(vim.cmd, 'silent! checktime ' .. buffer)
  return true, number
end

--- Returns whether it succeeded, and the number of the change in the buffer, or the reason if not.
local function revert_buffer(planned, now, buffer)
  local path, content = planned.path, planned.text
  if not now.unsaved and now.disk then
    -- So that `u` brings this text back.
    reload.reload(path)
  end
  if not content then
    return delete(path, buffer)
  end
  local number = buffers.replace(buffer, text.of_file(content))
  local ok, why = write(buffer, path, content)
  return ok, ok and number or why
end

--- Reverts a file that is not open on the disk alone: many buffers would mean many swap files and language servers.
local function revert_file(planned)
  if planned.text then
    return file.write(planned.path, planned.text)
  end
  return os.remove(planned.path)
end

--- Returns whether a file still has its texts. The same text may have been saved meanwhile.
local function is_same(now, before)
  local is_saved = before.unsaved and not now.unsaved and now.disk == before.unsaved
  return is_saved or now.disk == before.disk and now.unsaved == before.unsaved
end

--- Reverts one file. `is_expected` gets its texts. Returns whether it succeeded, and the reason if not, or the number
--- of the change in its buffer.
local function revert(planned, is_expected)
  local now, buffer = texts_now(planned.path), file.buffer(planned.path)
  if not now or not is_expected(now) then
    return false, 'the file has just changed again'
  elseif planned.action == 'nothing' then
    return true
  elseif buffer then
    return revert_buffer(planned, now, buffer)
  end
  return revert_file(planned)
end

--- Calls a function without the user's formatters and without autocommands that follow options.
local function without_autocommands(act, ...)
  local called, ok, result = guard.without_events('BufWritePre,OptionSet', act, ...)
  if called then
    return ok, result
  end
  return false, guard.reason(ok)
end

local function fail(path, why)
  log.warn(('%s is not reverted: %s'):format(file.short(path), why))
end

--- Carries out a plan. `texts` are the texts by path that the plan is for.
local function carry_out(change, plan, texts, done)
  local possible = {}
  for _, planned in ipairs(plan.files) do
    if planned.action == 'refuse' then
      fail(planned.path, planned.reason)
    else
      possible[#possible + 1] = planned
    end
  end
  -- CTRL-C in a question is an error.
  local ok, chosen = pcall(ask, change, possible, plan.question)
  local reverted = {}
  for _, planned in ipairs(ok and chosen or {}) do
    local path, before = planned.path, texts[planned.path]
    local is_open = file.buffer(path) ~= nil
    local is_reverted, result = without_autocommands(revert, planned, function(now)
      return is_same(now, before)
    end)
    if is_reverted then
      local bytes = before.unsaved or before.disk
      local after = planned.text
      if planned.action == 'nothing' then
        after = bytes
      end
      local number = is_open and result or nil
      reverted[#reverted + 1] = { path = path, before = bytes, after = after, is_open = is_open, number = number }
    else
      fail(path, result)
    end
  end
  done(reverted)
end

local function start(change, paths, hunk, done, when_answered)
  local files, texts = {}, {}
  for _, path in ipairs(paths) do
    local now, why = texts_now(path)
    texts[path] = now
    if now then
      files[#files + 1] = {
        path = path,
        prompts = { { session = change.session, prompt = change.prompt } },
        disk = now.disk and text.utf8(now.disk),
        unsaved = now.unsaved and text.utf8(now.unsaved),
        hunk = hunk,
      }
    else
      fail(path, why)
    end
  end
  if #files == 0 then
    return
  end
  server.request('cli/revertPlan', { files = files }, function(plan)
    local act = plan.question and when_answered or idle.when_idle_later
    act(function()
      carry_out(change, plan, texts, done)
    end)
  end, function(why)
    for _, wanted in ipairs(files) do
      fail(wanted.path, why)
    end
  end)
end

--- Reverts files of a prompt, after a question where the user would lose something. Passes the reverted ones to `done`,
--- also if others fail: `{path, before, after, is_open, number}`, with the bytes before and since, nil where there is
--- no file, and the number of the change in the buffer.
---@param change GeminiCompanion.CliChanged
---@param paths string[]
---@param hunk? GeminiCompanion.Hunk the only change to revert, in one file
---@param done fun(reverted: table[])
function M.run(change, paths, hunk, done)
  local when_answered = idle.after_command()
  idle.when_idle_later(function()
    start(change, paths, hunk, done, when_answered)
  end)
end

--- Writes back the text that a file had before a revert, if nobody has changed the file since. Returns whether that is
--- done, and the reason if not.
---@param reverted GeminiCompanion.Revert
function M.undo(reverted)
  local planned = { path = reverted.path, action = 'write', text = reverted.bytes }
  return without_autocommands(revert, planned, function(now)
    return not now.unsaved and text.digest(now.disk or '') == reverted.new
  end)
end

return M
