-- Keeps each text that the user has accepted until the companion reports that the CLI has written it. The CLI may never
-- do so: it may have ended, or the user may have rejected the edit in the terminal.

local file = require('gemini_companion.file')
local kept = require('gemini_companion.kept')
local server = require('gemini_companion.server')
local text = require('gemini_companion.text')

local M = {}

--- The texts that a CLI is to write, by path, oldest first: `{text, buffer, is_known, is_queued}`. Neovim keeps no text
--- that it has written itself. The user knows that the file may not have the text, or its CLI may still get it.
---@type table<string, table[]>
local expected = {}

local MAY_REPEAT = 'The CLI may have received your acceptance. If you write the file, it can be edited twice.'

local WITHDRAW_TIMEOUT_MS = 1000

--- Withdraws the acceptance of a text that the CLI would write to the file a second time. Returns whether the user may
--- write it.
local function withdraw(accepted, path)
  local may_wait = accepted.is_queued or vim.tbl_contains(expected[path] or {}, accepted)
  local answer = may_wait and server.ask('diff/withdraw', WITHDRAW_TIMEOUT_MS, { filePath = path })
  if not answer and not accepted.is_queued then
    return true
  end
  return answer and answer.withdrawn or vim.fn.confirm(MAY_REPEAT, '&Write\n&Cancel', 2) == 1
end

--- Puts a text into a buffer; into a new one if the user or a plugin has deleted that.
local function hold(accepted, path)
  accepted.buffer = kept.hold(path, accepted.text, function(name)
    return withdraw(accepted, name)
  end)
end

--- Shows the user where the text is, since it may not be in the file. With `is_queued`, the CLI may still write it.
local function offer(accepted, path, is_queued)
  if accepted.buffer and not vim.api.nvim_buf_is_valid(accepted.buffer) then
    hold(accepted, path)
  end
  if accepted.buffer then
    kept.offer(accepted.buffer, path, false, is_queued)
  end
  accepted.is_known = true
end

--- Adds a text to those that the companion still looks for. It no longer looks for earlier ones that the user knows of.
local function add(path, accepted)
  expected[path] = vim.tbl_filter(function(earlier)
    return not earlier.is_known
  end, expected[path] or {})
  table.insert(expected[path], accepted)
end

--- Keeps a text that a CLI is to write, until the companion reports the outcome.
---@param path string
---@param parsed GeminiCompanion.Text
function M.expect(path, parsed)
  local accepted = { text = parsed }
  hold(accepted, path)
  add(path, accepted)
  return accepted
end

--- Expects the companion's report about a changed text that Neovim has written itself, and keeps no text.
---@param path string
function M.wrote(path)
  add(path, {})
end

--- Offers a text unless its CLI has got the acceptance. `accepted` is nil if the text was not kept so far.
---@param path string
---@param parsed GeminiCompanion.Text
---@param accepted? table
---@param delivery 'delivered'|'queued'|'unknown'|'unanswered'
function M.delivered(path, parsed, accepted, delivery)
  if delivery == 'delivered' then
    return
  end
  if not accepted then
    accepted = { text = parsed }
    hold(accepted, path)
    if delivery == 'queued' then
      add(path, accepted)
    end
  end
  accepted.is_queued = delivery ~= 'unknown'
  offer(accepted, path, delivery == 'queued')
end

--- Handles `diff/written`, about the text that was accepted last.
function M.on_written(params)
  local accepted = table.remove(expected[params.filePath] or {})
  if accepted and accepted.buffer then
    accepted.is_queued = false
    kept.release(accepted.buffer)
  end
end

--- Handles `diff/unwritten`, about the oldest text that the user does not know of. The CLI may yet write it.
function M.on_unwritten(params)
  for _, accepted in ipairs(expected[params.filePath] or {}) do
    if not accepted.is_known then
      return offer(accepted, params.filePath)
    end
  end
end

--- Returns whether a file has a text, in any form. Gemini CLI's tool for edits keeps the end of the last line as it is
--- in the file.
local function is_written(path, parsed)
  local bytes = file.read(path)
  local function lines_of(content)
    return text.parse(content, true).lines
  end
  return bytes ~= nil and vim.deep_equal(lines_of(bytes), lines_of(text.render(parsed)))
end

--- Offers all texts that the CLIs have not written so far, since no companion looks any more.
function M.stop()
  for path, list in pairs(expected) do
    for _, accepted in ipairs(list) do
      local is_open = accepted.buffer and not accepted.is_known
      if is_open and is_written(path, accepted.text) then
        kept.release(accepted.buffer)
      elseif is_open then
        offer(accepted, path)
      end
    end
  end
  expected = {}
end

return M
