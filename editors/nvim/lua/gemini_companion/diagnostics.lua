-- Collects the diagnostics of files after language servers and linters have checked the text on disk.

local config = require('gemini_companion.config')
local file = require('gemini_companion.file')
local guard = require('gemini_companion.guard')
local idle = require('gemini_companion.idle')
local reload = require('gemini_companion.reload')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

--- The longest time until an answer. The companion waits for 3 s at most.
local ANSWER_TIMEOUT_MS = 2300
--- The time without further reports after which the tools have finished: several tools may check a file.
local QUIET_MS = 150
--- The same time if there are no diagnostics. A language server may clear those of the old text some time before it
--- reports those of the new text.
local QUIET_WITHOUT_MS = 700
local POLL_INTERVAL_MS = 25

local SEVERITIES = { error = 1, warning = 2, information = 3, hint = 4 }
local NAMES = { 'error', 'warning', 'information', 'hint' }

--- The `changedtick` and the time of the last report of diagnostics, by buffer.
local checked = {}

--- Returns a buffer for the file, and whether it is loaded. Other buffers can have diagnostics as well, since a
--- language server may report those of a whole project.
local function buffer_of(path)
  local loaded = file.buffer(path)
  if loaded then
    return loaded, true
  end
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_get_name(buffer) == path then
      return buffer, false
    end
  end
end

local function has_tools(buffer)
  return #vim.lsp.get_clients({ bufnr = buffer }) > 0 or checked[buffer] ~= nil or #vim.diagnostic.get(buffer) > 0
end

--- Reloads the buffer of a question. If the user has just pressed a key there, the next look does so.
local function refresh(question)
  local _, why = reload.refresh(question.buffer)
  question.incomplete = why
  question.is_old = why == reload.IN_USE and not idle.is_in_use(question.buffer)
end

--- Starts to collect the diagnostics of a file: `{path, buffer, waits, is_old, incomplete}`.
local function begin(path)
  local buffer, loaded = buffer_of(path)
  local question = { path = path, buffer = buffer }
  if not loaded then
    question.incomplete = 'the file is not open in Neovim'
  elseif vim.bo[buffer].modified then
    question.incomplete = 'its buffer has unsaved changes'
  else
    refresh(question)
    question.waits = has_tools(buffer)
  end
  return question
end

local function is_settled(question)
  local buffer = question.buffer
  if question.is_old and api.nvim_buf_is_loaded(buffer) then
    refresh(question)
    if question.is_old then
      return false
    end
  end
  if not question.waits or not api.nvim_buf_is_valid(buffer) then
    return true
  end
  local last = checked[buffer]
  if not last or last.tick ~= vim.b[buffer].changedtick then
    return false
  end
  local quiet = #vim.diagnostic.get(buffer) > 0 and QUIET_MS or QUIET_WITHOUT_MS
  return vim.uv.now() - last.time >= quiet
end

--- Returns the number of UTF-16 units in a part of a line, or 0 if the buffer has no such part.
local function units(buffer, line, from, to)
  local ok, parts = pcall(api.nvim_buf_get_text, buffer, line, from, line, to, {})
  return ok and parts[1] and text.utf16_units(text.utf8(parts[1])) or 0
end

--- Returns a function that converts positions in a buffer to 1-based positions in UTF-16 units. It continues from
--- its last position if it can, since a very long line may have many diagnostics. A tool that counts from 1 may
--- report -1 instead of 0.
local function counter(buffer)
  local line, column, character
  return function(to_line, to_column)
    to_line, to_column = math.max(to_line, 0), math.max(to_column, 0)
    if to_line ~= line or to_column < column then
      line, column, character = to_line, 0, 1
    end
    character = character + units(buffer, line, column, to_column)
    column = to_column
    return { line = line + 1, character = character }
  end
end

--- Converts a string or a number to a text. Returns nil for any other type.
local function to_text(value)
  local is_one = type(value) == 'string' or type(value) == 'number'
  return is_one and text.utf8(tostring(value)) or nil
end

local function problem(found, starts, ends)
  local lsp = type(found.user_data) == 'table' and found.user_data.lsp or nil
  return {
    severity = NAMES[found.severity] or 'error',
    message = to_text(found.message) or 'no message',
    range = {
      start = starts(found.lnum, found.col),
      ['end'] = ends(found.end_lnum or found.lnum, found.end_col or found.col),
    },
    source = to_text(found.source),
    code = to_text(found.code) or (type(lsp) == 'table' and to_text(lsp.code) or nil),
  }
end

local function from_top_to_bottom(a, b)
  if a.lnum ~= b.lnum then
    return a.lnum < b.lnum
  end
  return a.col < b.col
end

local function answer(question, severity, is_late)
  local problems = {}
  local buffer = question.buffer
  if buffer and api.nvim_buf_is_valid(buffer) then
    local all = vim.diagnostic.get(buffer, { severity = { min = severity } })
    table.sort(all, from_top_to_bottom)
    local starts, ends = counter(buffer), counter(buffer)
    for _, found in ipairs(all) do
      problems[#problems + 1] = problem(found, starts, ends)
    end
  end
  local incomplete = question.incomplete
  if question.waits == false then
    incomplete = incomplete or 'no language server or linter has checked it'
  end
  if is_late and not is_settled(question) then
    incomplete = incomplete or 'the newest text has not been checked yet'
  end
  return { path = question.path, diagnostics = problems, incomplete = incomplete }
end

--- Handles `editor/diagnostics`, about the texts on disk. Buffers with unsaved changes are not reloaded.
---@param done fun(result: table)
function M.on_request(params, done)
  local severity = SEVERITIES[params.severity] or SEVERITIES.information
  local questions = vim.tbl_map(begin, params.paths)
  local began = vim.uv.now()
  local function poll()
    local is_late = vim.uv.now() - began >= ANSWER_TIMEOUT_MS
    for _, question in ipairs(questions) do
      if not is_late and not is_settled(question) then
        vim.defer_fn(poll, POLL_INTERVAL_MS)
        return
      end
    end
    done({
      files = vim.tbl_map(function(question)
        return answer(question, severity, is_late)
      end, questions),
    })
  end
  poll()
end

--- Starts to record which texts the tools have checked. Texts with diagnostics count as checked.
function M.start()
  checked = {}
  if not config.options.diagnostics then
    return
  end
  local now = vim.uv.now() - QUIET_MS
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    if #vim.diagnostic.get(buffer) > 0 then
      checked[buffer] = { tick = vim.b[buffer].changedtick, time = now }
    end
  end
  local group = api.nvim_create_augroup('gemini_companion_diagnostics', {})
  guard.on_buffer(group, 'DiagnosticChanged', function(buffer)
    checked[buffer] = { tick = vim.b[buffer].changedtick, time = vim.uv.now() }
  end)
  guard.on_buffer(group, 'BufWipeout', function(buffer)
    checked[buffer] = nil
  end)
end

function M.stop()
  pcall(api.nvim_del_augroup_by_name, 'gemini_companion_diagnostics')
  checked = {}
end

return M
