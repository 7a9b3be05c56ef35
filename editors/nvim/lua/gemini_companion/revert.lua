-- Takes files back to their text from before a prompt. Asks first where the user would lose something, or where a file
-- is deleted.

local buffers = require('gemini_companion.buffer')
local compare = require('gemini_companion.compare')
local file = require('gemini_companion.file')
local guard = require('gemini_companion.guard')
local idle = require('gemini_companion.idle')
local log = require('gemini_companion.log')
local reload = require('gemini_companion.reload')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

--- The most files that a question names.
local MAX_NAMED = 10

--- Returns the texts of a file at this moment, or nil and the reason.
local function texts_now(path)
  local disk, why = file.read(path)
  if why then
    return nil, why
  end
  local buffer = file.buffer(path)
  return { disk = disk, unsaved = buffer and vim.bo[buffer].modified and text.render(buffers.parsed(buffer)) or nil }
end

--- Returns the difference of two texts as its numbers of lines, for a question.
local function difference(old, new)
  local added, removed = 0, 0
  for _, hunk in ipairs(vim.diff(old, new, { result_type = 'indices' })) do
    removed, added = removed + hunk[2], added + hunk[4]
  end
  return ('+%d −%d'):format(added, removed)
end

--- Returns what a revert would lose beside the edits of the CLI, or nil.
local function loss(reversal)
  local kept, now = reversal.kept, reversal.now
  local function is_kept(bytes)
    return bytes == kept.after or bytes == kept.before
  end
  if now.unsaved and not is_kept(now.unsaved) then
    return ('has other, unsaved changes (%s)'):format(difference(kept.after or '', now.unsaved))
  elseif not is_kept(now.disk) then
    if not now.disk then
      return 'was deleted since'
    elseif not kept.after then
      return 'exists again'
    end
    local by = reversal.is_later and ', by a later prompt as well' or ''
    return ('has changed since%s (%s)'):format(by, difference(kept.after, now.disk))
  elseif reversal.is_later then
    return 'was changed by a later prompt as well'
  end
  return reversal.mixed and 'may have been changed by something else during the prompt' or nil
end

--- Returns whether a file has its text from before already.
local function is_reverted(reversal)
  local content, now = reversal.kept.before, reversal.now
  return now.disk == content and (now.unsaved == nil or now.unsaved == content)
end

--- Returns what the user should know before a file is reverted, or nil.
local function warning(reversal)
  if is_reverted(reversal) then
    return nil
  end
  return loss(reversal) or (not reversal.kept.before and 'was created by the CLI' or nil)
end

--- Asks about one file. Returns whether to revert it. Shows the difference if the user wants to see it.
local function ask_about(reversal, words)
  local kept, now = reversal.kept, reversal.now
  local verb = kept.before and 'Revert' or 'Delete'
  local question = ('%s %s. %s it?'):format(file.short(reversal.path), words, verb)
  local can_show = kept.after ~= nil and (now.unsaved or now.disk or kept.after) ~= kept.after
  local choices = can_show and '&%s\n&Show differences\n&Cancel' or '&%s\n&Cancel'
  local answer = vim.fn.confirm(question, choices:format(verb), can_show and 3 or 2)
  if can_show and answer == 2 then
    local bars = { 'As the CLI left it', 'Now' }
    local key = 'left ' .. reversal.key
    local ok, why = compare.show({ key = key, path = reversal.path, content = kept.after, bars = bars })
    if not ok then
      log.fail(why)
    end
  end
  return answer == 1
end

--- Asks about the files that have a warning. Returns the files to revert.
local function ask_about_all(reversals, warned)
  local lines = {}
  for _, reversal in ipairs(vim.list_slice(warned, 1, MAX_NAMED)) do
    local ending = reversal.kept.before and '' or ', and will be deleted'
    lines[#lines + 1] = ('%s %s%s'):format(file.short(reversal.path), warning(reversal), ending)
  end
  if #warned > MAX_NAMED then
    lines[#lines + 1] = ('… and %d more'):format(#warned - MAX_NAMED)
  end
  local rest = vim.tbl_filter(function(reversal)
    return not vim.tbl_contains(warned, reversal)
  end, reversals)
  lines[#lines + 1] = ('Revert all %d files?'):format(#reversals)
  local choices = #rest > 0 and '&All\n&Only the others\n&Cancel' or '&All\n&Cancel'
  local answer = vim.fn.confirm(table.concat(lines, '\n'), choices, #rest > 0 and 3 or 2)
  return answer == 1 and reversals or (answer == 2 and rest) or {}
end

--- Returns the files to revert, after a question if there is something to ask.
local function ask(reversals)
  local warned = vim.tbl_filter(warning, reversals)
  if #warned == 0 then
    return reversals
  elseif #reversals == 1 then
    return ask_about(reversals[1], warning(reversals[1])) and reversals or {}
  end
  return ask_about_all(reversals, warned)
end

--- Writes a buffer to its file, byte for byte: without the user's formatters.
local function write(buffer)
  local options = vim.bo[buffer]
  local fix = options.fixendofline
  options.fixendofline = false
  local _, why = pcall(api.nvim_buf_call, buffer, function()
    vim.cmd('silent write! ++p')
  end)
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

--- Returns the text of a file as its buffer gets it.
local function parsed(bytes)
  local result = text.parse(bytes or '')
  result.eol = result.eol and not result.empty
  return result
end

--- Reverts a file in its buffer.
local function revert_buffer(reversal, now, buffer)
  local path, content = reversal.path, reversal.kept.before
  if not now.unsaved and now.disk then
    -- So that `u` brings this text back.
    reload.reload(path)
  end
  local before = buffers.parsed(buffer)
  local ok, why
  if content then
    buffers.replace(buffer, parsed(content))
    ok, why = write(buffer)
  else
    ok, why = delete(path, buffer)
  end
  return ok, ok and { path = path, before = before } or why
end

--- Reverts a file that is not open on the disk alone: many buffers would mean many swap files and language servers.
local function revert_file(reversal, now)
  local path, content = reversal.path, reversal.kept.before
  local ok, why
  if content then
    ok, why = file.write(path, content)
  else
    ok, why = os.remove(path)
  end
  return ok, ok and { path = path, before = parsed(now.disk), after = parsed(content) } or why
end

--- Reverts one file. Returns whether it succeeded, and its texts, or the reason if not.
local function revert(reversal)
  local path, before, now = reversal.path, reversal.now, texts_now(reversal.path)
  if not now or now.disk ~= before.disk or now.unsaved ~= before.unsaved then
    return false, 'the file has just changed again'
  elseif is_reverted(reversal) then
    return true, { path = path }
  end
  local buffer = file.buffer(path)
  if buffer then
    return revert_buffer(reversal, now, buffer)
  end
  return revert_file(reversal, now)
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

local function run(reversals, done)
  local function fail(reversal, why)
    log.warn(('%s is not reverted: %s'):format(file.short(reversal.path), why))
  end
  local readable = vim.tbl_filter(function(reversal)
    local now, why = texts_now(reversal.path)
    reversal.now = now
    if not now then
      fail(reversal, why)
    end
    return now ~= nil
  end, reversals)
  -- CTRL-C in a question is an error.
  local ok, chosen = pcall(ask, readable)
  local reverted = {}
  for _, reversal in ipairs(ok and chosen or {}) do
    local is_reverted_now, result = without_autocommands(revert, reversal)
    if is_reverted_now then
      reverted[#reverted + 1] = result
    else
      fail(reversal, result)
    end
  end
  done(reverted)
end

--- Reverts files, after a question where the user would lose something. Passes the reverted ones to `done`, also if
--- others fail.
---@param reversals GeminiCompanion.Reversal[]
---@param done fun(reverted: GeminiCompanion.Reverted[])
function M.run(reversals, done)
  idle.when_idle_later(function()
    run(reversals, done)
  end)
end

return M
