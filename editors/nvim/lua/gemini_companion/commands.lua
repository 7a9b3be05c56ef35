-- Runs the subcommands of `:GeminiCompanion`, and completes them.

local guard = require('gemini_companion.guard')
local log = require('gemini_companion.log')

local M = {}

local UNHOOKED = 'Connected CLIs that have passed on no prompt yet: %d. Reasons, comments and changes work from the '
  .. 'first prompt on, if the CLI has the extension'

local NO_DISCOVERY_FILE = 'Some CLIs do not find this Neovim, because this file could not be written: %s'

local STATUS_TIMEOUT_MS = 1000

local function echo(lines)
  vim.api.nvim_echo({ { table.concat(vim.tbl_map(log.printable, lines), '\n') } }, false, {})
end

local function status_lines()
  local server = require('gemini_companion.server').status()
  if not server then
    return { 'The companion is not running. Run :GeminiCompanion start' }
  end
  if not server.port then
    return { 'The companion is starting.' }
  end
  local lines = {
    ('The companion is running: process %d, port %d.'):format(server.pid, server.port),
    ('Name in /ide status: %s'):format(server.name),
    ('Workspace: %s'):format(table.concat(require('gemini_companion.workspace').report(), ', ')),
  }
  local companion = require('gemini_companion.server').ask('companion/status', STATUS_TIMEOUT_MS)
  if not companion then
    lines[#lines + 1] = 'The companion does not answer. See :GeminiCompanion log'
    return lines
  end
  for _, found in ipairs(companion.discoveryFiles) do
    if not found.inPlace then
      lines[#lines + 1] = NO_DISCOVERY_FILE:format(found.path)
    end
  end
  lines[#lines + 1] = require('gemini_companion.server').connected(companion.clis)
  local unhooked = vim.tbl_filter(function(cli)
    return cli.awaitsHook
  end, companion.clis)
  if #unhooked > 0 then
    lines[#lines + 1] = UNHOOKED:format(#unhooked)
  end
  local context = require('gemini_companion').status()
  if not context.share_context then
    lines[#lines + 1] = 'Sharing with CLIs is off. Run :GeminiCompanion share on to turn it on'
  end
  local front = require('gemini_companion.context').front()
  local reason = context.share_context and front and companion.privateFiles[front]
  if reason then
    lines[#lines + 1] = ('Hidden from CLIs: %s. %s'):format(vim.fn.fnamemodify(front, ':~:.'), reason)
  end
  if context.review_all then
    lines[#lines + 1] = 'Review of every edit: on, if the CLI has the extension'
  end
  if context.comments > 0 then
    lines[#lines + 1] = ('Comments that no model has got: %d'):format(context.comments)
  end
  if context.changes > 0 then
    lines[#lines + 1] = ('Files that a CLI has changed: %d. Run :GeminiCompanion changes'):format(context.changes)
  end
  local paths = require('gemini_companion.proposals').paths()
  if #paths > 0 then
    lines[#lines + 1] = 'Open proposals:'
    for _, path in ipairs(paths) do
      lines[#lines + 1] = '  ' .. vim.fn.fnamemodify(path, ':~:.')
    end
  end
  return lines
end

local function show_status()
  echo(status_lines())
end

local function show_log()
  vim.cmd('botright new')
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo.buftype = 'nofile'
  vim.bo.bufhidden = 'wipe'
  vim.bo.swapfile = false
  vim.bo.buflisted = false
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, log.lines())
  vim.bo.modifiable = false
  vim.bo.filetype = 'log'
  vim.cmd('normal! G')
end

--- Returns the path that an argument means: `%`, `#`, `~` and the like stand for one. A reason for the model may
--- contain any of these characters.
local function expanded(argument)
  if argument and not vim.uv.fs_stat(argument) and argument:find('^[%%#~<]%S*$') then
    local path = vim.fn.expand(argument)
    return path ~= '' and (path:gsub('^gemini%-companion://%l+', '')) or argument
  end
  return argument
end

--- Shows why a function has failed, unless the user has already seen a message.
local function show_failure(ok, why)
  if not ok and why then
    log.fail(why)
  end
end

--- Returns a subcommand that calls a function of a module with its argument, and shows why it fails.
local function run_by(module, name)
  return function(argument, first, last)
    show_failure(require(module)[name](argument, first, last))
  end
end

--- Returns a subcommand that calls a public function with a path.
local function run(name)
  return function(path)
    show_failure(require('gemini_companion')[name](expanded(path)))
  end
end

--- Returns whether the argument of `reject` is meant as a path, and not as a reason.
local function is_path(argument)
  if require('gemini_companion.proposals').find(argument) or vim.uv.fs_stat(argument) then
    return true
  end
  local is_word = not argument:find('%s')
  return is_word and (argument:find('[/\\]') or argument:find('%w%.%w+$')) ~= nil
end

local function reject(argument)
  argument = expanded(argument)
  local path, reason = argument, nil
  if argument and not is_path(argument) then
    path, reason = nil, argument
  end
  show_failure(require('gemini_companion').reject(path, reason))
end

--- Switches on or off, by the public function with that name. Returns whether the argument is one of the two.
local function switch(name, state)
  if state ~= 'on' and state ~= 'off' then
    log.fail(('use :GeminiCompanion %s on, or %s off'):format(name, name))
    return false
  end
  require('gemini_companion')[name](state == 'on')
  return true
end

local function share(state)
  switch('share', state)
end

local function review(state)
  if not switch('review', state) then
    return
  elseif not require('gemini_companion.server').options().review then
    log.show('the review of edits is off in your setup')
  else
    local every = 'you review every edit of Gemini CLI, if it has the extension'
    log.show(state == 'on' and every or 'you review edits when the CLI asks')
  end
end

local function uncomment(_, first, last)
  show_failure(require('gemini_companion').uncomment(first, last))
end

--- Returns a path as the user may type it, after the beginning that is typed already.
local function typed(path, begun)
  if begun:find('^%./') then
    return './' .. vim.fn.fnamemodify(path, ':.')
  elseif begun:find('^/') or begun:find('^%a:[/\\]') then
    return path
  elseif begun:find('^~') then
    return vim.fn.fnamemodify(path, ':~')
  end
  local short = vim.fn.fnamemodify(path, ':~:.')
  -- The argument `prompt` means all files of a prompt.
  return short == 'prompt' and './prompt' or short
end

local function typed_paths(paths, begun)
  return vim.tbl_map(function(path)
    return typed(path, begun)
  end, paths)
end

local function proposals(begun)
  return typed_paths(require('gemini_companion.proposals').paths(), begun)
end

local function changes(begun)
  return vim.list_extend({ 'prompt' }, typed_paths(require('gemini_companion.prompts').paths(), begun))
end

local function states()
  return { 'off', 'on' }
end

--- The subcommands: the function of each, and one that returns the completions after the beginning of an argument.
---@type table<string, [fun(argument?: string, first?: integer, last?: integer), (fun(begun: string): string[])?]>
local commands = {
  add = { run_by('gemini_companion.prompt', 'add') },
  status = { show_status },
  start = { run('start') },
  stop = { run('stop') },
  restart = { run('restart') },
  share = { share, states },
  review = { review, states },
  log = { show_log },
  accept = { run('accept'), proposals },
  reject = { reject, proposals },
  show = { run('show'), proposals },
  next = { run_by('gemini_companion.review', 'next') },
  prev = { run_by('gemini_companion.review', 'prev') },
  acceptall = { run_by('gemini_companion.review', 'accept_all') },
  rejectall = { run_by('gemini_companion.review', 'reject_all') },
  list = { run_by('gemini_companion.review', 'list') },
  comment = { run_by('gemini_companion', 'comment') },
  uncomment = { uncomment },
  comments = { run_by('gemini_companion.comments', 'list') },
  changes = { run_by('gemini_companion.changes', 'list') },
  diff = { run('diff'), changes },
  revert = { run('revert'), changes },
  keep = { run('keep'), changes },
}

--- Runs a subcommand, by default `status`. A path may follow its name. `first` and `last` are the range, if the
--- user gave one.
---@param arguments string
---@param first? integer
---@param last? integer
function M.run(arguments, first, last)
  local name, path = arguments:match('^%s*(%S*)%s*(.-)%s*$')
  name = name == '' and 'status' or name
  local command = commands[name]
  if command then
    guard.try(command[1], path ~= '' and path or nil, first, last)
  else
    -- A list of all names would not fit in one line, and Neovim would wait for Enter.
    local instead = name == 'doctor' and 'run :checkhealth gemini_companion' or 'see :help :GeminiCompanion'
    log.fail(('unknown command %s; %s'):format(name, instead))
  end
end

--- Returns the completions for the command line, whose last word is `lead`.
---@param lead string
---@param line string the command line up to the cursor
function M.complete(lead, line)
  -- The command may have a range and modifiers, and be short.
  local ok, parsed = pcall(vim.api.nvim_parse_cmd, line, {})
  local words = ok and parsed.args or vim.split(line:gsub('^.-%u%a*%s*', '', 1), '%s+')
  local rest = table.concat(words, ' ') .. (line:find('%s$') and #words > 0 and ' ' or '')
  local name, begun = rest:match('^(%S+)%s+(.*)$')
  if name == 'add' then
    return vim.fn.getcompletion(lead, 'file')
  end
  local candidates = vim.tbl_keys(commands)
  table.sort(candidates)
  if name then
    local complete = commands[name] and commands[name][2]
    candidates = complete and complete(begun) or {}
  end
  local found = {}
  for _, candidate in ipairs(candidates) do
    begun = name and begun or lead
    if vim.startswith(candidate, begun) then
      -- Neovim replaces only the last word of a name with spaces.
      found[#found + 1] = candidate:sub(#begun - #lead + 1)
    end
  end
  return found
end

return M
