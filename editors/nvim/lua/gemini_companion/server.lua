-- Runs `gemini-companion serve`, and exchanges JSON-RPC lines with it. Other modules interpret the messages.

local config = require('gemini_companion.config')
local guard = require('gemini_companion.guard')
local log = require('gemini_companion.log')
local name = require('gemini_companion.name')

local M = {}

local EDITOR_FAILED = -32000

local ENDED = 'the companion is not ready (see :GeminiCompanion)'
--- The options that a companion has from its start. The other ones apply at once.
local FIXED = { 'cmd', 'clients', 'worktrees', 'git_ignored_private', 'review', 'diagnostics', 'trusted', 'log_level' }
local OTHER_PORT = 'the CLIs lose their connection; run /ide enable in each after 20 seconds'

--- The running companion.
---@type GeminiCompanion.Server?
local current
--- The last companion that was ready, if it has ended.
---@type GeminiCompanion.Server?
local last

--- The values that the user's variables had before, or false where there was none.
local user_values = {}

--- Sets the variables that lead a CLI in a `:terminal` to this companion.
local function set_environment(server, env)
  server.env = env
  for variable, value in pairs(env) do
    if user_values[variable] == nil then
      user_values[variable] = vim.env[variable] or false
    end
    vim.env[variable] = value
  end
end

local function restore_environment()
  for variable, value in pairs(user_values) do
    vim.env[variable] = value or nil
  end
  user_values = {}
end

local function send(server, message)
  message.jsonrpc = '2.0'
  -- This never blocks. If the process has exited, `on_exit` reports that.
  pcall(vim.fn.chansend, server.job, vim.json.encode(message) .. '\n')
end

--- Calls the handler of a request with functions for its result and its failure. Only the first call sends an answer.
local function handle_request(server, message)
  local answered = false
  local function answer(fields)
    if not answered then
      answered = true
      fields.id = message.id
      send(server, fields)
    end
  end
  local function fail(why, code)
    answer({ error = { code = code or EDITOR_FAILED, message = guard.reason(why) } })
  end
  local ok, why = pcall(server.on.request, message.method, message.params, function(result)
    answer({ result = result or vim.empty_dict() })
  end, fail)
  if not ok then
    log.add(('%s failed: %s'):format(message.method, guard.first_line(why)))
    fail('Neovim could not do it: ' .. tostring(why))
  end
end

--- Calls `done` or `fail` of the request that a message answers. Returns whether there is such a request.
local function handle_answer(server, message)
  local request = server.pending[message.id]
  if message.method ~= nil or not request then
    return false
  end
  server.pending[message.id] = nil
  if type(message.error) == 'table' then
    request.fail(tostring(message.error.message))
  else
    request.done(type(message.result) == 'table' and message.result or {})
  end
  return true
end

local function handle_message(server, message)
  message.params = type(message.params) == 'table' and message.params or {}
  if message.id ~= nil and handle_answer(server, message) then
    return
  elseif type(message.method) ~= 'string' then
    local problem = type(message.error) == 'table' and message.error.message
    log.add('the companion refused a message: ' .. tostring(problem or '?'))
  elseif message.id ~= nil then
    handle_request(server, message)
  else
    server.on.notification(message.method, message.params)
  end
end

--- Handles one message. An error costs only that message, since the next ones may be in the same chunk.
local function handle_line(server, line)
  local ok, message = pcall(vim.json.decode, line, { luanil = { object = true, array = true } })
  if not ok or type(message) ~= 'table' then
    log.add('the companion sent an invalid message')
    return
  end
  guard.call(tostring(message.method or 'an answer'), handle_message, server, message)
end

--- Splits the output of a job into lines. The first piece of each chunk continues the last line.
local function split_lines(on_line)
  local pieces = {}
  return function(_, data)
    pieces[#pieces + 1] = data[1]
    for index = 2, #data do
      local line = table.concat(pieces)
      pieces = { data[index] }
      if line ~= '' then
        on_line(line)
      end
    end
  end
end

local function arguments(folders, ide_name)
  local options = config.options
  local list = vim.list_extend({}, options.cmd)
  vim.list_extend(list, { 'serve', '--resume', '--keep-proposals', '--log-level', options.log_level })
  vim.list_extend(list, { '--ide-name', 'neovim', '--ide-display-name', ide_name })
  vim.list_extend(list, { '--ide-pid', tostring(vim.fn.getpid()) })
  vim.list_extend(list, { '--clients', table.concat(options.clients, ',') })
  for _, folder in ipairs(folders) do
    vim.list_extend(list, { '--workspace', folder })
  end
  local flags = {
    ['--no-worktrees'] = not options.worktrees,
    ['--git-ignored-private'] = options.git_ignored_private,
    ['--no-review'] = not options.review,
    ['--no-diagnostics'] = not options.diagnostics,
    ['--no-context'] = not options.share_context,
    ['--review-all'] = options.review and options.review_all,
    ['--trusted'] = options.trusted == true,
    ['--untrusted'] = options.trusted == false,
  }
  for flag, is_set in vim.spairs(flags) do
    list[#list + 1] = is_set and flag or nil
  end
  return list
end

--- Stops the companion by closing its stdin. It then rejects the open proposals, unless the next companion gets them,
--- notifies its clients, and exits. It is killed after three seconds.
---@param restarts? boolean
function M.stop(restarts)
  local server = current
  if not server or server.stopping then
    return
  end
  if restarts then
    -- Also before it is ready: it has the proposals of the last one.
    send(server, { method = 'editor/restarts', params = vim.empty_dict() })
  end
  server.stopping = true
  pcall(vim.fn.chanclose, server.job, 'stdin')
  vim.defer_fn(function()
    pcall(vim.fn.jobstop, server.job)
  end, 3000)
end

--- Waits until a companion that is stopping has exited, for two seconds at most.
function M.wait()
  if current and current.stopping then
    vim.fn.jobwait({ current.job }, 2000)
  end
end

--- Returns whether the CLIs of the companion go on with one that starts now, for these folders.
---@param folders string[]
function M.is_resumable(folders)
  local server = current
  return server ~= nil and server.folders[1] == folders[1] and (config.options.review or not server.options.review)
end

--- Ends the companion of an earlier copy of this module, which a plugin manager has replaced.
local function end_predecessor()
  local event = { pattern = 'GeminiCompanionReplaced', modeline = false }
  guard.quietly(function()
    vim.api.nvim_exec_autocmds('User', event)
  end)
  vim.api.nvim_create_autocmd('User', {
    group = vim.api.nvim_create_augroup('gemini_companion_replaced', {}),
    pattern = event.pattern,
    callback = function()
      M.stop()
      M.wait()
    end,
  })
end

--- Starts the companion. Returns whether it runs, and if not, the reason.
---@param folders string[]
---@param on GeminiCompanion.ServerHandler
function M.start(folders, on)
  local program = config.options.cmd[1] or ''
  if vim.fn.executable(program) ~= 1 then
    return false, ('%s not found; see :checkhealth gemini_companion'):format(program)
  end
  end_predecessor()
  local server = {
    on = on,
    name = name.choose(folders),
    folders = folders,
    options = config.options,
    clients = 0,
    private = {},
    pending = {},
    last_id = 0,
  }
  local last_words
  local options = {
    on_stdout = split_lines(function(line)
      handle_line(server, line)
    end),
    on_stderr = split_lines(function(line)
      -- Further lines may explain an error.
      if not (last_words and last_words:find('^error:')) then
        last_words = line
      end
      log.add(line)
    end),
    on_exit = function(_, code)
      if current == server then
        current = nil
      end
      last = server.port and server or last
      restore_environment()
      for _, request in pairs(server.pending) do
        guard.call('an answer', request.fail, ENDED)
      end
      local problem
      if not server.stopping then
        local why = last_words and ': ' .. last_words or ''
        problem = ('the companion exited with code %d%s'):format(code, why)
      end
      on.exit(problem, server.port ~= nil)
    end,
  }
  local ok, job = pcall(vim.fn.jobstart, arguments(folders, server.name), options)
  if not ok or job <= 0 then
    return false, ('could not start %s: %s'):format(program, tostring(job))
  end
  server.job = job
  server.pid = vim.fn.jobpid(job)
  current = server
  return true
end

--- Handles `companion/ready`.
function M.on_ready(params)
  local server = current
  if not server then
    return
  end
  server.port = params.port
  set_environment(server, params.env)
  if last and last.clients > 0 and last.port ~= server.port then
    log.warn(OTHER_PORT)
  end
  last = nil
  server.on.ready()
end

--- Handles `companion/clients`.
function M.on_clients(params)
  if current then
    current.clients = params.count
  end
end

--- Handles `companion/private`.
function M.on_private(params)
  if current then
    current.private = params.reasons
  end
end

--- Sends a notification if the companion is ready. Returns whether it was sent.
---@param method string
---@param params table
function M.notify(method, params)
  if current and current.port and not current.stopping then
    send(current, { method = method, params = params })
    return true
  end
  return false
end

--- Sends a request. Calls `done` with the answer, or `fail` with the reason. If the companion is not ready, or ends
--- before it answers, that is a failure.
---@param method string
---@param params table
---@param done fun(result: table)
---@param fail fun(why: string)
---@return boolean is_sent
function M.request(method, params, done, fail)
  local server = current
  if not (server and server.port) or server.stopping then
    fail(ENDED)
    return false
  end
  server.last_id = server.last_id + 1
  server.pending[server.last_id] = { done = done, fail = fail }
  send(server, { id = server.last_id, method = method, params = params })
  return true
end

--- Returns the result of a request; nil if it does not arrive in time.
---@param method string
---@param timeout_ms integer
---@param params? table
function M.ask(method, timeout_ms, params)
  local answer
  local is_over = false
  M.request(method, params or vim.empty_dict(), function(result)
    answer, is_over = result, true
  end, function()
    is_over = true
  end)
  vim.wait(timeout_ms, function()
    return is_over
  end, 10)
  return answer
end

--- Returns the number of the connected CLIs with their names and versions, for the user.
---@param clis table[] those of `companion/status`
function M.connected(clis)
  local names = {}
  for _, cli in ipairs(clis) do
    local shown = vim.trim(cli.name .. ' ' .. cli.version)
    if shown ~= '' then
      names[#names + 1] = log.printable(shown)
    end
  end
  local list = #names > 0 and (' (%s)'):format(table.concat(names, ', ')) or ''
  return ('Connected CLIs: %d%s'):format(#clis, list)
end

--- Updates the variables for terminals, which have the folders of the workspace.
function M.update_environment()
  local server = current
  M.request('companion/environment', vim.empty_dict(), function(result)
    set_environment(server, result.env)
  end, function() end)
end

--- Returns the options of the companion, or those of the next one while none runs.
---@return GeminiCompanion.Options
function M.options()
  return current and current.options or config.options
end

--- Returns the names of the options that only the next companion will have.
---@return string[]
function M.options_of_next()
  return vim.tbl_filter(function(option)
    return not vim.deep_equal(M.options()[option], config.options[option])
  end, FIXED)
end

--- Returns the companion, or nil while none runs.
---@return GeminiCompanion.Server?
function M.status()
  return current
end

return M
