-- Answers the companion's requests about proposals, and sends the user's decisions.
-- If several sides decide, the companion determines which decision counts.

local accepted = require('gemini_companion.accepted')
local bars = require('gemini_companion.bars')
local config = require('gemini_companion.config')
local file = require('gemini_companion.file')
local form = require('gemini_companion.form')
local guard = require('gemini_companion.guard')
local idle = require('gemini_companion.idle')
local kept = require('gemini_companion.kept')
local log = require('gemini_companion.log')
local proposals = require('gemini_companion.proposals')
local reasons = require('gemini_companion.reason')
local reload = require('gemini_companion.reload')
local server = require('gemini_companion.server')
local stale = require('gemini_companion.stale')
local text = require('gemini_companion.text')
local turn = require('gemini_companion.turn')
local view = require('gemini_companion.view')

local M = {}

--- The longest time until a view opens. It is shorter than `host_timeout`, the companion's limit for the request.
local OPEN_TIMEOUT_MS = 25000

--- How long a newer proposal waits for a pause before it opens beside the earlier one.
local REPLACE_TIMEOUT_MS = 2000

local NONE = 'No diff is open for this file.'

--- The message about a decision that no companion takes.
local PAUSED = 'the companion is starting again; decide in a moment'

--- Called when a proposal opens, opens again or ends.
M.on_changed = function() end

local function show_change()
  bars.update()
  M.on_changed()
end

--- Closes a proposal. `by_user` is true if the user has decided it just now.
local function close(proposal, by_user)
  proposals.remove(proposal)
  proposal.decided = true
  if vim.api.nvim_buf_is_valid(proposal.view.right) then
    -- Its text is accepted or kept.
    vim.bo[proposal.view.right].modified = false
  end
  proposal.view:close(by_user)
  show_change()
end

local function final_content(proposal)
  local now, changed = proposal.view:proposal()
  if not changed then
    return proposal.content
  end
  return text.utf8(text.render(now))
end

--- Returns whether `content` is not the CLI's own text. The companion compares in this way, too, before it reports
--- whether the CLI writes a text: the line endings and the BOM are those of the file.
local function is_edited(proposal, content)
  return text.plain(content) ~= text.plain(proposal.new_content)
end

--- Waits until the CLI writes `content` to the file. `before` is the `file.state` at the decision. Keeps a text that is
--- not the CLI's own, and returns it.
local function expect_written(proposal, content, before)
  reload.expect(proposal.path, before, proposal.cli)
  return is_edited(proposal, content) and accepted.expect(proposal.path, (proposal.view:proposal())) or nil
end

--- Reports an acceptance. `before` is the `file.state` when the proposal was accepted.
local function accept(proposal, before, by_user)
  if proposal.is_paused then
    log.warn(PAUSED)
    return false
  end
  local path, content = proposal.path, final_content(proposal)
  local now = proposal.view:proposal()
  local expected
  local function delivered(result)
    accepted.delivered(path, now, expected, result.delivery)
  end
  local function unanswered()
    -- The companion has ended, perhaps before it read the acceptance.
    if proposal.decided then
      accepted.delivered(path, now, expected, 'unanswered')
    end
  end
  local is_sent = not proposal.orphan
    and server.request('diff/accepted', { filePath = path, content = content }, delivered, unanswered)
  if not is_sent then
    log.warn('no CLI waits for this proposal; :w {file} saves it, :q! closes it')
    return false
  end
  expected = expect_written(proposal, content, before)
  close(proposal, by_user)
  return true
end

--- Returns whether a decision is about the text that a newer one has just replaced, and says so.
local function is_just_replaced(proposal)
  if not proposal.view:is_just_replaced() then
    return false
  end
  -- Later: the user's mapping may write by `:silent!`.
  vim.schedule_wrap(log.warn)('a newer proposal has just replaced this one; decide again')
  return true
end

--- Accepts for the user. `insists` is true for a command with `!`, false for one without, and nil for any other
--- action.
local function accept_by_user(proposal, insists)
  if proposal.decided then
    return false
  end
  local is_accepted = not is_just_replaced(proposal)
    and (proposal.orphan or not stale.warn_if_stale(proposal, insists))
    and accept(proposal, file.state(proposal.path), true)
  if not is_accepted then
    -- Otherwise `:wq` would close the proposal next, and that rejects it.
    turn.mark(proposal.view)
  end
  return is_accepted
end

--- Keeps the user's changes to a proposal that ends. With `is_dropped` the user rejected it, so that Neovim can quit
--- without a question about the changes.
local function keep(proposal, is_dropped)
  local now, changed = proposal.view:proposal()
  if changed then
    guard.call('keeping your text', kept.keep, proposal.path, now, is_dropped)
  end
end

local function reject(proposal, by_user)
  if not proposal.orphan then
    server.notify('diff/rejected', { filePath = proposal.path })
  end
  close(proposal, by_user)
end

--- Rejects with a reason for the model. Returns whether the model gets it. If not, returns the cause, and rejects
--- nothing.
local function reject_with_reason(proposal, reason)
  local arrival, why = reasons.arrival(proposal)
  if proposal.is_paused or not arrival then
    return false, proposal.is_paused and PAUSED or why
  end
  if not server.notify('diff/rejected', { filePath = proposal.path, reason = text.utf8(reason) }) then
    return false, reasons.NO_CLI
  end
  -- The companion reads messages in their order, so an answer shows that it has read the reason.
  server.request('companion/status', vim.empty_dict(), function() end, function()
    reasons.on_lost({ filePath = proposal.path, reason = reason, why = 'the companion has ended' })
  end)
  keep(proposal, true)
  reasons.confirm(arrival, proposal)
  close(proposal, true)
  return true
end

--- Rejects for the user, and keeps the user's changes.
local function reject_by_user(proposal, reason)
  if proposal.decided or is_just_replaced(proposal) then
    return false
  elseif reason and vim.trim(reason) ~= '' then
    return reject_with_reason(proposal, reason)
  end
  keep(proposal, true)
  reject(proposal, true)
  return true
end

local function ask_for_reason(proposal)
  if proposal.decided or is_just_replaced(proposal) then
    return
  end
  reasons.ask(proposal, function(reason)
    local ok, why = reject_with_reason(proposal, reason)
    if not ok then
      log.fail(why)
    end
    return ok
  end)
end

local function set_orphan(proposal)
  proposal.orphan, proposal.is_paused = true, nil
  bars.update()
end

--- Closes a proposal that no CLI will wait for again. A proposal with the user's changes stays open.
---@param proposal GeminiCompanion.Proposal
function M.abandon(proposal)
  local _, changed = proposal.view:proposal()
  if not changed then
    close(proposal)
    return
  end
  set_orphan(proposal)
  local stays = 'no CLI waits for %s; :w {file} saves your changes, :q! closes it'
  log.warn(stays:format(file.short(proposal.path)))
end

local function remind(proposal)
  log.notify(('a proposal waits, :GeminiCompanion show: %s'):format(file.short(proposal.path)))
end

--- Lets the next proposal that the user has not seen take the focus, after the user has left one.
local function offer_next()
  for _, proposal in ipairs(config.options.focus and proposals.all() or {}) do
    if not proposal.view.is_seen then
      proposal.view:request_focus()
      return
    end
  end
end

--- Opens a proposal again after the user switched to another buffer in its window, which decides nothing.
local function reopen(proposal)
  local ok, again = pcall(proposal.view.open_again, proposal.view)
  if not ok then
    keep(proposal)
    reject(proposal)
    log.warn(guard.reason(again))
    return
  end
  proposal.view = again
  show_change()
  remind(proposal)
end

--- Returns whether a newer proposal for a file, which came at the time `since`, must wait, because the user's keys are
--- meant for the earlier one. If that lasts, as while the user types there, the earlier one closes at the next pause,
--- and the newer one opens beside it. Then this returns the view of the earlier one, too.
local function must_wait(path, since)
  local earlier = proposals.get(path)
  if not earlier or not earlier.view:is_under_hands() then
    return false
  elseif idle.is_in_use(vim.api.nvim_get_current_buf()) or vim.uv.now() - since > REPLACE_TIMEOUT_MS then
    keep(earlier)
    close(earlier)
    return true, earlier.view
  end
  return true
end

--- Shows a proposal. `diff` are the parameters of `diff/open`, `base` the bytes of the file at that request, and
--- `ended_view` the view of an earlier proposal for the file that closes at the next pause.
local function open(diff, base, ended_view)
  local path, kind = diff.filePath, diff.kind
  local parsed, remarks = form.of(path, diff.newContent)
  local proposal = proposals.get(path)
  if proposal and not proposal.view:is_whole() then
    -- The user has just left it, and it was about to open again, or has deleted its left side.
    keep(proposal)
    proposals.remove(proposal)
    proposal.decided, proposal.view.closing = true, true
    proposal.view:discard()
    proposal = nil
  end
  if proposal then
    proposal.orphan = nil
    keep(proposal)
    proposal.view:replace(parsed, kind)
  else
    proposal = { path = path } --[[@as GeminiCompanion.Proposal]]
    local function on(act)
      return function(option)
        return act(proposal, option)
      end
    end
    local options = { focus = config.options.focus, layout = config.options.layout, ended = ended_view }
    proposal.view = view.open(path, parsed, kind, options, {
      accept = on(accept_by_user),
      reject = on(reject_by_user),
      reason = on(ask_for_reason),
      left = on(reopen),
      remind = on(remind),
      changed = bars.update,
      returned = offer_next,
      late_changes = function(now)
        kept.keep(path, now)
      end,
      copy = function(copy)
        kept.save_copy(proposal.view:proposal(), copy, not proposal.orphan)
      end,
    })
    proposals.add(proposal)
  end
  proposal.question, proposal.is_paused = nil, nil
  proposal.diff, proposal.new_content = diff.diff, diff.newContent
  proposal.cli, proposal.replays_edits, proposal.reason = diff.cli, diff.replaysEdits, diff.reason
  proposal.was_shared = config.options.share_context
  -- A CLI that replays edits keeps the line endings of the file, but not always its BOM. If it gets its own text back,
  -- byte for byte, it makes the model's edit. It writes any other text over the whole file.
  local adds_bom = parsed.bomb and not text.has_bom(diff.newContent)
  proposal.content = diff.replaysEdits and not adds_bom and diff.newContent or text.render(parsed)
  proposal.base, proposal.warned = base, nil
  proposal.private = diff.private
  proposal.takes_reason = reasons.arrival(proposal) ~= nil
  if diff.private then
    remarks[#remarks + 1] = 'is for a private file'
  end
  show_change()
  local noun = kind == 'create' and 'the new file' or 'an edit to'
  local ending = form.join_remarks(proposal, remarks)
  log.notify(('%s proposes %s %s%s'):format(proposals.cli_name(proposal) or 'the CLI', noun, file.short(path), ending))
end

--- Returns the proposal that a request is about. If no CLI waits for it, fails the request, and returns nil.
local function requested(params, fail)
  local proposal = proposals.get(params.filePath)
  if proposal and not proposal.orphan then
    return proposal
  end
  fail(NONE)
end

--- Handles `diff/open`.
function M.on_open(params, done, fail)
  local path = params.filePath
  local base = file.read(path) or false
  -- The companion has ended the proposal that this one replaces, and ignores decisions about it.
  if proposals.get(path) then
    set_orphan(proposals.get(path))
  end
  local function failed(why)
    if proposals.get(path) then
      M.abandon(proposals.get(path))
    end
    fail(why)
  end
  local companion = server.status()
  local function has_ended()
    return not companion or companion ~= server.status() or companion.stopping == true
  end
  local function unless_ended(act)
    return function()
      if not has_ended() then
        act()
      end
    end
  end
  local since, ended_view = vim.uv.now(), nil
  local show = unless_ended(function()
    local ok, why = pcall(open, params, base, ended_view)
    if ok then
      done()
    else
      failed(('Neovim could not show the diff: %s'):format(why))
    end
  end)
  local give_up = unless_ended(function()
    failed('Neovim is busy: the user is typing a command or answering a question.')
  end)
  vim.schedule(function()
    idle.when_idle(show, OPEN_TIMEOUT_MS, give_up, function()
      if has_ended() then
        return false
      end
      local waits, left = must_wait(path, since)
      ended_view = left or ended_view
      return waits
    end)
  end)
end

--- Handles `diff/close`.
function M.on_close(params, done, fail)
  local proposal = requested(params, fail)
  if not proposal then
    return
  end
  local before = file.state(proposal.path)
  local content = final_content(proposal)
  done({ content = content })
  if params.abandoned then
    M.abandon(proposal)
  else
    expect_written(proposal, content, before)
    close(proposal)
  end
end

--- Writes the text of a proposal for a program that has accepted it, since the CLI does not write it.
local function write(proposal, fail)
  local path, content, before = proposal.path, final_content(proposal), file.state(proposal.path)
  local ok, why = file.write(path, content)
  if not ok then
    fail(why)
    return false
  end
  reload.expect(path, before)
  if is_edited(proposal, content) then
    accepted.wrote(path)
  end
  server.notify('diff/accepted', { filePath = path, content = content })
  close(proposal)
  return true
end

--- Handles `diff/accept`.
function M.on_accept(params, done, fail)
  local proposal = requested(params, fail)
  if not proposal then
    return
  elseif stale.is_unseen(proposal) then
    fail('Only the user can accept this proposal, because the file has changed.')
    return
  end
  if proposal.replays_edits then
    accept(proposal, file.state(proposal.path))
    done()
  elseif write(proposal, fail) then
    done()
  end
end

--- Handles `diff/reject`.
function M.on_reject(params, done, fail)
  local proposal = requested(params, fail)
  if proposal then
    keep(proposal)
    reject(proposal)
    done()
  end
end

local function act_on(act)
  return function(path, option)
    local proposal, why = proposals.find(path)
    if not proposal then
      return false, why
    end
    local ok
    ok, why = act(proposal, option)
    return ok ~= false, why
  end
end

--- Each function takes the path of a proposal, or nil for the visible one, and an option: for `accept`, `insists` as
--- in `stale.lua`; for `reject`, the reason for the model. It returns whether it succeeded, and if not, the cause,
--- unless the user has already seen a message.
M.accept = act_on(accept_by_user)
M.reject = act_on(reject_by_user)
M.show = act_on(function(proposal)
  proposal.view:show()
end)

return M
