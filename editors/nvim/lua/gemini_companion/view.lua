-- Shows a proposal in a tab page: the file on the left, read-only, and the proposal on the right, editable.
-- It reports the user's decisions to `on`.

local autowrite = require('gemini_companion.autowrite')
local buffers = require('gemini_companion.buffer')
local exits = require('gemini_companion.exits')
local file = require('gemini_companion.file')
local idle = require('gemini_companion.idle')
local text = require('gemini_companion.text')
local windows = require('gemini_companion.windows')

local M = {}

local api = vim.api

---@class GeminiCompanion.View
local View = {}
View.__index = View

local function new_buffer(name, buftype)
  local buffer = api.nvim_create_buf(false, false)
  if not pcall(api.nvim_buf_set_name, buffer, name) then
    -- The last one for that file is about to go.
    api.nvim_buf_set_name(buffer, ('%s#%d'):format(name, buffer))
  end
  local options = vim.bo[buffer]
  options.buftype = buftype
  options.swapfile = false
  options.bufhidden = 'wipe'
  return buffer
end

--- Finds out the file's type by its name and the buffer's text, and lets plugins act on it.
local function set_filetype(buffer, path)
  local edited = file.buffer(path)
  local filetype = edited and vim.bo[edited].filetype or ''
  -- Plugins of the user's may fail in a buffer that is not a file's; the proposal is to show still.
  pcall(api.nvim_buf_call, buffer, function()
    if filetype ~= '' then
      vim.bo.filetype = filetype
    else
      vim.cmd('silent doautocmd <nomodeline> filetypedetect BufRead ' .. vim.fn.fnameescape(path))
    end
  end)
end

--- What stands above the two sides, by the kind of the proposal.
local LABELS = {
  change = { 'The file as it is', 'Proposed by %s' },
  create = { 'No file yet', 'New file, proposed by %s' },
}

--- How the right side goes on, by whether the user has changed it.
local KEYS = { [false] = ' (:w accepts, :q rejects)', [true] = ', changed by you (:w accepts, :q! rejects)' }

--- What the right side says of its place among several proposals.
local PLACE = '%s — %d of %d'

--- What the right side says once no CLI waits for the proposal.
local ORPHAN = 'No CLI waits for it any more (:w {file} saves it, :q! drops it)'

--- What the right side says while the user still types in a proposal that has ended.
local OVER = 'It has ended, and closes when you leave Insert mode; what you write is kept'

--- What the left side says of a file that is not told otherwise.
local PRIVATE = '%s — private: an ignore file names it'

--- Shows the file as it is on the disk now; unless it is as it was shown.
function View:show_file()
  local state = file.state(self.path) or 'none'
  if state == self.file_state or not api.nvim_buf_is_valid(self.left) then
    return
  end
  self.file_state = state
  local bytes = file.read(self.path) or ''
  local is_utf8 = text.utf8(bytes) == bytes
  buffers.fill(self.left, text.parse(is_utf8 and bytes or '').lines)
  if not is_utf8 then
    -- In another encoding, which Neovim may know.
    api.nvim_buf_call(self.left, function()
      vim.bo.modifiable = true
      pcall(vim.cmd, 'silent noautocmd keepalt read ++edit ' .. vim.fn.fnameescape(self.path))
      pcall(vim.cmd, 'silent 1delete _')
      vim.bo.modifiable = false
    end)
  end
  vim.bo[self.left].modified = false
end

--- Puts a text, as `text.parse` returns it, in place of the proposal; the user can undo that.
---@param parsed GeminiCompanion.Text
---@param kind GeminiCompanion.Kind
function View:replace(parsed, kind)
  -- Whoever is typing has an undo step of their own.
  api.nvim_buf_call(self.right, function()
    vim.cmd('let &undolevels = &undolevels')
  end)
  self:set_form(parsed)
  buffers.set_lines(self.right, parsed.lines)
  self.shown = api.nvim_buf_get_lines(self.right, 0, -1, true)
  vim.bo[self.right].modified = false
  self:show_file()
  local window = windows.of(self.right)
  if window then
    api.nvim_win_call(window, function()
      vim.cmd('diffupdate')
    end)
  end
  self.kind = kind
end

--- Says in the bars what accepting does, which of `count` proposals it is, and from which CLI if that
--- is to be told.
---@param number integer
---@param count integer
---@param cli? string
function View:say(number, count, cli)
  local labels = LABELS[self.kind]
  local _, is_changed = self:proposal()
  local left, right = windows.of(self.left), windows.of(self.right)
  if left then
    windows.label(left, self.private and PRIVATE:format(labels[1]) or labels[1])
  end
  if right then
    local words = labels[2]:format(cli or 'the CLI') .. KEYS[is_changed]
    windows.label(right, count > 1 and PLACE:format(words, number, count) or words)
  end
end

--- Says in its bar that no CLI waits for it.
function View:say_orphan()
  local window = windows.of(self.right)
  if window then
    windows.label(window, ORPHAN)
  end
end

--- The buffer's own options say how its text will lie in the file, so the user can change that.
---@param parsed GeminiCompanion.Text
function View:set_form(parsed)
  buffers.set_form(self.right, parsed)
  self.form = { dos = parsed.dos, bomb = parsed.bomb, eol = parsed.eol }
end

--- The text that the CLI proposed, as `text.parse` returns it.
---@return GeminiCompanion.Text
function View:original()
  local form = self.form
  return { lines = self.shown, dos = form.dos, bomb = form.bomb, eol = form.eol }
end

--- The proposal as it is now, or was when its buffer was unloaded: as `text.parse` returns it, and whether
--- the user has changed it.
---@return GeminiCompanion.Text
---@return boolean is_changed
function View:proposal()
  ---@type GeminiCompanion.Text
  local now
  if api.nvim_buf_is_loaded(self.right) then
    now = buffers.parsed(self.right)
  else
    now = self.unloaded() or self:original()
  end
  local same = vim.deep_equal(now.lines, self.shown)
  for name, value in pairs(self.form) do
    same = same and now[name] == value
  end
  return now, not same
end

---@param mappings GeminiCompanion.Mappings|false
function View:map(mappings)
  local actions = { accept = self.on.accept, reject = self.on.reject }
  for _, buffer in ipairs({ self.left, self.right }) do
    for name, action in pairs(actions) do
      if mappings and mappings[name] then
        local options = { buffer = buffer, nowait = true, desc = name .. ' the proposal of the CLI' }
        vim.keymap.set('n', mappings[name], action, options)
      end
    end
  end
end

function View:listen()
  self.group = api.nvim_create_augroup('gemini_companion_view_' .. self.right, {})
  local function on(event, options)
    options.group = self.group
    api.nvim_create_autocmd(event, options)
  end
  local name = api.nvim_buf_get_name(self.right)
  on('BufWriteCmd', {
    buffer = self.right,
    callback = function(event)
      if event.match ~= name then
        -- As well after `:saveas` and `:file`, which have renamed the buffer.
        self.on.copy(event.match)
      elseif self:is_current() then
        self.on.accept(vim.v.cmdbang == 1)
      end
      -- What `:wall` in another tab page writes, the user does not see. It is no decision.
    end,
  })
  self.unloaded = buffers.outlive_edit(self.right, self.group, function()
    return self.shown
  end, function()
    self:set_form(self.form)
    vim.bo[self.right].modified = false
  end)
  on({ 'TextChanged', 'InsertLeave' }, { buffer = self.right, callback = self.on.changed })
  on('BufWinLeave', {
    buffer = self.right,
    callback = function()
      self:leave()
    end,
  })
  -- With `:noautocmd` nothing else tells it.
  api.nvim_buf_attach(self.right, false, {
    on_reload = function() end,
    on_detach = function()
      self:leave()
    end,
  })
  exits.listen(self, self.group)
  local function follow()
    autowrite.follow(self, self:is_current())
  end
  on({ 'BufEnter', 'WinEnter', 'TabEnter' }, { callback = follow })
  follow()
  on({ 'BufEnter', 'FocusGained', 'BufWritePost', 'FileChangedShellPost' }, {
    callback = function()
      self:show_file()
    end,
  })
end

--- Whether the user may be led elsewhere: not from text that is being typed, in a file or in a terminal.
local function is_reading()
  return api.nvim_get_mode().mode:find('^[nvV\22]') ~= nil
end

--- Opens a view. `on` has `accept(insists)`, `reject`, `left`, `waits`, `changed`,
--- `more(text)` and `copy(path)`. Fails by an error.
---@param path string
---@param parsed GeminiCompanion.Text
---@param kind GeminiCompanion.Kind
---@param options { focus: boolean, mappings: GeminiCompanion.Mappings|false }
---@param on GeminiCompanion.ViewHandler
---@return GeminiCompanion.View
function M.open(path, parsed, kind, options, on)
  local view = setmetatable({
    path = path,
    kind = kind,
    mappings = options.mappings,
    on = on,
    origin = api.nvim_get_current_win(),
    from_terminal = api.nvim_get_mode().mode == 't',
    left = new_buffer('gemini-companion://file' .. path, 'nofile'),
    right = new_buffer('gemini-companion://proposal' .. path, 'acwrite'),
  }, View)
  vim.bo[view.left].modifiable = false
  view:show_file()
  buffers.fill(view.right, parsed.lines)
  view.shown = api.nvim_buf_get_lines(view.right, 0, -1, true)
  view:set_form(parsed)
  vim.bo[view.right].modified = false
  -- Before there are windows, whose options a plugin for the type may set.
  set_filetype(view.left, path)
  set_filetype(view.right, path)
  local ok, why = pcall(windows.open_tab, view)
  if not ok then
    view:discard()
    error(why, 0)
  end
  view:listen()
  view:map(options.mappings)
  view.takes_focus = options.focus and is_reading()
  if view.takes_focus then
    idle.when_quiet(function()
      view:take_focus()
    end)
  end
  return view
end

--- Goes to the view. Keys that the user has meant for elsewhere would change or decide it unseen.
function View:take_focus()
  if self.closing or self:is_current() then
    return
  end
  if is_reading() then
    self.origin = api.nvim_get_current_win()
    self:show()
  else
    self.on.waits()
  end
end

--- Goes to the view.
function View:show()
  local window = windows.of(self.right)
  if window then
    windows.go_to(window)
  end
end

--- Whether it is in sight, in whichever tab page. A window of Neovim's own, for `:wall`, is not.
---@return boolean
function View:is_current()
  for _, window in ipairs(vim.fn.win_findbuf(self.right)) do
    local is_here = api.nvim_win_get_tabpage(window) == api.nvim_get_current_tabpage()
    if is_here and vim.fn.win_gettype(window) ~= 'autocmd' then
      return true
    end
  end
  return false
end

--- The proposal leaves its last window. What that means is known once the event is over.
function View:leave()
  self.was_current = self:is_current()
  local left = vim.fn.win_findbuf(self.right)
  vim.schedule(function()
    if self.closing or windows.of(self.right) then
      return
    end
    if #vim.tbl_filter(api.nvim_win_is_valid, left) > 0 then
      idle.when_idle(self.on.left)
    else
      self.on.reject()
    end
  end)
end

--- Opens it again in the background, as it was left. Returns the new view; fails by an error.
---@return GeminiCompanion.View
function View:open_again()
  local now, changed = self:proposal()
  self.closing = true
  self:discard()
  local options = { focus = false, mappings = self.mappings }
  local parsed = self:original()
  local again = M.open(self.path, parsed, self.kind, options, self.on)
  again.private = self.private
  if changed then
    buffers.set_lines(again.right, now.lines)
    buffers.set_form(again.right, now)
    vim.bo[again.right].modified = true
  end
  return again
end

--- Takes buffers and windows away, whatever is in them.
function View:discard()
  autowrite.follow(self, false)
  if self.group then
    pcall(api.nvim_del_augroup_by_id, self.group)
  end
  local own = { self.right, self.left }
  windows.close_floats(own)
  for _, buffer in ipairs(own) do
    if api.nvim_buf_is_valid(buffer) then
      pcall(api.nvim_buf_delete, buffer, { force = true })
    end
  end
  for _, window in ipairs(self.windows or {}) do
    if api.nvim_win_is_valid(window) then
      windows.undress(window)
    end
  end
end

--- Whether the user is typing text in it.
function View:is_typed_in()
  return api.nvim_get_current_buf() == self.right and api.nvim_get_mode().mode:find('^[iR]') ~= nil
end

--- Takes it away, and goes back to where the user came from, if the user is in it.
function View:go()
  local leaves = (self.was_current or self:is_current()) and api.nvim_win_is_valid(self.origin)
  if leaves then
    windows.go_to(self.origin)
  end
  self:discard()
  local back = leaves and api.nvim_get_current_win() == self.origin
  if back and self.from_terminal and vim.bo.buftype == 'terminal' then
    vim.cmd('startinsert')
  end
end

--- Closes the view as soon as windows may be closed. Who types in it would go on in a file of their own, so
--- it waits until they have left Insert mode; what they have written since is told to `on.more`.
function View:close()
  self.closing = true
  local told = self:proposal()
  local function try()
    if self:is_typed_in() then
      vim.defer_fn(try, 50)
      return
    end
    idle.when_idle(function()
      local now = self:proposal()
      self:go()
      if not vim.deep_equal(now.lines, told.lines) then
        self.on.more(now)
      end
    end)
  end
  vim.schedule(function()
    if self:is_typed_in() then
      windows.label(api.nvim_get_current_win(), OVER)
    end
    try()
  end)
end

return M
