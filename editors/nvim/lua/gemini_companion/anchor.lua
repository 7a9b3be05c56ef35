-- Marks the lines of a comment in a buffer. The mark moves with edits; if its lines are replaced, it is put to their
-- new place by their content.

local text = require('gemini_companion.text')

local M = {}

local api = vim.api

local namespace = api.nvim_create_namespace('gemini_companion_comments')

--- The longest content, in characters. The companion cuts a longer one.
local MAX_CONTENT = 500

--- How many lines away the content of a comment is looked for. That takes up to 3 ms, and the user may be typing.
local MAX_DISTANCE = 2000

local SIGN = '»'

--- Returns a text as one line with single spaces, as the companion does.
local function one_line(words)
  return vim.trim((words:gsub('[%s%c]+', ' ')))
end

--- Returns what the user sees of a comment, in one line.
---@param comment GeminiCompanion.Comment
function M.label(comment)
  return vim.fn.strtrans(one_line(comment.params.text))
end

--- Returns the content of lines as the companion keeps it. The indentation is not part of it.
local function content_of(lines, first, last)
  local words = table.concat(lines, '\n', first, math.min(last, first + MAX_CONTENT, #lines))
  return vim.fn.strcharpart(one_line(text.utf8(words)), 0, MAX_CONTENT)
end

--- Returns the content of lines of a buffer.
---@param buffer integer
---@param first integer
---@param last integer
function M.content(buffer, first, last)
  return content_of(api.nvim_buf_get_lines(buffer, first - 1, last, false), 1, last - first + 1)
end

--- Returns the line that is nearest to `from` where the content of a comment begins, or nil. An empty content is found
--- only at `from`.
local function find(comment, from)
  local params = comment.params
  local span = params.endLine - params.line
  local distance = params.content == '' and 0 or MAX_DISTANCE
  local first = math.max(from - distance, 1)
  local last = math.min(from + distance, api.nvim_buf_line_count(comment.buffer) - span)
  local lines = first <= last and api.nvim_buf_get_lines(comment.buffer, first - 1, last + span, false) or {}
  -- Most lines have another first word, which costs less to see. A line may have had a byte that is not UTF-8 in place
  -- of U+FFFD.
  local word = params.content:match('^[^ \239]*') --[[@as string]]
  local nearest
  for line = first, last do
    if nearest and line - from >= from - nearest then
      break
    end
    local index = line - first + 1
    if lines[index]:find(word, 1, true) and content_of(lines, index, index + span) == params.content then
      nearest = line
    end
  end
  return nearest
end

--- Returns the mark of a comment: its first row, and the row after its last one, or nil if its lines are gone.
local function rows(comment)
  local mark = comment.mark
    and api.nvim_buf_get_extmark_by_id(comment.buffer, namespace, comment.mark, { details = true })
  if mark and mark[1] then
    return mark[1], mark[3].end_row
  end
end

--- Sets the marks: one for the range, and one for the eye, since Neovim shows the sign of a range in the row after it
--- as well. Without `end_row`, the lines of the comment are gone.
local function set(comment, row, end_row)
  local buffer = comment.buffer
  comment.mark = api.nvim_buf_set_extmark(buffer, namespace, row, 0, {
    id = comment.mark,
    end_row = end_row,
    end_col = end_row and 0,
  })
  if comment.params.text then
    comment.sign = api.nvim_buf_set_extmark(buffer, namespace, row, 0, {
      id = comment.sign,
      sign_text = SIGN,
      sign_hl_group = 'DiagnosticSignInfo',
      virt_text = { { M.label(comment), 'DiagnosticVirtualTextInfo' } },
    })
  end
end

--- Sets the lines of a comment. Returns whether they have changed.
local function move(comment, line, last)
  local params = comment.params
  local content = M.content(comment.buffer, line, last)
  if params.line == line and params.endLine == last and params.content == content then
    return false
  end
  comment.params = vim.tbl_extend('force', params, { line = line, endLine = last, content = content })
  return true
end

--- Marks a comment in its buffer, or follows its mark. Returns whether its lines have changed. If they are gone, the
--- comment keeps them as they were, and the mark stays near.
---@param comment GeminiCompanion.Comment
function M.update(comment)
  local params = comment.params
  local row, end_row = rows(comment)
  if end_row and end_row > row then
    return move(comment, row + 1, end_row)
  end
  local is_lost = row ~= nil and end_row == nil
  local line = find(comment, is_lost and row + 1 or params.line)
  if line then
    local last = line + params.endLine - params.line
    set(comment, line - 1, last)
    return move(comment, line, last)
  elseif not is_lost then
    set(comment, math.min(params.line, api.nvim_buf_line_count(comment.buffer)) - 1)
  end
  return false
end

--- Returns the first and the last line of a comment in its buffer, or those that the companion has.
---@param comment GeminiCompanion.Comment
---@return integer first, integer last
function M.lines(comment)
  local row, end_row = rows(comment)
  if row then
    return row + 1, math.max(end_row or 0, row + 1)
  end
  return comment.params.line, comment.params.endLine
end

--- Removes the marks of a comment.
---@param comment GeminiCompanion.Comment
function M.remove(comment)
  for _, mark in pairs({ comment.mark, comment.sign }) do
    if api.nvim_buf_is_valid(comment.buffer) then
      api.nvim_buf_del_extmark(comment.buffer, namespace, mark)
    end
  end
  comment.buffer, comment.mark, comment.sign = nil, nil, nil
end

return M
