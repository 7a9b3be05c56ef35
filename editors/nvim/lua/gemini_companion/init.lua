-- Provides the public functions, and starts and stops the companion with Neovim.

local M = {}

local config = require('gemini_companion.config')
local guard = require('gemini_companion.guard')
local log = require('gemini_companion.log')

--- A companion that ends more often is not started again, since it would end without end.
local MAX_REVIVALS = 3
local REVIVALS_WITHIN_MS = 10 * 60 * 1000

--- Called once the current companion has exited.
local after_exit
--- When companions were started again that had ended by themselves.
local revivals = {}

--- Sets options; see `:help gemini_companion-options`.
---@param options? GeminiCompanion.Options
function M.setup(options)
  config.set(options)
  if options and options.share_context ~= nil then
    M.share(options.share_context)
  end
  if options and options.review_all ~= nil then
    M.review(options.review_all)
  end
  local server = require('gemini_companion.server')
  if server.status() then
    require('gemini_companion.workspace').report()
    local names = table.concat(server.options_of_next(), ', ')
    if names ~= '' then
      log.warn(':GeminiCompanion restart applies these options: ' .. names)
    end
  end
end

--- Starts the companion, unless the user has disabled that or another program has started this Neovim for one text.
function M.autostart()
  if not config.options.autostart then
    return
  end
  local startup = require('gemini_companion.startup')
  if startup.may_start() then
    M.start()
  else
    log.add(('not started: %s; run :GeminiCompanion start'):format(startup.obstacle))
  end
end

--- Returns whether a companion that has ended by itself starts again. Each time counts.
local function may_revive()
  local now = vim.uv.now()
  revivals = vim.tbl_filter(function(time)
    return now - time < REVIVALS_WITHIN_MS
  end, revivals)
  if #revivals == MAX_REVIVALS then
    return false
  end
  revivals[#revivals + 1] = now
  return true
end

--- Returns the function that starts the next companion after this one has exited, or nil. `problem` says why it has
--- exited, unless the user wanted that.
local function successor(problem, was_ready)
  local start = after_exit
  after_exit = nil
  if problem and was_ready and may_revive() then
    start = M.start
    log.warn('the companion starts again: ' .. problem)
  elseif problem then
    log.warn(problem)
  end
  return start
end

local function listen()
  local server = require('gemini_companion.server')
  local workspace = require('gemini_companion.workspace')
  local group = vim.api.nvim_create_augroup('gemini_companion', {})
  vim.api.nvim_create_autocmd({ 'DirChanged', 'WinClosed', 'TabClosed' }, {
    group = group,
    callback = vim.schedule_wrap(workspace.report),
  })
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = group,
    callback = function()
      M.stop()
      -- Otherwise Neovim could quit before it has sent a large accepted text.
      server.wait()
    end,
  })
end

--- Starts the companion. Returns whether it is running or starting.
---@return boolean
function M.start()
  local accepted = require('gemini_companion.accepted')
  local cli = require('gemini_companion.cli')
  local changes = require('gemini_companion.changes')
  local comments = require('gemini_companion.comments')
  local context = require('gemini_companion.context')
  local diagnostics = require('gemini_companion.diagnostics')
  local messages = require('gemini_companion.messages')
  local reload = require('gemini_companion.reload')
  local resuming = require('gemini_companion.resuming')
  local server = require('gemini_companion.server')
  local workspace = require('gemini_companion.workspace')
  local status = server.status()
  if status and status.stopping then
    after_exit = M.start
    return true
  elseif status then
    workspace.report()
    return true
  end
  local folders = workspace.begin()
  if #folders == 0 then
    local fix = config.options.workspace and 'option workspace names no existing one' or ':cd to one'
    log.warn(('the workspace has no folder: %s, then run :GeminiCompanion start'):format(fix))
    return false
  end
  local ok, why = server.start(folders, {
    ready = function()
      for _, step in ipairs({
        -- The companion must know whether to share before it receives any context.
        { M.share, config.options.share_context },
        { M.review, config.options.review_all },
        { workspace.report },
        { resuming.name },
        { comments.resend },
        { diagnostics.start },
        { context.start },
        { reload.start },
      }) do
        guard.call('the start of the companion', unpack(step))
      end
    end,
    exit = function(problem, was_ready)
      for _, stop in ipairs({
        context.stop,
        diagnostics.stop,
        reload.stop,
        resuming.pause,
        accepted.stop,
        changes.stop,
      }) do
        guard.call('the end of the companion', stop)
      end
      local start = successor(problem, was_ready)
      if not (start and start()) then
        resuming.stop()
      end
    end,
    request = messages.request,
    notification = messages.notification,
  })
  if ok then
    listen()
    cli.start()
    comments.start()
  else
    log.warn(why)
  end
  return ok
end

--- Stops the companion; open proposals are rejected.
function M.stop()
  after_exit = nil
  require('gemini_companion.server').stop()
end

--- Restarts the companion, or starts it if it is not running. Open proposals stay open, unless the CLIs lose their
--- connection.
---@return boolean
function M.restart()
  local server = require('gemini_companion.server')
  local keeps = server.is_resumable(require('gemini_companion.workspace').folders())
  after_exit = nil
  server.stop(keeps)
  if keeps then
    require('gemini_companion.resuming').pause()
  end
  return M.start()
end

--- Turns the sharing of context and diagnostics with CLIs on or off.
---@param on boolean
function M.share(on)
  config.options.share_context = on
  require('gemini_companion.server').notify('workspace/shareContext', { share = on })
end

--- Turns the review of edits that Gemini CLI would make without asking on or off.
---@param all boolean
function M.review(all)
  config.options.review_all = all
  require('gemini_companion.server').notify('workspace/review', { all = all })
end

--- Returns the state for a status line.
---@return GeminiCompanion.Status
function M.status()
  local server = require('gemini_companion.server')
  local status = server.status() or {}
  local front = require('gemini_companion.context').front()
  return {
    running = status.port ~= nil and not status.stopping,
    port = status.port,
    clients = status.clients or 0,
    proposals = #require('gemini_companion.proposals').paths(),
    private = front ~= nil and status.private ~= nil and status.private[front] ~= nil,
    share_context = config.options.share_context == true,
    review_all = server.options().review == true and config.options.review_all == true,
    comments = require('gemini_companion.comments').count(),
    changes = require('gemini_companion.prompts').count(),
  }
end

--- Accepts the proposal for `path`, or the one in sight. Returns whether it succeeded, and otherwise the reason, unless
--- the user has already seen a message.
---@param path? string
---@return boolean, string? why
function M.accept(path)
  return require('gemini_companion.diff').accept(path)
end

--- Rejects a proposal; see `accept`. The model gets `reason`. If it can't, nothing is rejected.
---@param path? string
---@param reason? string
---@return boolean, string? why
function M.reject(path, reason)
  return require('gemini_companion.diff').reject(path, reason)
end

--- Goes to a proposal; see `accept`.
---@param path? string
---@return boolean, string? why
function M.show(path)
  return require('gemini_companion.diff').show(path)
end

--- Sets the comment for the model on the current line, or on the lines from `first` to `last`. Asks for the text if it
--- is nil; an empty one removes the comment. Returns whether that is possible, and if not, the cause.
---@param text? string
---@param first? integer
---@param last? integer
---@return boolean, string? why
function M.comment(text, first, last)
  return require('gemini_companion.comments').set(text, first, last)
end

--- Removes the comments on the current line, or on the lines from `first` to `last`. Returns whether there were some,
--- and if not, the cause.
---@param first? integer
---@param last? integer
---@return boolean, string? why
function M.uncomment(first, last)
  return require('gemini_companion.comments').remove(first, last)
end

--- Returns the files that CLIs have changed, as a list of prompts: `{session, prompt, title, time, files}`. The newest
--- prompt is the first.
---@return GeminiCompanion.CliChanged[]
function M.changes()
  return vim.deepcopy(require('gemini_companion.prompts').all())
end

--- Compares a changed file with its text from before the prompt, in a tab page. Returns whether that is possible, and
--- if not, the cause.
---@param path? string
---@return boolean, string? why
function M.diff(path)
  return require('gemini_companion.changes').diff(path)
end

--- Reverts a changed file to its text from before the prompt: that with the path, or the current one. With `prompt`,
--- reverts all files of the prompt. Returns whether that is possible, and if not, the cause.
---@param what? string
---@return boolean, string? why
function M.revert(what)
  return require('gemini_companion.changes').revert(what)
end

--- Removes files from the list of changes; see `revert`.
---@param what? string
---@return boolean, string? why
function M.keep(what)
  return require('gemini_companion.changes').keep(what)
end

return M
