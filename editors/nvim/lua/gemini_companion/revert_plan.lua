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

--- Returns the texts of a file at this moment, or nil and the reason.
---@return GeminiCompanion.TextsOfFile?
---@return string? why
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
  buffers.replace(buffer, text.parse(''))
  vim.bo[buffer].modified = false
  -- Otherwise Neovim would soon warn that the file is gone.
  pcall(vim.cmd, 'silent! checktime ' .. buffer)
  return true
end

--- Reverts a file in its buffer.
local function revert_buffer(planned, now, buffer)
  local path, content = planned.path, planned.text
  if not now.unsaved and now.disk then
    -- So that `u` brings this text back.
    reload.reload(path)
  end
  local before = buffers.parsed(buffer)
  local ok, why
  if content then
    buffers.replace(buffer, text.of_file(content))
    ok, why = write(buffer, path, content)
  else
    ok, why = delete(path, buffer)
  end
  return ok, ok and { path = path, before = before } or why
end

--- Reverts a file that is not open on the disk alone: many buffers would mean many swap files and language servers.
local function revert_file(planned, now)
  local path, content = planned.path, planned.text
  local ok, why
  if content then
    ok, why = file.write(path, content)
  else
    ok, why = os.remove(path)
  end
  return ok, ok and { path = path, before = text.of_file(now.disk), after = text.of_file(content) } or why
end

--- Returns whether a file still has its texts. The same text may have been saved meanwhile.
local function is_same(now, before)
  local is_saved = before.unsaved and not now.unsaved and now.disk == before.unsaved
  return is_saved or now.disk == before.disk and now.unsaved == before.unsaved
end

--- Reverts one file. `is_expected` gets its texts. Returns whether it succeeded, and its texts, or the reason if not.
local function revert(planned, is_expected)
  local path = planned.path
  local now = texts_now(path)
  if not now or not is_expected(now) then
    return false, 'the file has just changed again'
  elseif planned.action == 'nothing' then
    return true, { path = path }
  end
  local buffer = file.buffer(path)
  if buffer then
    return revert_buffer(planned, now, buffer)
  end
  return revert_file(planned, now)
end

--- Sets 'eventignore'. An autocommand that follows options may fail, once the option is set.
local function ignore(events)
  guard.quietly(function()
    vim.o.eventignore = events
  end)
end

--- Calls a function without the user's formatters and without autocommands that follow options.
local function without_autocommands(act, ...)
  local ignored = vim.o.eventignore
  ignore((ignored == '' and '' or ignored .. ',') .. 'BufWritePre,OptionSet')
  local called, ok, result = pcall(act, ...)
  ignore(ignored)
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
    local before = texts[planned.path]
    local is_reverted, result = without_autocommands(revert, planned, function(now)
      return is_same(now, before)
    end)
    if is_reverted then
      result.bytes = before.unsaved or before.disk
      reverted[#reverted + 1] = result
    else
      fail(planned.path, result)
    end
  end
  done(reverted)
end

local function run(change, paths, hunk, done, when_answered)
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
--- also if others fail.
---@param change GeminiCompanion.CliChanged
---@param paths string[]
---@param hunk? GeminiCompanion.Hunk the only change to revert, in one file
---@param done fun(reverted: table[])
function M.run(change, paths, hunk, done)
  local when_answered = idle.after_command()
  idle.when_idle_later(function()
    run(change, paths, hunk, done, when_answered)
  end)
end

local function digests(texts)
  return vim.tbl_map(text.digest, texts)
end

--- Returns digests of the texts of a file at this moment.
---@param path string
---@return GeminiCompanion.TextsOfFile
function M.state(path)
  return digests(texts_now(path) or {})
end

--- Writes back the text that a file had before a revert, if nobody has changed the file since. Returns whether that is
--- done, and the reason if not.
---@param reverted GeminiCompanion.Revert
function M.undo(reverted)
  local planned = { path = reverted.path, action = 'write', text = reverted.bytes }
  return without_autocommands(revert, planned, function(now)
    return is_same(digests(now), reverted.since)
  end)
end

return M
