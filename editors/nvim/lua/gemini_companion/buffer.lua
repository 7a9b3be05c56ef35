-- Reads and replaces the text of a buffer, with its line endings and BOM.

local guard = require('gemini_companion.guard')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

--- The buffers of the plugin. Neovim gives no number twice.
---@type table<integer, true>
local own = {}

--- Names a buffer of the plugin. If another one has the name, the name gets a number.
local function set_name(buffer, name)
  name = 'gemini-companion://' .. name
  if not pcall(api.nvim_buf_set_name, buffer, name) then
    pcall(api.nvim_buf_set_name, buffer, ('%s#%d'):format(name, buffer))
  end
end

--- Creates an unlisted buffer of the plugin; see `set_name`.
---@param name string without the scheme
---@param buftype 'acwrite'|'nofile'
---@param bufhidden 'hide'|'wipe'
function M.create(name, buftype, bufhidden)
  local buffer ---@type integer
  local ok, why = guard.without_events('all', function()
    buffer = api.nvim_create_buf(false, false)
    set_name(buffer, name)
    own[buffer] = true
    local options = vim.bo[buffer]
    options.buftype = buftype
    options.bufhidden = bufhidden
    options.swapfile = false
  end)
  if not ok then
    error(why, 0)
  end
  return buffer
end

--- Returns whether a buffer is one of the plugin, and not one that a session has restored by its name.
---@param buffer integer
function M.is_own(buffer)
  return own[buffer] == true
end

--- Gives a buffer of the plugin another name, without the scheme. Returns its full name.
---@param buffer integer
---@param name string
function M.rename(buffer, name)
  local before = api.nvim_buf_get_name(buffer)
  guard.without_events('all', function()
    set_name(buffer, name)
    -- Neovim keeps the old name in a new buffer.
    api.nvim_buf_delete(vim.fn.bufadd(before), { force = true })
  end)
  return api.nvim_buf_get_name(buffer)
end

--- Deletes a buffer with its windows and changes, even if the user's autocommands fail.
---@param buffer integer
function M.delete(buffer)
  local function delete()
    api.nvim_buf_delete(buffer, { force = true })
  end
  guard.quietly(delete)
  if api.nvim_buf_is_valid(buffer) then
    guard.without_events('all', delete)
  end
end

--- Replaces the lines of a buffer, even if it is not 'modifiable'.
---@param buffer integer
---@param parsed GeminiCompanion.Text
function M.set_lines(buffer, parsed)
  local options = vim.bo[buffer]
  local modifiable = options.modifiable
  options.modifiable = true
  api.nvim_buf_set_lines(buffer, 0, -1, false, parsed.empty and {} or parsed.lines)
  options.modifiable = modifiable
end

--- Returns whether a buffer has nothing but one empty line.
---@param buffer integer
function M.has_empty_line(buffer)
  local lines = api.nvim_buf_get_lines(buffer, 0, 2, false)
  return #lines == 1 and lines[1] == ''
end

--- Returns the text of a loaded buffer in the format of `text.parse`.
---@param buffer integer
---@return GeminiCompanion.Text
function M.parsed(buffer)
  local options = vim.bo[buffer]
  local lines = api.nvim_buf_get_lines(buffer, 0, -1, true)
  return {
    lines = lines,
    dos = options.fileformat == 'dos',
    bomb = options.bomb,
    eol = options.endofline,
    -- The CTRL-Z at the end of a CRLF file. A text from bytes has it in its last line.
    eof = options.endoffile,
    -- After `:%d`, the buffer has no line, although Neovim shows an empty one.
    empty = M.has_empty_line(buffer) and api.nvim_buf_call(buffer, vim.fn.wordcount).bytes == 0,
  }
end

--- Sets the options of a buffer for the line endings, BOM and last line of a text, even if it is not 'modifiable'.
---@param buffer integer
---@param parsed GeminiCompanion.Text
function M.set_form(buffer, parsed)
  local options = vim.bo[buffer]
  local modifiable = options.modifiable
  options.modifiable = true
  options.fileformat = parsed.dos and 'dos' or 'unix'
  options.bomb = parsed.bomb
  options.fixendofline = false
  options.endofline = parsed.eol
  options.endoffile = parsed.eof == true
  options.modifiable = modifiable
end

--- Gives a buffer a text and its form, without an undo step.
---@param buffer integer
---@param parsed GeminiCompanion.Text
function M.fill(buffer, parsed)
  local options = vim.bo[buffer]
  local levels = options.undolevels
  options.undolevels = -1
  M.set_lines(buffer, parsed)
  M.set_form(buffer, parsed)
  options.undolevels, options.modified = levels, false
end

--- Returns the changes between two buffers; see `text.changes`.
---@param old integer
---@param new integer
---@param most? integer
---@return integer[][]?
function M.changes(old, new, most)
  local function lines_of(buffer)
    return api.nvim_buf_get_lines(buffer, 0, -1, false)
  end
  return text.changes(lines_of(old), lines_of(new), most)
end

--- Returns whether a branch of the undo tree leads to a change, and whether other branches do.
local function find_change(entries, number)
  local is_elsewhere = false
  for _, entry in ipairs(entries) do
    if entry.seq == number then
      return true, false
    end
    local is_in, is_beyond = find_change(entry.alt or {}, number)
    is_elsewhere = is_elsewhere or is_in or is_beyond
  end
  return false, is_elsewhere
end

--- Returns whether the text of a buffer contains a change: not if the user has undone it, or has left its branch.
--- Returns nil if the undo tree has it no more.
---@param buffer integer
---@param number integer
---@return boolean?
function M.contains_change(buffer, number)
  local tree = api.nvim_buf_call(buffer, vim.fn.undotree)
  -- The entries are those of the present branch, also those that redo would make.
  local is_in_branch, is_elsewhere = find_change(tree.entries, number)
  if not is_in_branch and not is_elsewhere then
    return nil
  end
  return is_in_branch and tree.seq_cur >= number
end

--- Makes undo and redo restore the form of a text as well. Neovim only restores its lines. After a reload, the form is
--- that of the file.
local function follow_undo(buffer, number, set_form, old, new)
  local shown = new
  local following = api.nvim_create_autocmd('TextChanged', {
    buffer = buffer,
    callback = function()
      -- One command may undo or redo several changes, so their numbers alone do not say it.
      local is_there = M.contains_change(buffer, number)
      local wanted = is_there and new or (is_there == false and old or shown)
      if wanted ~= shown then
        shown = wanted
        set_form(wanted)
      end
    end,
  })
  api.nvim_create_autocmd('BufReadPost', {
    buffer = buffer,
    once = true,
    callback = function()
      pcall(api.nvim_del_autocmd, following)
    end,
  })
end

--- Replaces the lines that differ between two texts. Without any, it replaces a line by itself, for an undo step.
local function replace_lines(buffer, old, new)
  local hunks = text.changes(old, new) --[[@as integer[][] ]]
  for index = math.max(#hunks, 1), 1, -1 do
    local from, count, to, added = unpack(hunks[index] or { 1, 1, 1, 1 })
    -- If no line is replaced, `from` is the line before the new ones.
    local first = count == 0 and from or from - 1
    api.nvim_buf_set_lines(buffer, first, first + count, true, vim.list_slice(new, to, to + added - 1))
  end
end

--- Ends the undo step of a user who is typing in a buffer.
---@param buffer integer
function M.end_undo_step(buffer)
  api.nvim_buf_call(buffer, function()
    vim.cmd('let &g:undolevels = &g:undolevels')
  end)
end

--- Replaces the text of a file's buffer by one in UTF-8, in one undo step. Lines that stay keep their marks. Returns
--- the number of the change.
---@param buffer integer
---@param new GeminiCompanion.Text
function M.replace(buffer, new)
  local options, old = vim.bo[buffer], M.parsed(buffer)
  local modifiable, fix = options.modifiable, options.fixendofline
  local function set_form(parsed)
    M.set_form(buffer, parsed)
    -- A write must not add the line ending that one of the texts lacks.
    options.fixendofline = fix and old.eol and new.eol
  end
  options.modifiable = true
  -- With it, Neovim would write no line endings but `\n`, and no BOM.
  options.binary = false
  M.end_undo_step(buffer)
  replace_lines(buffer, old.lines, new.lines)
  set_form(new)
  options.fileencoding = 'utf-8'
  options.modifiable = modifiable
  local number = api.nvim_buf_call(buffer, vim.fn.changenr)
  local changes_end = old.eol ~= new.eol or (old.eof == true) ~= (new.eof == true)
  if old.dos ~= new.dos or old.bomb ~= new.bomb or changes_end then
    follow_undo(buffer, number, set_form, old, new)
  end
  return number
end

--- Makes `:e` restore the text of `original()`, and a following `u` the user's lines. Without this, Neovim looks
--- for a file of that name and empties the buffer. Calls `read()` afterwards, and `unload()` with the text before each
--- unload.
---@param buffer integer
---@param original fun(): GeminiCompanion.Text
---@param read fun()
---@param unload? fun(text: GeminiCompanion.Text)
function M.outlive_edit(buffer, original, read, unload)
  local before
  -- Unlike an autocommand, this also runs with `:noautocmd`.
  local function watch()
    api.nvim_buf_attach(buffer, false, {
      on_detach = function()
        before = M.parsed(buffer)
        if unload then
          unload(before)
        end
      end,
    })
  end
  watch()
  api.nvim_create_autocmd('BufReadCmd', {
    buffer = buffer,
    callback = function()
      local parsed = original()
      M.fill(buffer, before or parsed)
      if before and not vim.deep_equal(before.lines, parsed.lines) then
        -- `u` restores this state.
        vim.bo[buffer].modified = true
        M.set_lines(buffer, parsed)
      end
      read()
      watch()
    end,
  })
end

return M
