-- Parses and renders the text of a file (line endings, BOM, last line), and repairs invalid UTF-8.

local lpeg = vim.lpeg

local M = {}

local BOM = '\239\187\191'

--- The common lines around all changes that `vim.diff` gets: where lines repeat, they decide which ones are a change.
local CONTEXT = 100

--- Matches one character. Excludes overlong forms, surrogates, and anything above U+10FFFF.
local CHARACTER = lpeg.R('\0\127') + lpeg.utfR(0x80, 0xD7FF) + lpeg.utfR(0xE000, 0x10FFFF)
local REPAIRED = lpeg.Cs((CHARACTER + lpeg.P(1) / '\239\191\189') ^ 0)

--- Replaces each byte that is not UTF-8 by U+FFFD. Buffers can contain such bytes, JSON can't.
---@param text string
function M.utf8(text)
  return REPAIRED:match(text)
end

--- Returns a digest of bytes.
---@param bytes string
function M.digest(bytes)
  -- Vim functions take no NUL.
  return vim.fn.sha256(bytes:find('\0', 1, true) and vim.base64.encode(bytes) or bytes)
end

--- Returns the number of UTF-16 units in a text.
---@param text string
function M.utf16_units(text)
  -- Vim functions take no NUL. Composing characters count.
  return vim.fn.strutf16len((text:gsub('%z', ' ')), true)
end

--- Returns whether a text begins with a byte order mark.
---@param text string
function M.has_bom(text)
  return text:sub(1, #BOM) == BOM
end

--- Returns a text without a byte order mark, and with `\n` as its only line ending.
---@param text string
function M.plain(text)
  return ((M.has_bom(text) and text:sub(#BOM + 1) or text):gsub('\r\n?', '\n'))
end

--- Parses a text into the lines and options of a buffer. With `dos`, `\r\n` ends a line; with `false`, it does not.
--- With nil, it does if it ends all lines.
---@param text string
---@param dos? boolean
---@return GeminiCompanion.Text
function M.parse(text, dos)
  local bomb = M.has_bom(text)
  if bomb then
    text = text:sub(#BOM + 1)
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

--- Parses a text for a buffer that will be written: an empty file must get no line ending.
---@param bytes? string
---@return GeminiCompanion.Text
function M.of_file(bytes)
  local result = M.parse(bytes or '')
  result.eol = result.eol and not result.empty
  return result
end

--- Returns a text in the form of `original`, except what the user has changed since it had the form of `shown`.
---@param now GeminiCompanion.Text
---@param shown GeminiCompanion.Text
---@param original GeminiCompanion.Text
---@return GeminiCompanion.Text
function M.restored(now, shown, original)
  local function of(name)
    return (now[name] == shown[name] and original or now)[name]
  end
  return { lines = now.lines, dos = of('dos'), bomb = of('bomb'), eol = of('eol'), empty = now.empty }
end

--- Renders a parsed text as the bytes of a file.
---@param parsed GeminiCompanion.Text
function M.render(parsed)
  local line_ending = parsed.dos and '\r\n' or '\n'
  return (parsed.bomb and BOM or '')
    .. table.concat(parsed.lines, line_ending)
    .. (parsed.eol and not parsed.empty and line_ending or '')
end

--- Returns the changes between two lists of lines: where each begins in the old one, its number of lines, and the same
--- in the new one. A side without lines names the line before. Returns nil if there are more than `most` changes.
---@param old string[]
---@param new string[]
---@param most? integer
---@return integer[][]?
function M.changes(old, new, most)
  -- `vim.diff` takes long for a large text, and most texts differ in few lines.
  local first, last, count = 0, 0, math.min(#old, #new)
  while first < count and old[first + 1] == new[first + 1] do
    first = first + 1
  end
  while last < count - first and old[#old - last] == new[#new - last] do
    last = last + 1
  end
  first, last = math.max(first - CONTEXT, 0), math.max(last - CONTEXT, 0)
  local function joined(lines)
    return table.concat(lines, '\n', first + 1, #lines - last) .. '\n'
  end
  local found = vim.diff(joined(old), joined(new), { result_type = 'indices' }) --[[@as integer[][] ]]
  for _, change in ipairs(found) do
    change[1], change[3] = change[1] + first, change[3] + first
  end
  return not (most and #found > most) and found or nil
end

return M
