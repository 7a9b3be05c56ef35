-- Owns what is selected in Visual mode, as text.

local M = {}

--- The server keeps 16,384 UTF-16 units; in UTF-8 these take three bytes each at most.
local MOST_BYTES = 3 * 16384

--- The column that is wanted after `$`; `v:maxcol` since Neovim 0.9.
local MAXCOL = 2147483647

local BLOCK, SELECT_BLOCK = '\22', '\19'
local MODES = { v = 'v', V = 'V', [BLOCK] = BLOCK, s = 'v', S = 'V', [SELECT_BLOCK] = BLOCK }

--- How many bytes the character at byte `at` has, 1-based; a stray byte is one, too.
local function character_length(line, at)
  local length = 1
  while length < 4 and (line:byte(at + length) or 0) >= 0x80 and (line:byte(at + length) or 0) < 0xC0 do
    length = length + 1
  end
  return length
end

local function line_at(number)
  return vim.api.nvim_buf_get_lines(0, number - 1, number, true)[1]
end

--- How many cells a character takes that begins in a cell, from 1.
local function width_of(character, cell)
  -- A function of Vim's takes no NUL, which is shown as `^@`.
  return character == '\0' and 2 or vim.fn.strdisplaywidth(character, cell - 1)
end

--- Calls `visit(character, first, last)` with each character and the screen cells it is in,
--- from 1, until that returns true.
local function each_cell(line, visit)
  local at, cell = 1, 1
  while at <= #line do
    local character = line:sub(at, at + character_length(line, at) - 1)
    local width = width_of(character, cell)
    if visit(character, cell, cell + width - 1, at) then
      return
    end
    at, cell = at + #character, cell + width
  end
  visit('', cell, cell, at)
end

--- The first and the last cell of the character at a position as `getpos()` has it.
local function cells_at(position)
  local line = line_at(position[2])
  local first, last
  each_cell(line, function(_, from, to, at)
    first, last = from, to
    return at >= position[3]
  end)
  -- With 'virtualedit' the cursor may be beyond.
  return first + position[4], last + position[4]
end

--- What of a line is in a block; of characters that are so in part, as many spaces.
local function in_block(line, left, right)
  local parts = {}
  each_cell(line, function(character, first, last)
    if first >= left and last <= right then
      parts[#parts + 1] = character
    elseif last >= left and first <= right and character ~= '' then
      parts[#parts + 1] = (' '):rep(math.min(last, right) - math.max(first, left) + 1)
    end
    return last >= right
  end)
  return table.concat(parts)
end

--- A function from the number of a line to what is selected of it.
local function blockwise(first, last, to_line_end)
  local a1, a2 = cells_at(first)
  local b1, b2 = cells_at(last)
  local left, right = math.min(a1, b1), math.max(a2, b2)
  if vim.o.selection == 'exclusive' and right > left then
    right = math.max(a1, b1) - 1
  end
  if to_line_end then
    right = math.huge
  end
  return function(number)
    return in_block(line_at(number), left, right)
  end
end

local function charwise(first, last)
  return function(number)
    local line = line_at(number)
    local stop = #line
    local line_end = ''
    if number == last[2] then
      if vim.o.selection == 'exclusive' then
        stop = last[3] - 1
      elseif last[3] <= #line then
        stop = last[3] + character_length(line, last[3]) - 1
      else
        line_end = '\n'
      end
    end
    return line:sub(number == first[2] and first[3] or 1, stop) .. line_end
  end
end

--- Cuts before a character that would be halved.
local function cut(text)
  if #text <= MOST_BYTES then
    return text
  end
  local stop = MOST_BYTES
  while stop > 0 and text:byte(stop + 1) >= 0x80 and text:byte(stop + 1) < 0xC0 do
    stop = stop - 1
  end
  return text:sub(1, stop)
end

--- The text that is selected in the current window, empty outside of Visual and Select mode. Of a
--- very large one it is the beginning, for that is what the server keeps.
function M.text()
  local mode = MODES[vim.fn.mode()]
  if not mode then
    return ''
  end
  local first, last = vim.fn.getpos('v'), vim.fn.getpos('.')
  if first[2] > last[2] or (first[2] == last[2] and first[3] > last[3]) then
    first, last = last, first
  end
  local line_of = line_at
  if mode == 'v' then
    line_of = charwise(first, last)
  elseif mode == BLOCK then
    line_of = blockwise(first, last, vim.fn.winsaveview().curswant >= MAXCOL)
  end
  local parts, bytes = {}, 0
  for number = first[2], last[2] do
    parts[#parts + 1] = line_of(number)
    bytes = bytes + #parts[#parts] + 1
    if bytes > MOST_BYTES then
      break
    end
  end
  return cut(table.concat(parts, '\n') .. (mode == 'V' and '\n' or ''))
end

return M
