-- Owns what the user has written in a proposal that is over, until its CLI has written it to the file:
-- it may have ended, or its user has said no in the terminal.

local file = require('gemini_companion.file')
local log = require('gemini_companion.log')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

--- Whether a file has that text, as `text.parse` returns it, with whatever line ends.
function M.is_written(path, parsed)
  local bytes = file.read(path)
  return bytes ~= nil and vim.deep_equal(text.parse(bytes).lines, parsed.lines)
end

--- Puts the text into a buffer of its own, and tells the user where it is.
function M.offer(path, parsed)
  local buffer = api.nvim_create_buf(true, true)
  pcall(api.nvim_buf_set_name, buffer, ('gemini-companion://kept/%d%s'):format(buffer, path))
  api.nvim_buf_set_lines(buffer, 0, -1, false, parsed.lines)
  local options = vim.bo[buffer]
  options.fileformat = parsed.dos and 'dos' or 'unix'
  options.bomb = parsed.bomb
  options.endofline = parsed.eol
  local kept = 'what you wrote for %s was not written by its CLI: :sbuffer %d has it, :w {file} saves it'
  log.warn(kept:format(vim.fn.fnamemodify(path, ':~:.'), buffer))
end

return M
