-- Keeps the user's comments on lines for the model: marks them, follows their lines, and sends them to the companion.

local anchor = require('gemini_companion.anchor')
local config = require('gemini_companion.config')
local diff = require('gemini_companion.diff')
local file = require('gemini_companion.file')
local guard = require('gemini_companion.guard')
local idle = require('gemini_companion.idle')
local log = require('gemini_companion.log')
local proposals = require('gemini_companion.proposals')
local quickfix = require('gemini_companion.quickfix')
local server = require('gemini_companion.server')
local text = require('gemini_companion.text')

local M = {}

local api = vim.api

--- The longest time from a change of the text until the companion has the new lines of its comments.
local SYNC_INTERVAL_MS = 300

local CANNOT = "the model can't get a comment: %s"

--- The comments that no model has got, by id. Without `text`, the user is still writing.
---@type table<string, GeminiCompanion.Comment>
local comments = {}
--- The ids of comments that the user has removed or rewritten.
local removed = {}
--- The buffers whose changes are watched.
local watched = {}
--- The parameters of comments that were refused, until the user has seen them again.
---@type table[]
local refused = {}
local last_number = 0
local is_scheduled = false

--- Returns an id that no Neovim has used before. The companion may still have comments of an earlier Neovim.
local function new_id()
  last_number = last_number + 1
  return ('%d-%d-%d'):format(os.time(), vim.fn.getpid(), last_number)
end

--- Returns the comments, by file and line. Those without a text are not among them.
local function in_order()
  local list = vim.tbl_filter(function(comment)
    return comment.params.text ~= nil
  end, vim.tbl_values(comments))
  table.sort(list, function(a, b)
    local x, y = a.params, b.params
    if x.path ~= y.path then
      return x.path < y.path
    elseif x.line ~= y.line then
      return x.line < y.line
    end
    return x.id < y.id
  end)
  return list
end

local function short(comment)
  return ('%s:%d'):format(file.short(comment.params.path), comment.params.line)
end

local function send(comment)
  if comment.params.text then
    server.notify('comment/set', comment.params)
  end
end

--- Marks the comment in its buffer, and sends its lines if they have changed.
local function sync(comment)
  if anchor.update(comment) then
    send(comment)
  end
end

local function sync_all(buffer)
  for _, comment in pairs(comments) do
    if comment.buffer and (not buffer or comment.buffer == buffer) then
      sync(comment)
    end
  end
end

local function sync_soon()
  if not is_scheduled then
    is_scheduled = true
    vim.defer_fn(function()
      is_scheduled = false
      sync_all()
    end, SYNC_INTERVAL_MS)
  end
end

local place_all

--- Takes the marks out of a buffer whose text is replaced or unloaded, and puts them where the lines are afterwards.
local function leave(buffer)
  for _, comment in pairs(comments) do
    if comment.buffer == buffer then
      anchor.remove(comment)
    end
  end
  vim.schedule(place_all)
end

local function watch(buffer)
  if watched[buffer] then
    return
  end
  api.nvim_buf_attach(buffer, false, {
    on_lines = sync_soon,
    on_reload = function()
      leave(buffer)
    end,
    on_detach = function()
      watched[buffer] = nil
      sync_all(buffer)
      leave(buffer)
    end,
  })
  watched[buffer] = true
end

local function place(comment, buffer)
  watch(buffer)
  comment.buffer = buffer
  sync(comment)
end

--- Marks the comments in a file that its buffer has just read. Looks at no other buffer: many may be read at once.
local function place_in(buffer)
  local path = file.path_of(buffer)
  local real = path and file.real(path)
  for _, comment in pairs(comments) do
    if not comment.buffer and file.real(comment.params.path) == real then
      place(comment, buffer)
    end
  end
end

--- Marks the comments that have no mark and whose text is in a buffer: in the proposal, or else in the file.
function place_all()
  for _, comment in pairs(comments) do
    local path = comment.params.path
    local proposal = comment.in_proposal and proposals.get(path)
    local buffer = not comment.buffer and (proposal and proposal.view.right or file.buffer(path))
    -- A proposal that the user has just left opens again in another buffer.
    if buffer and api.nvim_buf_is_loaded(buffer) then
      place(comment, buffer)
    end
  end
end

local function drop(comment)
  anchor.remove(comment)
  comments[comment.params.id] = nil
end

local function remove(comment)
  local id = comment.params.id
  drop(comment)
  removed[id] = true
  server.notify('comment/removed', { id = id })
end

--- Gives a comment these parameters. A rewritten comment is a new one, since a model may just be getting the old one.
local function write(comment, entered)
  local buffer, params, id = comment.buffer, comment.params, new_id()
  if comments[params.id] == comment and params.text then
    remove(comment)
  else
    drop(comment)
  end
  comment.params = vim.tbl_extend('force', entered, { id = id })
  comments[id] = comment
  send(comment)
  if buffer then
    place(comment, buffer)
  else
    place_all()
  end
end

--- Returns the file of the current buffer, and whether the buffer is a proposal.
local function current_file()
  local buffer = api.nvim_get_current_buf()
  local proposal, is_proposal = proposals.of_buffer(buffer)
  return proposal and proposal.path or file.path_of(buffer), is_proposal
end

local function on_lines(first, last)
  sync_all(api.nvim_get_current_buf())
  return vim.tbl_filter(function(comment)
    local from, to = anchor.lines(comment)
    return comment.buffer == api.nvim_get_current_buf() and from <= last and to >= first
  end, in_order())
end

--- Returns the comment that the user means: the one on the line, or on exactly the range.
local function find(first, last)
  local line = first or api.nvim_win_get_cursor(0)[1]
  local found = vim.tbl_filter(function(comment)
    local from, to = anchor.lines(comment)
    return not first or (from == first and to == (last or first))
  end, on_lines(line, last or line))
  return found[1]
end

--- Returns a comment without a text, on the entered lines.
local function begin(path, in_proposal, first, last)
  local count = api.nvim_buf_line_count(0)
  local line = math.min(math.max(first or api.nvim_win_get_cursor(0)[1], 1), count)
  local comment = {
    in_proposal = in_proposal,
    params = {
      id = new_id(),
      path = path,
      line = line,
      endLine = math.min(math.max(last or line, line), count),
    },
  }
  comment.params.content = anchor.content(api.nvim_get_current_buf(), line, comment.params.endLine)
  comments[comment.params.id] = comment
  place(comment, api.nvim_get_current_buf())
  return comment
end

local function lines_of(comment)
  local from, to = anchor.lines(comment)
  return from == to and ('line %d'):format(from) or ('lines %d-%d'):format(from, to)
end

--- Sets the comment on lines, by default on that of the cursor. Without a text, the user is asked; an empty one removes
--- the comment. Returns whether that is possible, and if not, the cause.
---@param new_text? string
---@param first? integer
---@param last? integer
function M.set(new_text, first, last)
  local path, in_proposal = current_file()
  if not path then
    return false, 'this buffer has no file to comment on'
  elseif not server.status() then
    return false, CANNOT:format('the companion is not running (:GeminiCompanion start)')
  elseif not config.options.share_context then
    return false, CANNOT:format('sharing with CLIs is off')
  end
  local comment = find(first, last) or begin(path, in_proposal, first, last)
  local is_new = comment.params.text == nil
  local offered = is_new and not new_text and refused[1] or {}
  local function answer(reply)
    reply = reply and text.utf8(vim.trim(reply))
    local entered = vim.tbl_extend('keep', { text = reply }, comment.params, offered)
    if reply == '' and comments[comment.params.id] == comment and not is_new then
      remove(comment)
    elseif is_new and (not reply or reply == '') then
      drop(comment)
    elseif reply and reply ~= '' and not vim.deep_equal(entered, comment.params) then
      write(comment, entered)
    end
  end
  if new_text then
    answer(new_text)
  else
    local default = comment.params.text or offered.text
    vim.ui.input({ prompt = ('Comment on %s: '):format(lines_of(comment)), default = default }, function(reply)
      if reply and is_new then
        refused = vim.tbl_filter(function(params)
          return params ~= offered
        end, refused)
      end
      answer(reply)
    end)
  end
  return true
end

--- Removes the comments on the current line, or on the lines from `first` to `last`. Returns whether there were some,
--- and if not, the cause.
---@param first? integer
---@param last? integer
function M.remove(first, last)
  local line = first or api.nvim_win_get_cursor(0)[1]
  local found = on_lines(line, last or line)
  for _, comment in ipairs(found) do
    remove(comment)
  end
  return #found > 0, #found == 0 and 'no comment is on this line' or nil
end

--- Returns the number of comments that no model has got.
function M.count()
  return #in_order()
end

--- Goes to the comment of an item in the quickfix list. A proposal is shown in its own tab page.
local function go_to(item)
  -- The proposal may just have been opened again.
  place_all()
  local comment = comments[item.user_data]
  if not comment or not comment.buffer or not proposals.of_buffer(comment.buffer) then
    return false
  end
  diff.show(comment.params.path)
  local window = vim.fn.win_findbuf(comment.buffer)[1]
  if window then
    api.nvim_set_current_win(window)
    api.nvim_win_set_cursor(window, { (anchor.lines(comment)), 0 })
  end
  return true
end

--- Lists the comments in the quickfix window. Enter goes to one.
function M.list()
  sync_all()
  local items = vim.tbl_map(function(comment)
    return {
      filename = comment.params.path,
      lnum = (anchor.lines(comment)),
      text = anchor.label(comment),
      user_data = comment.params.id,
    }
  end, in_order())
  if #items == 0 then
    return false, 'no comment waits'
  end
  quickfix.show('Comments for the CLI', items, 'gemini_companion_comments', go_to)
  return true
end

--- Shows a message that contains no comment, as soon as it disturbs no question.
local function announce(show, line)
  idle.when_idle(function()
    show(line)
  end)
end

--- Handles `comment/delivered`.
function M.on_delivered(params)
  local delivered = {}
  for _, id in ipairs(params.ids) do
    local comment = comments[id]
    if comment then
      delivered[#delivered + 1] = comment
      drop(comment)
    elseif removed[id] then
      announce(log.warn, 'the model had your comment before you changed or removed it')
    end
  end
  if #delivered == 1 then
    announce(log.notify, ('the model has your comment on %s'):format(short(delivered[1])))
  elseif #delivered > 1 then
    announce(log.notify, ('the model has your %d comments'):format(#delivered))
  end
end

--- Handles `comment/refused`.
function M.on_refused(params)
  local comment = comments[params.id]
  if comment then
    drop(comment)
    table.insert(refused, comment.params)
    announce(log.warn, ('%s (the next comment offers your text): %s'):format(short(comment), params.reason))
  end
end

--- Handles `comment/pending`.
function M.on_pending(params)
  for _, pending in ipairs(params.comments) do
    if not comments[pending.id] and not removed[pending.id] then
      comments[pending.id] = { params = pending }
    end
  end
  place_all()
end

--- Sends the comments to a companion that has just started. The journal of the last one may have removed comments.
function M.resend()
  for id in pairs(removed) do
    server.notify('comment/removed', { id = id })
  end
  for _, comment in ipairs(in_order()) do
    if comment.buffer then
      anchor.update(comment)
    end
    send(comment)
  end
end

--- Sends the comments in a buffer with its new file, after `:saveas` or `:file`.
local function follow_file(buffer)
  local path = file.path_of(buffer)
  for _, comment in pairs(path and comments or {}) do
    if comment.buffer == buffer then
      comment.params = vim.tbl_extend('force', comment.params, { path = path })
      send(comment)
    end
  end
end

--- Marks comments in files and proposals that open from now on, and follows their lines.
function M.start()
  diff.on_changed = vim.schedule_wrap(place_all)
  local group = api.nvim_create_augroup('gemini_companion_comments', {})
  guard.on_buffer(group, { 'BufReadPost', 'BufNewFile' }, place_in)
  guard.on_buffer(group, { 'BufWritePost', 'BufLeave' }, sync_all)
  guard.on_buffer(group, 'BufFilePost', follow_file)
end

return M
