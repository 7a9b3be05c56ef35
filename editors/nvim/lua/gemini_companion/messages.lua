-- Handles each message of the companion. Checks the fields that the handler needs first: a companion of another version
-- may lack some.

local accepted = require('gemini_companion.accepted')
local cli = require('gemini_companion.cli')
local changes = require('gemini_companion.changes')
local comments = require('gemini_companion.comments')
local context = require('gemini_companion.context')
local diagnostics = require('gemini_companion.diagnostics')
local diff = require('gemini_companion.diff')
local log = require('gemini_companion.log')
local reason = require('gemini_companion.reason')
local server = require('gemini_companion.server')

local M = {}

local METHOD_NOT_FOUND = -32601
local INVALID_PARAMS = -32602

local LACKS = '%s has no %s; the program and the plugin may have different versions'

local COMMENT = { id = 'string', path = 'string', line = 'number', endLine = 'number', content = 'string' }

local CHANGED_FILE = {
  path = 'string',
  kind = 'string',
  revertible = 'boolean',
  reverted = 'boolean',
  private = 'boolean',
  mixed = 'boolean',
}

local CHANGED = { session = 'string', prompt = 'number', title = 'string', time = 'number', files = { CHANGED_FILE } }

--- The requests: the handler of each, and the fields that it needs. A field has a type, or fields of its own; a list
--- is `{ element }`.
local REQUESTS = {
  ['diff/open'] = { diff.on_open, { filePath = 'string', newContent = 'string' } },
  ['diff/close'] = { diff.on_close, { filePath = 'string' } },
  ['diff/accept'] = { diff.on_accept, { filePath = 'string' } },
  ['diff/reject'] = { diff.on_reject, { filePath = 'string' } },
  ['editor/diagnostics'] = { diagnostics.on_request, { paths = { 'string' } } },
  ['editor/unsaved'] = { context.on_unsaved, {} },
}

--- The notifications, in the same form.
local NOTIFICATIONS = {
  ['companion/ready'] = { server.on_ready, { port = 'number', env = 'table' } },
  ['companion/clients'] = { server.on_clients, { count = 'number' } },
  ['companion/private'] = { server.on_private, { reasons = 'table' } },
  ['diff/written'] = { accepted.on_written, { filePath = 'string' } },
  ['diff/unwritten'] = { accepted.on_unwritten, { filePath = 'string' } },
  ['diff/reasonLost'] = { reason.on_lost, { filePath = 'string', why = 'string' } },
  ['cli/waiting'] = { cli.on_waiting, { session = 'string', message = 'string' } },
  ['cli/answered'] = { cli.on_answered, { session = 'string' } },
  ['cli/finished'] = { cli.on_finished, { session = 'string', seconds = 'number' } },
  ['cli/command'] = { changes.on_command, { running = 'boolean' } },
  ['cli/changed'] = { changes.on_changed, CHANGED },
  ['comment/delivered'] = { comments.on_delivered, { ids = { 'string' } } },
  ['comment/refused'] = { comments.on_refused, { id = 'string', reason = 'string' } },
  ['comment/pending'] = { comments.on_pending, { comments = { COMMENT } } },
}

--- Returns the name of the first part that is missing or has another type, or nil.
local function missing(value, needed, name)
  if type(needed) == 'string' then
    return type(value) ~= needed and name or nil
  elseif type(value) ~= 'table' then
    return name
  elseif needed[1] then
    for index, element in ipairs(value) do
      local part = missing(element, needed[1], ('%s[%d]'):format(name, index))
      if part then
        return part
      end
    end
    return nil
  end
  for field, kind in pairs(needed) do
    local part = missing(value[field], kind, name == '' and field or ('%s.%s'):format(name, field))
    if part then
      return part
    end
  end
end

--- Returns the name of a field that a message lacks, or nil.
---@param method string
---@param params table
function M.missing_field(method, params)
  return missing(params, (REQUESTS[method] or NOTIFICATIONS[method])[2], '')
end

--- Returns the handler of a message. If there is none, or if a field is missing, returns nil, the reason, and its code
--- in JSON-RPC.
local function find(messages, method, params)
  if not messages[method] then
    return nil, 'Neovim does not know ' .. method, METHOD_NOT_FOUND
  end
  local field = M.missing_field(method, params)
  if field then
    return nil, LACKS:format(method, field), INVALID_PARAMS
  end
  return messages[method][1]
end

--- Handles a request.
---@param method string
---@param params table
---@param done fun(result?: table)
---@param fail fun(why: string, code?: integer)
function M.request(method, params, done, fail)
  local handle, why, code = find(REQUESTS, method, params)
  if handle then
    handle(params, done, fail)
  else
    fail(why, code)
  end
end

--- Handles a notification.
---@param method string
---@param params table
function M.notification(method, params)
  local handle, why = find(NOTIFICATIONS, method, params)
  if handle then
    handle(params)
  else
    log.add(why)
  end
end

return M
