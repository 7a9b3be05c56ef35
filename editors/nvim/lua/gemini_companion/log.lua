-- Keeps the lines of `:GeminiCompanion log`, and shows messages to the user.
-- No line has a file's text, a selection or the token.

local M = {}

local MOST_LINES = 500

local lines = {}

--- Remembers a line.
---@param line string
function M.add(line)
  lines[#lines + 1] = os.date('%H:%M:%S ') .. vim.fn.strtrans(line)
  if #lines > MOST_LINES then
    table.remove(lines, 1)
  end
end

--- Remembers a line and tells the user. `level` is one of `vim.log.levels`, by default INFO.
---@param line string
---@param level? integer
function M.tell(line, level)
  M.add(line)
  -- A message that does not fit, or one after another, would make Neovim wait for a key.
  local shown = 'gemini-companion: ' .. vim.fn.strtrans(line)
  if vim.fn.strdisplaywidth(shown) > vim.v.echospace then
    shown = vim.fn.strcharpart(shown, 0, math.max(vim.v.echospace - 1, 1)) .. '…'
  end
  vim.cmd('redraw')
  vim.notify(shown, level or vim.log.levels.INFO, { title = 'Gemini companion' })
end

---@param line string
function M.warn(line)
  M.tell(line, vim.log.levels.WARN)
end

--- Answers a command of the user's that can't be done, without a line to remember.
---@param why string
function M.fail(why)
  vim.api.nvim_echo({ { 'GeminiCompanion: ' .. vim.fn.strtrans(why), 'ErrorMsg' } }, true, {})
end

---@return string[]
function M.lines()
  return vim.list_slice(lines)
end

return M
