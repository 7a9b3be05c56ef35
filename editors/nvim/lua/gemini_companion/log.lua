-- Keeps the lines of `:GeminiCompanion log`, and shows messages to the user. Callers pass no text of a file, no
-- selection and no token.

local M = {}

local MAX_LINES = 500

local PREFIX = 'GeminiCompanion: '

local lines = {}

--- Returns a text without control characters. Vim functions take no NUL.
---@param text string
function M.printable(text)
  return vim.fn.strtrans((text:gsub('%z', '\1')))
end

--- Adds a line to the log.
---@param line string
function M.add(line)
  lines[#lines + 1] = os.date('%H:%M:%S ') .. M.printable(line)
  if #lines > MAX_LINES then
    table.remove(lines, 1)
  end
end

--- Shows a line. `level` is one of `vim.log.levels`, by default INFO.
---@param line string
---@param level? integer
function M.show(line, level)
  -- Neovim would wait for a key after a message that does not fit, or a second one.
  local shown = PREFIX .. M.printable(line)
  if vim.fn.strdisplaywidth(shown) > vim.v.echospace then
    -- `S` counts cells: some characters take two.
    shown = vim.fn.printf(('%%.%dS…'):format(math.max(vim.v.echospace - 1, 1)), shown)
  end
  vim.cmd('redraw')
  level = level or vim.log.levels.INFO
  -- The user's function may fail.
  if not pcall(vim.notify, shown, level, { title = 'Gemini companion' }) then
    vim.api.nvim_echo({ { shown, level >= vim.log.levels.WARN and 'WarningMsg' or nil } }, true, {})
  end
end

--- Adds a line to the log and shows it; see `show`.
---@param line string
---@param level? integer
function M.notify(line, level)
  M.add(line)
  M.show(line, level)
end

--- Adds a line to the log and shows it as a warning.
---@param line string
function M.warn(line)
  M.notify(line, vim.log.levels.WARN)
end

--- Shows why a user command failed. The log gets no line.
---@param why string
function M.fail(why)
  vim.api.nvim_echo({ { PREFIX .. M.printable(why), 'ErrorMsg' } }, true, {})
end

--- Returns a copy of the log.
function M.lines()
  return vim.list_slice(lines)
end

return M
