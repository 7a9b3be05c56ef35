-- Returns the selected text in Visual and Select mode.

local M = {}

--- The server keeps 16,384 UTF-16 units; in UTF-8 these take three bytes each at most.
local MAX_BYTES = 3 * 16384

--- The Visual mode of each Select mode.
local BLOCK = '\22'
local VISUAL = { s = 'v', S = 'V', ['\19'] = BLOCK }

--- Cuts a text to `MAX_BYTES` without splitting a character.
local function cut(text)
  if #text <= MAX_BYTES then
    return text
  end
  return text:sub(1, MAX_BYTES + vim.str_utf_start(text, MAX_BYTES + 1))
end

--- Returns the part of a line from a display column on.
local function line_from(number, left)
  if vim.fn.virtcol({ number, '$' }) <= left then
    return ''
  end
  local line = vim.fn.getline(number)
  local at = vim.fn.virtcol2col(0, number, left)
  local from, to = unpack(vim.fn.virtcol({ number, at }, true))
  if from == left then
    return line:sub(at)
  end
  -- Spaces replace the cells of a character that is only partly in the block.
  return (' '):rep(to - left + 1) .. line:sub(at + vim.str_utf_end(line, at) + 1)
end

--- Returns the lines of a block that `$` has extended to the end of each line, at least the first `MAX_BYTES`.
--- `getregion()` does not support these blocks.
local function to_line_ends(first, last)
  local left = math.min(vim.fn.virtcol('v', true)[1], vim.fn.virtcol('.', true)[1])
  local lines, size = {}, 0
  for number = first, last do
    lines[#lines + 1] = line_from(number, left)
    size = size + #lines[#lines] + 1
    if size > MAX_BYTES then
      break
    end
  end
  return lines
end

--- Returns the selected text of the current window. It is empty in other modes, and cut to the length that the server
--- keeps.
function M.text()
  local mode = vim.fn.mode()
  mode = VISUAL[mode] or mode
  if not mode:find('^[vV' .. BLOCK .. ']') then
    return ''
  end
  local first, last = vim.fn.getpos('v'), vim.fn.getpos('.')
  if first[2] > last[2] or (first[2] == last[2] and first[3] > last[3]) then
    first, last = last, first
  end
  local stop = vim.fn.byte2line(vim.fn.line2byte(first[2]) + first[3] + MAX_BYTES)
  if mode ~= BLOCK and stop ~= -1 and stop < last[2] then
    last = { 0, stop, 1, 0 }
    last[3] = vim.fn.col({ stop, '$' })
  end
  local is_to_line_ends = mode == BLOCK and vim.fn.winsaveview().curswant >= vim.v.maxcol
  local lines = is_to_line_ends and to_line_ends(first[2], last[2]) or vim.fn.getregion(first, last, { type = mode })
  for index, line in ipairs(lines) do
    -- Vim functions return NUL as a line feed.
    lines[index] = line:gsub('\n', '\0')
  end
  local text = table.concat(lines, '\n')
  local has_line_ending = mode == 'v' and vim.o.selection ~= 'exclusive' and last[3] >= vim.fn.col({ last[2], '$' })
  return cut(text .. ((mode == 'V' or has_line_ending) and '\n' or ''))
end

return M
