-- Collects the diagnostics of files, once language servers and linters have seen the text on the disk.

local config = require('gemini_companion.config')
local file = require('gemini_companion.file')
local reload = require('gemini_companion.reload')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

--- How long the companion is made to wait. It does not wait for more than 3 s.
local TIME_MS = 2300
--- How long nothing must have been found anew: a file may be looked at by several tools.
local QUIET_MS = 150
--- The same while there are no problems: a language server may take back what it has said of the old
--- text some time before it says anything of the new one.
local QUIET_WITHOUT_MS = 700
local EVERY_MS = 25

local SEVERITIES = { error = 1, warning = 2, information = 3, hint = 4 }
local NAMES = { 'error', 'warning', 'information', 'hint' }

--- For each buffer the text that was looked at last, by its `changedtick`, and when.
local looked_at = {}

--- A buffer for the file; one that is not loaded may have problems, too, since a language server may
--- tell those of a whole project.
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
  return #vim.lsp.get_clients({ bufnr = buffer }) > 0 or looked_at[buffer] ~= nil or #vim.diagnostic.get(buffer) > 0
end

--- What has to happen before the problems of a file can be told: `{path, buffer, waits, incomplete}`.
local function begin(path)
  local buffer, loaded = buffer_of(path)
  local question = { path = path, buffer = buffer }
  if not loaded then
    question.incomplete = 'the file is not open in Neovim'
  elseif vim.bo[buffer].modified then
    question.incomplete = 'its buffer has changes that are not saved'
  else
    if not reload.refresh(buffer) then
      question.incomplete = "with 'noautoread' its buffer may have an older text"
    end
    if has_tools(buffer) then
      question.waits = true
    else
      question.incomplete = question.incomplete or 'no language server or linter has looked at it'
    end
  end
  return question
end

local function is_settled(question)
  local buffer = question.buffer
  if not question.waits or not api.nvim_buf_is_valid(buffer) then
    return true
  end
  local looked = looked_at[buffer]
  if not looked or looked.tick ~= vim.b[buffer].changedtick then
    return false
  end
  local quiet = #vim.diagnostic.get(buffer) > 0 and QUIET_MS or QUIET_WITHOUT_MS
  return vim.uv.now() - looked.time >= quiet
end

--- How many UTF-16 units a part of a line has; none where the buffer has no such part.
local function units(buffer, line, from, to)
  local ok, parts = pcall(api.nvim_buf_get_text, buffer, line, from, line, to, {})
  return ok and parts[1] and text.utf16_units(text.utf8(parts[1])) or 0
end

--- A function that returns positions in a buffer, 1-based and in UTF-16 units. A line may be very long
--- and have many of them, so it counts on from the last one if it can. A tool that counts from 1 may
--- have -1 where it means 0.
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

--- A text, or a number as such; nothing for what is neither.
local function words(value)
  local is_one = type(value) == 'string' or type(value) == 'number'
  return is_one and text.utf8(tostring(value)) or nil
end

local function problem(found, starts, ends)
  local lsp = type(found.user_data) == 'table' and found.user_data.lsp or nil
  return {
    severity = NAMES[found.severity] or 'error',
    message = words(found.message) or 'no message',
    range = {
      start = starts(found.lnum, found.col),
      ['end'] = ends(found.end_lnum or found.lnum, found.end_col or found.col),
    },
    source = words(found.source),
    code = words(found.code) or (type(lsp) == 'table' and words(lsp.code) or nil),
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
  if is_late and not is_settled(question) then
    incomplete = incomplete or 'nothing has looked at the newest text yet'
  end
  return { path = question.path, diagnostics = problems, incomplete = incomplete }
end

--- Answers for the texts that are on the disk; those of buffers with changes stay as they are.
---@param params GeminiCompanion.DiagnosticsRequest
---@param done fun(result: table)
function M.tell(params, done)
  local severity = SEVERITIES[params.severity] or SEVERITIES.information
  local questions = vim.tbl_map(begin, params.paths)
  local began = vim.uv.now()
  local function look()
    local is_late = vim.uv.now() - began >= TIME_MS
    for _, question in ipairs(questions) do
      if not is_late and not is_settled(question) then
        vim.defer_fn(look, EVERY_MS)
        return
      end
    end
    done({
      files = vim.tbl_map(function(question)
        return answer(question, severity, is_late)
      end, questions),
    })
  end
  look()
end

--- Notes from now on which texts have been looked at. Those that are there now have been.
function M.start()
  looked_at = {}
  if not config.options.diagnostics then
    return
  end
  local now = vim.uv.now() - QUIET_MS
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    if #vim.diagnostic.get(buffer) > 0 then
      looked_at[buffer] = { tick = vim.b[buffer].changedtick, time = now }
    end
  end
  local group = api.nvim_create_augroup('gemini_companion_diagnostics', {})
  api.nvim_create_autocmd('DiagnosticChanged', {
    group = group,
    callback = function(event)
      looked_at[event.buf] = { tick = vim.b[event.buf].changedtick, time = vim.uv.now() }
    end,
  })
  api.nvim_create_autocmd('BufWipeout', {
    group = group,
    callback = function(event)
      looked_at[event.buf] = nil
    end,
  })
end

function M.stop()
  pcall(api.nvim_del_augroup_by_name, 'gemini_companion_diagnostics')
  looked_at = {}
end

return M
