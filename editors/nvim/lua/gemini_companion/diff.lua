-- Keeps the open proposals, answers the companion's requests about them, and sends the user's decisions.
-- The companion judges which decision was first, and whether it still counts.

local config = require('gemini_companion.config')
local file = require('gemini_companion.file')
local form = require('gemini_companion.form')
local idle = require('gemini_companion.idle')
local kept = require('gemini_companion.kept')
local log = require('gemini_companion.log')
local places = require('gemini_companion.places')
local reload = require('gemini_companion.reload')
local stale = require('gemini_companion.stale')
local text = require('gemini_companion.text')
local view = require('gemini_companion.view')

local M = {}

--- Less than the companion waits for an answer.
local PATIENCE_MS = 25000

local NONE = 'No diff is open for this file.'

--- By path as the CLI wrote it: `{path, number, cli, replays_edits, content, base, warned, view, decided, orphan}`.
local proposals = {}
--- By path: what fails the `diff/open` that waits until its view may be opened.
local opening = {}
--- The number of the one that came last.
local last_number = 0
local notify

local function short(path)
  return vim.fn.fnamemodify(path, ':~:.')
end

--- Those that are open, in the order in which they came.
local function in_order()
  local list = vim.tbl_values(proposals)
  table.sort(list, function(a, b)
    return a.number < b.number
  end)
  return list
end

--- Which CLI a proposal is from, if those of several are open.
local function cli(proposal)
  return places.cli(proposal, proposals)
end

local function say_places()
  places.say(in_order())
end

local function close(proposal)
  if proposals[proposal.path] == proposal then
    proposals[proposal.path] = nil
  end
  proposal.decided = true
  proposal.view:close()
  say_places()
end

--- The accepted text for the CLI.
local function final_content(proposal)
  local now, changed = proposal.view:proposal()
  if not changed then
    return proposal.content
  end
  return text.utf8(text.render(now))
end

--- Its CLI is to write the file, which was as `before` says.
local function expect_written(proposal, before)
  local now, changed = proposal.view:proposal()
  reload.expect(proposal.path, before, changed and now or nil, function()
    for _, other in pairs(proposals) do
      if other.cli == proposal.cli and not other.orphan then
        return true
      end
    end
  end)
end

--- Its file was as `before` says when it was accepted.
local function accept(proposal, before)
  local told = { filePath = proposal.path, content = final_content(proposal) }
  if proposal.orphan or not notify('diff/accepted', told) then
    log.warn('no CLI waits for this any more; :w {file} saves it, :q! drops it')
    return false
  end
  expect_written(proposal, before)
  vim.bo[proposal.view.right].modified = false
  close(proposal)
  return true
end

--- The user accepts; by a command that writes, whether one that insists.
local function accept_by_user(proposal, insists)
  if proposal.decided then
    return false
  end
  return (proposal.orphan or not stale.waits(proposal, insists)) and accept(proposal, file.state(proposal.path))
end

--- What the user has changed in a proposal that ends can be had back. With `is_dropped` the user has ended
--- it, and it goes with Neovim without a question.
local function keep(proposal, is_dropped)
  local now, changed = proposal.view:proposal()
  if changed then
    kept.offer(kept.hold(proposal.path, now, is_dropped), proposal.path)
  end
end

local function reject(proposal)
  if not proposal.orphan then
    notify('diff/rejected', { filePath = proposal.path })
  end
  close(proposal)
end

--- The user rejects it.
local function drop(proposal)
  if proposal.decided then
    return
  end
  keep(proposal, true)
  reject(proposal)
end

--- No CLI waits for it any more.
local function set_orphan(proposal)
  proposal.orphan = true
  say_places()
end

--- No CLI will wait for it again. What the user has changed stays.
local function abandon(proposal)
  local _, changed = proposal.view:proposal()
  if not changed then
    close(proposal)
    return
  end
  set_orphan(proposal)
  local stays = 'no CLI waits for %s any more; what you changed stays: :w {file} saves it, :q! drops it'
  log.warn(stays:format(short(proposal.path)))
end

local function say_waits(proposal)
  log.tell(('still undecided, :GeminiCompanion show: %s'):format(short(proposal.path)))
end

--- The user has gone to another buffer in its window, which decides nothing.
local function come_back(proposal)
  if proposal.decided then
    return
  end
  local ok, again = pcall(proposal.view.open_again, proposal.view)
  if not ok then
    keep(proposal)
    reject(proposal)
    log.warn(again)
    return
  end
  proposal.view = again
  say_places()
  say_waits(proposal)
end

--- Shows a proposal, given as the parameters of `diff/open`, whose file had the bytes `base` when it came.
local function open(diff, base)
  local path, kind = diff.filePath, diff.kind
  local parsed, words = form.of(path, diff.newContent)
  local proposal = proposals[path]
  if proposal then
    proposal.orphan = nil
    keep(proposal)
    proposal.view:replace(parsed, kind)
  else
    last_number = last_number + 1
    proposal = { path = path, number = last_number }
    local function on(act)
      return function(insists)
        return act(proposal, insists)
      end
    end
    local options = { focus = config.options.focus, mappings = config.options.mappings }
    proposal.view = view.open(path, parsed, kind, options, {
      accept = on(accept_by_user),
      reject = on(drop),
      left = on(come_back),
      waits = on(say_waits),
      changed = say_places,
      more = function(now)
        kept.offer(kept.hold(path, now), path)
      end,
      copy = function(copy)
        kept.copy(proposal.view:proposal(), copy)
      end,
    })
    proposals[path] = proposal
  end
  proposal.cli, proposal.replays_edits = diff.cli, diff.replaysEdits
  -- A CLI that replays edits keeps the file's ends of lines, but not always its BOM. With its own text, byte
  -- for byte, it makes the model's edit. Any other text it writes over the whole file.
  local adds_bom = parsed.bomb and not text.parse(diff.newContent).bomb
  proposal.content = diff.replaysEdits and not adds_bom and diff.newContent or text.render(parsed)
  proposal.base, proposal.warned = base, nil
  proposal.view.private = diff.private
  if diff.private then
    words[#words + 1] = 'is for a file that stays private otherwise'
  end
  say_places()
  local what = kind == 'create' and 'the new file' or 'an edit to'
  log.tell(('%s proposes %s %s%s'):format(cli(proposal) or 'The CLI', what, short(path), form.remarks(proposal, words)))
end

local function with_proposal(params, fail, act)
  local proposal = proposals[params.filePath]
  if proposal and not proposal.orphan then
    act(proposal)
  else
    fail(NONE)
  end
end

--- Whatever waits to be opened for that path never shows. Returns whether anything did.
local function give_up_opening(path)
  local give_up = opening[path]
  opening[path] = nil
  if give_up then
    give_up(NONE)
  end
  return give_up ~= nil
end

--- What the companion may ask.
M.requests = {
  ['diff/open'] = function(params, done, fail)
    local path, base = params.filePath, stale.bytes(params.filePath)
    give_up_opening(path)
    opening[path] = fail
    -- The companion has ended what this one replaces, and takes no decision about it.
    if proposals[path] then
      set_orphan(proposals[path])
    end
    local function failed(why)
      if proposals[path] then
        abandon(proposals[path])
      end
      fail(why)
    end
    local function in_turn(act)
      return function()
        if opening[path] == fail then
          opening[path] = nil
          act()
        end
      end
    end
    idle.when_idle(
      in_turn(function()
        local ok, why = pcall(open, params, base)
        if ok then
          done()
        else
          failed(('Neovim could not show the diff: %s'):format(why))
        end
      end),
      PATIENCE_MS,
      in_turn(function()
        failed('Neovim is busy: its user is typing a command or answering a question.')
      end)
    )
  end,
  ['diff/close'] = function(params, done, fail)
    if give_up_opening(params.filePath) then
      -- Nobody has seen it, so the CLI's own text is the right one. What it was to replace ends, too.
      local replaced = proposals[params.filePath]
      if replaced then
        abandon(replaced)
      end
      fail(NONE)
      return
    end
    with_proposal(params, fail, function(proposal)
      local before = file.state(proposal.path)
      done({ content = final_content(proposal) })
      if not params.abandoned then
        expect_written(proposal, before)
        close(proposal)
      else
        abandon(proposal)
      end
    end)
  end,
  ['diff/accept'] = function(params, done, fail)
    with_proposal(params, fail, function(proposal)
      -- Whoever asks has not seen what it is by now.
      if stale.bytes(proposal.path) ~= proposal.base then
        fail('The file has changed since the diff was opened; only its user can accept it.')
        return
      end
      local before = file.state(proposal.path)
      if not proposal.replays_edits then
        local ok, why = file.write(proposal.path, final_content(proposal))
        if not ok then
          fail(why)
          return
        end
        reload.reload(proposal.path, before == nil)
      end
      accept(proposal, before)
      done()
    end)
  end,
  ['diff/reject'] = function(params, done, fail)
    with_proposal(params, fail, function(proposal)
      keep(proposal)
      reject(proposal)
      done()
    end)
  end,
}

--- From now on decisions are told by `notify(method, params)`.
---@param notify_with GeminiCompanion.Notify
function M.start(notify_with)
  notify = notify_with
end

--- The companion has ended, and has rejected what was open. What the user has changed stays.
function M.stop()
  for path, proposal in pairs(proposals) do
    if give_up_opening(path) or not proposal.orphan then
      abandon(proposal)
    end
  end
  for path in pairs(opening) do
    give_up_opening(path)
  end
end

--- The open proposals in the order in which they came: `{path, kind, cli, is_changed, is_current}`, where
--- `cli` is there if those of several CLIs are open.
---@return GeminiCompanion.ListedProposal[]
function M.list()
  return vim.tbl_map(function(proposal)
    local _, is_changed = proposal.view:proposal()
    return {
      path = proposal.path,
      kind = proposal.view.kind,
      cli = cli(proposal),
      is_changed = is_changed,
      is_current = proposal.view:is_current(),
    }
  end, in_order())
end

--- Their paths.
---@return string[]
function M.paths()
  return vim.tbl_map(function(proposal)
    return proposal.path
  end, in_order())
end

--- The proposal of that path, else the one in the current tab page, else the only one; or nil and
--- a sentence.
local function find(path)
  if path then
    local full = vim.fn.fnamemodify(path, ':p')
    for _, proposal in pairs(proposals) do
      if proposal.path == path or proposal.path == full then
        return proposal
      end
    end
    return nil, 'no proposal is open for ' .. path
  end
  for _, proposal in pairs(proposals) do
    if proposal.view:is_current() then
      return proposal
    end
  end
  local paths = M.paths()
  if #paths > 1 then
    return nil, 'several proposals are open; name one: ' .. table.concat(vim.tbl_map(short, paths), ', ')
  end
  return proposals[paths[1]], 'no proposal is open'
end

local function act_on(act)
  return function(path, insists)
    local proposal, why = find(path)
    if not proposal then
      return false, why
    end
    return act(proposal, insists) ~= false
  end
end

--- Each takes the path of a proposal, or nil for the one in sight, and whether the user insists, as in `stale`.
--- It returns whether it is done, and if there is no proposal, why.
M.accept = act_on(accept_by_user)
M.reject = act_on(drop)
M.show = act_on(function(proposal)
  proposal.view:show()
end)

return M
