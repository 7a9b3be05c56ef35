-- Shows a proposal in a tab page. The left side is the file, read-only; the right side is the proposal, editable.
-- Reports the user's decisions to a `ViewHandler`.

local buffers = require('gemini_companion.buffer')
local file = require('gemini_companion.file')
local focus = require('gemini_companion.focus')
local guard = require('gemini_companion.guard')
local idle = require('gemini_companion.idle')
local keys = require('gemini_companion.keys')
local labels = require('gemini_companion.labels')
local log = require('gemini_companion.log')
local proposals = require('gemini_companion.proposals')
local text = require('gemini_companion.text')
local turn = require('gemini_companion.turn')
local unified = require('gemini_companion.unified')
local windows = require('gemini_companion.windows')

local M = {}

local api = vim.api

---@class GeminiCompanion.View
local View = {}
View.__index = View

--- The bar while the user still types in a proposal that has ended.
local OVER = 'This proposal has ended. <Esc> closes it'

--- The views in sight, and the user's values of 'autowrite' and 'autowriteall' before.
local in_sight, autowrite = {}, nil

--- Switches these options off while a view is in sight. Otherwise `:make` or `:q` would write the proposal, and a write
--- accepts it.
local function follow_sight(view, is_in_sight)
  in_sight[view] = is_in_sight or nil
  if next(in_sight) and not autowrite then
    autowrite = { vim.o.autowrite, vim.o.autowriteall }
    vim.o.autowrite, vim.o.autowriteall = false, false
  elseif not next(in_sight) and autowrite then
    -- The user may have switched one on meanwhile.
    vim.o.autowrite = vim.o.autowrite or autowrite[1]
    vim.o.autowriteall = vim.o.autowriteall or autowrite[2]
    autowrite = nil
  end
end

--- Sets the filetype by the file's buffer, or else by its name and the proposed text.
local function set_filetype(buffer, path)
  local edited = file.buffer(path)
  local filetype = edited and vim.bo[edited].filetype or ''
  -- The user's plugins may fail in a buffer without a file. The proposal must be shown anyway.
  pcall(api.nvim_buf_call, buffer, function()
    if filetype ~= '' then
      vim.bo.filetype = filetype
    else
      vim.cmd('silent doautocmd <nomodeline> filetypedetect BufRead ' .. vim.fn.fnameescape(path))
    end
  end)
end

--- Updates the left side if the file has changed on disk.
function View:show_file()
  local state = file.state(self.path) or 'none'
  if state == self.file_state or not api.nvim_buf_is_valid(self.left) then
    return
  end
  self.file_state = state
  local bytes = file.read(self.path) or ''
  local is_utf8 = text.utf8(bytes) == bytes
  self.on_disk = text.parse(is_utf8 and bytes or '')
  buffers.fill(self.left, self.on_disk)
  if not is_utf8 then
    -- Neovim may know the encoding of the file.
    api.nvim_buf_call(self.left, function()
      vim.bo.modifiable = true
      pcall(vim.cmd, 'silent noautocmd keepalt read ++edit ' .. vim.fn.fnameescape(self.path))
      pcall(vim.cmd, 'silent 1delete _')
      vim.bo.modifiable = false
    end)
  end
  vim.bo[self.left].modified = false
end

--- Replaces the text of the proposal. The user can undo that.
---@param parsed GeminiCompanion.Text
---@param kind GeminiCompanion.Kind
function View:replace(parsed, kind)
  buffers.end_undo_step(self.right)
  buffers.set_form(self.right, parsed)
  buffers.set_lines(self.right, parsed)
  self.proposed = parsed
  vim.bo[self.right].modified = false
  self:show_file()
  windows.mark(self)
  self.kind = kind
  -- The marks of many changes take a while.
  vim.uv.update_time()
  self.is_seen = self:is_current()
  self.replaced_at = self.is_seen and vim.uv.now() or nil
end

--- Returns whether the text has been replaced in sight of the user, who can't have seen the new one yet.
function View:is_just_replaced()
  local command = turn.current()
  local began = command and command.began or vim.uv.now()
  return self.replaced_at ~= nil and began - self.replaced_at < idle.QUIET_MS
end

--- Returns whether both sides are there, also if the user has closed the window of the left one.
function View:is_whole()
  return api.nvim_buf_is_loaded(self.right) and api.nvim_buf_is_loaded(self.left)
end

--- Returns the text of the buffer, or its text at the last unload.
---@return GeminiCompanion.Text
function View:text()
  if api.nvim_buf_is_loaded(self.right) then
    return buffers.parsed(self.right)
  end
  return self.unloaded or self.proposed
end

--- Returns the text of the proposal for the CLI or a file, and whether the user has changed it.
---@return GeminiCompanion.Text, boolean is_changed
function View:proposal()
  local now, proposed = self:text(), self.proposed
  if not vim.deep_equal(now.lines, proposed.lines) then
    -- If the user has reverted all changes, the form is that of the file as well: a diff does not show the form.
    local is_reverted = not self.on_disk.empty and vim.deep_equal(now.lines, self.on_disk.lines)
    return is_reverted and text.restored(now, proposed, self.on_disk) or now, true
  end
  local has_same_form = now.dos == proposed.dos and now.bomb == proposed.bomb and now.eol == proposed.eol
  -- An empty text and one empty line have the same lines.
  local is_emptied = now.empty == true and not proposed.empty
  return now, not has_same_form or is_emptied
end

--- Handles a write of the buffer.
---@param name string the name that it was written to
function View:write(name)
  local is_users, insists = turn.is_users()
  if name ~= self.name then
    -- `:w {file}`, or a write after `:saveas` or `:file` has renamed the buffer.
    self.copied_in = turn.current()
    self.on.copy(name)
  elseif not is_users then
    if not self.has_refused then
      self.has_refused = true
      -- Later: the plugin may write by `:silent!`.
      vim.schedule_wrap(log.warn)('a plugin has saved this proposal, and that decides nothing')
    end
  elseif self:is_current() then
    self.on.accept(insists)
  else
    -- With `:wall` in another tab page, the user does not see the proposal, so that decides nothing.
    vim.schedule(self.on.remind)
  end
end

function View:listen()
  self.group = api.nvim_create_augroup('gemini_companion_view_' .. self.right, {})
  local function on(event, options)
    options.group = self.group
    api.nvim_create_autocmd(event, options)
  end
  self.name = api.nvim_buf_get_name(self.right)
  on('BufWriteCmd', {
    buffer = self.right,
    callback = function(event)
      self:write(event.match)
    end,
  })
  buffers.outlive_edit(self.right, function()
    return self.proposed
  end, function()
    buffers.set_form(self.right, self.proposed)
    vim.bo[self.right].modified = false
  end, function(now)
    self.unloaded = now
    self:leave()
  end)
  on('BufReadCmd', {
    buffer = self.left,
    callback = function()
      self.file_state = nil
      self:show_file()
    end,
  })
  on({ 'TextChanged', 'InsertLeave' }, {
    buffer = self.right,
    callback = function()
      if self.is_shown_as_changed ~= vim.bo[self.right].modified then
        self.on.changed()
      end
    end,
  })
  on('WinResized', { callback = self.on.changed })
  on('WinClosed', {
    callback = function(event)
      self.is_window_closing = vim.fn.winbufnr(tonumber(event.match)) == self.right
    end,
  })
  on('BufWinLeave', {
    buffer = self.right,
    callback = function()
      -- `:tabonly` and the like decide nothing about a proposal that the user has not seen.
      self:leave(not self.is_window_closing or not (self.is_seen or self:is_current()))
    end,
  })
  turn.watch(self)
  if self.layout == 'unified' then
    unified.listen(self)
  end
  local function follow()
    local is_current = self:is_current()
    self.is_seen = self.is_seen or is_current
    follow_sight(self, is_current)
  end
  on({ 'BufEnter', 'WinEnter', 'TabEnter' }, { callback = follow })
  follow()
  on({ 'BufEnter', 'FocusGained', 'BufWritePost', 'FileChangedShellPost' }, {
    callback = function()
      self:show_file()
    end,
  })
end

--- Calls a function that sets many options. Neovim would show an error of an autocommand of the user, and wait for a
--- key.
local function without_option_events(act, ...)
  local ok, result = guard.without_events('OptionSet', act, ...)
  if not ok then
    error(result, 0)
  end
  return result
end

local function open(path, parsed, kind, options, on)
  local view = setmetatable({
    path = path,
    kind = kind,
    proposed = parsed,
    layout = options.layout,
    on = on,
    origin = options.ended and options.ended.origin or api.nvim_get_current_win(),
    from_terminal = options.ended and options.ended.from_terminal or api.nvim_get_mode().mode == 't',
    left = buffers.create('file' .. path, 'nofile', 'hide'),
    right = buffers.create('proposal' .. path, 'acwrite', 'wipe'),
  }, View)
  vim.bo[view.left].modifiable = false
  view:show_file()
  buffers.fill(view.right, parsed)
  -- Set before the windows open, since a filetype plugin may set window options.
  set_filetype(view.left, path)
  set_filetype(view.right, path)
  view.takes_focus = options.focus and focus.decide(focus.situation()) ~= 'stay'
  local ok, why = pcall(function()
    windows.open_tab(view)
    view:listen()
    for _, buffer in ipairs({ view.left, view.right }) do
      keys.map(buffer, on)
    end
  end)
  if not ok then
    view.closing = true
    view:discard()
    error(why, 0)
  end
  labels.follow(view, true)
  if view.takes_focus then
    view:request_focus()
  end
  return view
end

--- Opens a view in the background. Raises an error if it can't. If the focus may move, the view takes it as soon as
--- the user pauses typing.
---@param path string
---@param parsed GeminiCompanion.Text
---@param kind GeminiCompanion.Kind
---@param options { focus: boolean, layout: string, ended?: GeminiCompanion.View } `ended` is the view in its place
---@param on GeminiCompanion.ViewHandler
---@return GeminiCompanion.View
function M.open(path, parsed, kind, options, on)
  return without_option_events(open, path, parsed, kind, options, on) --[[@as GeminiCompanion.View]]
end

--- Goes to the view once the user pauses, unless the user is doing something else by then.
function View:request_focus()
  idle.when_quiet(function()
    if self.closing or self:is_current() then
      return false
    end
    local decision = focus.decide(focus.situation())
    if decision == 'take' then
      self:show()
    elseif decision == 'stay' then
      self.on.remind()
    end
    return decision == 'wait'
  end)
end

--- Goes to the view. Its end takes the user back to the present window, unless that shows another proposal.
function View:show()
  local window = vim.fn.win_findbuf(self.right)[1]
  if window then
    self.is_seen = true
    if not proposals.of_buffer(api.nvim_get_current_buf()) then
      self.origin = api.nvim_get_current_win()
    end
    windows.go_to(window)
  end
end

--- Returns whether the proposal is in sight. The hidden window that Neovim opens for `:wall` does not count.
function View:is_current()
  for _, window in ipairs(vim.fn.win_findbuf(self.right)) do
    local is_here = api.nvim_win_get_tabpage(window) == api.nvim_get_current_tabpage()
    if is_here and vim.fn.win_gettype(window) ~= 'autocmd' then
      return true
    end
  end
  return false
end

--- Handles a proposal that leaves its last window, after the editor event is over. A closed window rejects the
--- proposal, unless the user can't have seen its text. Another buffer in the window, or a window that `:wq {file}`
--- closes, decides nothing.
---@param is_switch? boolean nil if that is unknown
function View:leave(is_switch)
  self.was_current = self:is_current()
  -- A session that is loaded first closes all windows.
  local is_copied = self.copied_in and self.copied_in == turn.current()
  if vim.g.SessionLoad == 1 or is_copied or self:is_just_replaced() then
    is_switch = true
  end
  local left = vim.fn.win_findbuf(self.right)
  self.is_left = self.is_left or is_switch
  vim.schedule(function()
    if self.closing or vim.fn.win_findbuf(self.right)[1] then
      self.is_left = false
      return
    end
    if self.is_left or #vim.tbl_filter(api.nvim_win_is_valid, left) > 0 then
      idle.when_idle(function()
        -- Another event for the same end may have opened it again.
        if not self.closing then
          self.on.left()
        end
      end)
    else
      self.on.reject()
    end
  end)
end

--- Opens the view again in the background, with the user's changes. Returns the new view. Raises an error if it can't.
---@return GeminiCompanion.View
function View:open_again()
  local now, _, changed = self:text(), self:proposal()
  self.closing = true
  self:discard()
  local options = { focus = false, layout = self.layout }
  local again = M.open(self.path, self.proposed, self.kind, options, self.on)
  again.is_seen = self.is_seen
  if changed then
    buffers.set_lines(again.right, now)
    buffers.set_form(again.right, now)
    vim.bo[again.right].modified = true
  end
  return again
end

---@param view GeminiCompanion.View
local function discard(view)
  follow_sight(view, false)
  turn.forget(view)
  labels.follow(view, false)
  if view.group then
    pcall(api.nvim_del_augroup_by_id, view.group)
  end
  local own = { view.right, view.left }
  windows.close_floats(own)
  for _, buffer in ipairs(own) do
    buffers.delete(buffer)
  end
  for _, window in ipairs(view.windows or {}) do
    if api.nvim_win_is_valid(window) then
      windows.disable_diff(window)
    end
  end
end

--- Deletes the buffers and their windows, even with unsaved changes.
function View:discard()
  without_option_events(discard, self)
end

--- Returns whether the end of the view must wait, since the next keys of the user are meant for it, or for a float that
--- would close with it. A user who has just decided the proposal knows that it closes, and otherwise types no more than
--- an insertion.
---@param by_user? boolean
function View:must_stay(by_user)
  if by_user then
    return api.nvim_get_current_buf() == self.right and api.nvim_get_mode().mode:find('^[iR]') ~= nil
  end
  return self:is_under_hands() or (self:is_current() and vim.fn.win_gettype() == 'popup')
end

--- Returns whether the next keys of the user are meant for the proposal.
function View:is_under_hands()
  return idle.is_busy_in(self.right) or idle.is_busy_in(self.left)
end

--- Deletes the view. Takes a user who is in it, or has just decided it, back to the earlier window. Another window of
--- its tab page stays, with the user in it.
---@param by_user? boolean
function View:discard_and_return(by_user)
  local was_in_sight = self.was_current or self:is_current()
  local current = api.nvim_get_current_buf()
  local leaves = was_in_sight and (by_user or current == self.right or current == self.left)
  leaves = leaves and api.nvim_win_is_valid(self.origin)
  if leaves then
    windows.go_to(self.origin)
  end
  self:discard()
  local back = leaves and api.nvim_get_current_win() == self.origin
  if back and self.from_terminal and vim.bo.buftype == 'terminal' then
    vim.cmd('startinsert')
  end
  if was_in_sight then
    self.on.returned()
  end
end

--- Closes the view as soon as windows may close and it need not stay. Passes the text typed since then to
--- `on.late_changes`.
---@param by_user? boolean the user has decided the proposal just now
function View:close(by_user)
  self.closing = true
  local before = self:proposal()
  local is_over = false
  local function must_stay()
    local stays = self:must_stay(by_user)
    local window = stays and not is_over and vim.fn.win_findbuf(self.right)[1]
    if window then
      is_over = true
      -- The next proposal for the file gets the name.
      self.name = buffers.rename(self.right, 'ended' .. self.path)
      windows.set_bar(window, OVER)
    end
    return stays
  end
  vim.schedule(function()
    -- Also while windows may not close: the user must see at once that it has ended.
    must_stay()
    idle.when_idle(function()
      local now = self:proposal()
      self:discard_and_return(by_user)
      if not vim.deep_equal(now.lines, before.lines) then
        self.on.late_changes(now)
      end
    end, nil, nil, must_stay)
  end)
end

return M
