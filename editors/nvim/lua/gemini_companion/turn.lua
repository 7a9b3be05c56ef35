-- Finds out whether the user has written a proposal: by a command line, or by a key that runs a command. Only such a
-- write accepts. Autosave plugins write from autocommands and timers.
--
-- The states of `turn`:
--
-- | State | Begins with | A write is the user's |
-- | --- | --- | --- |
-- | nil | `finish` | no |
-- | begun | a typed key, or an edit during a command | no |
-- | `is_command` | a command line, `ZZ`, or a key with `<Cmd>` or a Lua function | yes |
-- | `is_ending` | `SafeState`: Neovim waits for the next key, but runs scheduled functions once more | if it was |
--
-- In each state, a write inside another autocommand is not the user's, nor one by a timer while a command waits.

local exlines = require('gemini_companion.exlines')

local M = {}

local api = vim.api

--- The keys that Neovim runs for a mapping with a Lua function, and for one with `<Cmd>`.
local LUA, COMMAND = '\128\253g', '\128\253h'

--- Commands that only write a modified buffer. Neovim would close an unchanged proposal without a write, which rejects
--- it, or do nothing.
local WRITES_MODIFIED = { exit = true, update = true, wall = true, wqall = true, xall = true, xit = true }

--- The Vim functions that wait. Meanwhile, Neovim runs timers.
local WAITS = { getchar = true, getcharstr = true, inputlist = true, wait = true }

--- The Lua functions that run commands.
local RUNS_COMMANDS = { [api.nvim_cmd] = true, [api.nvim_command] = true, [api.nvim_exec2] = true }

--- How long a Lua function of the user may take so that it has scheduled the functions that run next. After a longer
--- one, timers run as well, which have waited for its end.
local SCHEDULES_WITHIN_MS = 250

local namespace = api.nvim_create_namespace('gemini_companion_turn')

--- The open views.
---@type table<GeminiCompanion.View, true>
local views = {}

--- The current turn.
---@type GeminiCompanion.Turn?
local turn

local last_key

--- Ends a turn, unless the user has begun the next one.
local function finish(ended)
  if not ended or turn ~= ended then
    return
  end
  turn = nil
  for _, view in ipairs(ended.marked) do
    if not view.closing and api.nvim_buf_is_valid(view.right) then
      vim.bo[view.right].modified = select(2, view:proposal())
    end
  end
end

--- Marks a proposal as modified until the turn ends, unless the user has just left it.
---@param view GeminiCompanion.View
function M.mark(view)
  if turn and api.nvim_buf_is_valid(view.right) then
    vim.bo[view.right].modified = true
    table.insert(turn.marked, view)
  end
end

--- Prepares the proposals for command lines: those in sight, or all of them for `:tabdo`. An unchanged proposal is
--- marked as modified during the turn, so that `:x`, `:update` and the like write it.
local function prepare(lines)
  local writes, everywhere, sleeps, is_own = false, false, false, false
  for _, command in ipairs(exlines.commands(lines)) do
    if WRITES_MODIFIED[command.cmd] then
      writes = true
      -- `:wall!` and the like do not set `v:cmdbang`.
      turn.insists = turn.insists or command.bang
    end
    everywhere = everywhere or command.cmd == 'tabdo'
    sleeps = sleeps or command.cmd == 'sleep'
    is_own = is_own or writes or command.cmd == 'write' or command.cmd == 'wq'
    turn.may_schedule = turn.may_schedule or command.cmd == 'lua'
  end
  -- Meanwhile, Neovim runs the timers of plugins.
  turn.only_sleeps = sleeps and not is_own
  for view in pairs(writes and views or {}) do
    local is_meant = view:is_current() or (everywhere and api.nvim_buf_is_valid(view.right))
    if is_meant and not view.closing and not vim.bo[view.right].modified then
      M.mark(view)
    end
  end
end

--- Iterates over the functions that run, innermost first, each with its first value.
local function running()
  -- 1 is the iterator itself.
  local level = 1
  return function()
    level = level + 1
    local frame = debug.getinfo(level, 'f')
    if frame then
      local _, first = debug.getlocal(level, 1)
      return frame.func, first
    end
  end
end

--- Returns whether Neovim waits for an answer or a key, or in a function for the end of a time.
local function is_waiting()
  local mode = api.nvim_get_mode().mode
  -- `c`: a callback of Vim script.
  if mode == 'c' or mode:find('^r') or vim.fn.state('c') ~= '' then
    return true
  end
  for func, first in running() do
    -- The first value of `vim.call` is the name of the Vim function.
    if func == vim.wait or (func == vim.call and WAITS[first]) then
      return true
    end
  end
  return false
end

--- Notes that a command of the user begins.
local function begin_command()
  local began = turn --[[@as GeminiCompanion.Turn]]
  began.is_command, began.has_run_events = true, false
  local function note()
    -- A command that waits or asks goes on afterwards, without events.
    if is_waiting() then
      vim.defer_fn(note, 10)
    else
      began.has_run_events = true
    end
  end
  vim.schedule(note)
end

local function on_key(key, typed)
  local mode = api.nvim_get_mode().mode
  -- A key that answers a question belongs to the command that asks.
  if typed ~= '' and not (turn and mode:find('^[cr]')) then
    finish(turn)
    turn = { marked = {}, began = vim.uv.now() }
  end
  if turn and (key == LUA or key == COMMAND) then
    begin_command()
    turn.may_schedule = key == LUA
    turn.only_sleeps = turn.only_sleeps and key == COMMAND
    -- The other keys of a mapping come without the typed ones.
    if key == COMMAND and typed ~= '' then
      prepare(exlines.of_mapping(typed, mode))
    end
  elseif turn and key == 'Z' and last_key == 'Z' and mode == 'n' then
    begin_command()
    prepare({ 'xit' })
  elseif turn and key == '\r' and vim.fn.getcmdtype() == ':' then
    -- If an autocommand of the user for `CmdlineLeave` fails, ours does not run.
    begin_command()
  end
  last_key = key
end

local function start()
  vim.on_key(on_key, namespace)
  local group = api.nvim_create_augroup('gemini_companion_turn', {})
  api.nvim_create_autocmd('CmdlineLeave', {
    group = group,
    pattern = ':',
    callback = function()
      if turn and not vim.v.event.abort then
        begin_command()
        prepare({ vim.fn.getcmdline() })
      end
    end,
  })
  api.nvim_create_autocmd('SafeState', {
    group = group,
    callback = function()
      if api.nvim_get_mode().mode:find('^[cr]') then
        -- Neovim waits for an answer, such as with 'confirm'.
        return
      end
      vim.uv.update_time()
      if turn and turn.is_command and not (turn.may_schedule and vim.uv.now() - turn.began <= SCHEDULES_WITHIN_MS) then
        finish(turn)
      elseif turn and not turn.is_ending then
        turn.is_ending = true
        vim.schedule_wrap(finish)(turn)
      end
    end,
  })
end

local function stop()
  turn = nil
  vim.on_key(nil, namespace)
  api.nvim_del_augroup_by_name('gemini_companion_turn')
end

--- Watches the user's commands while a view is open.
---@param view GeminiCompanion.View
function M.watch(view)
  if not next(views) then
    start()
  end
  views[view] = true
  -- An edit is no command. An autosave plugin may write right after it.
  api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP', 'InsertLeave' }, {
    group = view.group,
    buffer = view.right,
    callback = function()
      if turn then
        turn.is_command = false
      end
    end,
  })
  -- An autosave plugin may also schedule a write when the user leaves a buffer.
  api.nvim_create_autocmd('BufLeave', {
    group = view.group,
    buffer = view.right,
    callback = function()
      if turn then
        turn.may_schedule = false
      end
    end,
  })
end

---@param view GeminiCompanion.View
function M.forget(view)
  if views[view] then
    views[view] = nil
    if not next(views) then
      stop()
    end
  end
end

--- Returns whether another autocommand runs around the one that calls this, and whether a Vim function does.
---@return boolean, boolean
local function surroundings()
  local stack = vim.split(vim.fn.expand('<stack>'), '..', { plain = true })
  local is_nested, in_function = false, false
  for index = 1, #stack - 1 do
    local word = stack[index]:match('^%a+')
    is_nested = is_nested or (word ~= nil and vim.fn.exists('##' .. word) == 1)
    in_function = in_function or word == 'function'
  end
  return is_nested, in_function
end

--- Returns whether a timer or the like runs while a command of the user waits: for an answer, a key or a process.
---@param in_function boolean
local function is_meanwhile(in_function)
  if is_waiting() then
    return true
  end
  local commands = 0
  for func in running() do
    if RUNS_COMMANDS[func] or (commands > 0 and func == vim.call) then
      commands = commands + 1
    end
  end
  -- A command around that of a Lua function may be `:sleep`, if Neovim has run events during the user's command.
  local is_during = turn.has_run_events and not turn.is_ending
  return is_during and (commands > 1 or (commands == 1 and in_function))
end

--- Returns whether a command of the user runs, for `BufWriteCmd`, and whether it has a `!`.
---@return boolean, boolean insists
function M.is_users()
  local is_nested, in_function = surroundings()
  if not turn or not turn.is_command or turn.only_sleeps or is_nested or is_meanwhile(in_function) then
    return false, false
  end
  return true, turn.insists == true or vim.v.cmdbang == 1
end

--- Returns the current turn, to recognize it again.
---@return GeminiCompanion.Turn?
function M.current()
  return turn
end

return M
