-- Parses and renders the text of a file (line endings, BOM, last line), and repairs invalid UTF-8.

local M = {}

local BOM = '\239\187\191'

local NEXT = '[\128-\191]'
--- The pattern of the remaining bytes of a character, by its first byte. It excludes overlong forms, surrogates, and
--- anything above U+10FFFF.
local REST = {}
for first = 0xC2, 0xF4 do
  REST[first] = '^' .. NEXT:rep(first < 0xE0 and 1 or first < 0xF0 and 2 or 3)
end
REST[0xE0] = '^[\160-\191]' .. NEXT
REST[0xED] = '^[\128-\159]' .. NEXT
REST[0xF0] = '^[\144-\191]' .. NEXT:rep(2)
REST[0xF4] = '^[\128-\143]' .. NEXT:rep(2)

local function repair(bytes)
  local parts, from, at = {}, 1, 1
  while at <= #bytes do
    local rest = REST[bytes:byte(at)]
    local stop = rest and select(2, bytes:find(rest, at + 1))
    if not stop then
      parts[#parts + 1] = bytes:sub(from, at - 1) .. '\239\191\189'
      from = at + 1
    end
    at = (stop or at) + 1
  end
  return table.concat(parts) .. bytes:sub(from)
end

--- Replaces each byte that is not UTF-8 by U+FFFD. Buffers can contain such bytes, JSON can't.
---@param text string
---@return string
function M.utf8(text)
  -- Most texts are ASCII, and a large one takes long to copy.
  if not text:find('[\128-\255]') then
    return text
  end
  return (text:gsub('[\128-\255]+', repair))
end

--- Returns the number of UTF-16 units in a text.
---@param text string
---@return integer
function M.utf16_units(text)
  if vim.fn.has('nvim-0.11') == 1 then
    return vim.str_utfindex(text, 'utf-16')
  end
  ---@diagnostic disable-next-line: missing-parameter The form of 0.10.
  return select(2, vim.str_utfindex(text))
end

--- Parses a text into the lines and options of a buffer. With `dos`, `\r\n` ends a line; with `false`, it does not.
--- With nil, it does if it ends all lines.
---@param text string
---@param dos? boolean
---@return GeminiCompanion.Text
function M.parse(text, dos)
  local bomb = text:sub(1, 3) == BOM
  if bomb then
    text = text:sub(4)
  end
  if dos == nil then
    dos = text:find('\r\n', 1, true) ~= nil and not text:find('^\n') and not text:find('[^\r]\n')
  end
  if dos then
    text = text:gsub('\r\n', '\n')
  end
  -- An empty text gets a line ending once the user types into it.
  local eol = text == '' or text:sub(-1) == '\n'
  local lines = vim.split(text, '\n', { plain = true })
  if eol and #lines > 1 then
    lines[#lines] = nil
  end
  return { lines = lines, dos = dos, bomb = bomb, eol = eol, empty = text == '' }
end

--- Renders a parsed text as the bytes of a file.
---@param parsed GeminiCompanion.Text
---@return string
function M.render(parsed)
  local line_ending = parsed.dos and '\r\n' or '\n'
  return (parsed.bomb and BOM or '')
    .. table.concat(parsed.lines, line_ending)
    .. (parsed.eol and not parsed.empty and line_ending or '')
end

return M
