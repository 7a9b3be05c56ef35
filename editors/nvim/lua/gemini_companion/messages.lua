-- Checks that a message of the companion has the fields that its handler needs. A companion of another version may
-- lack some.

local M = {}

local COMMENT = { id = 'string', path = 'string', line = 'number', endLine = 'number', content = 'string' }

local CHANGED_FILE = {
  path = 'string',
  kind = 'string',
  revertible = 'boolean',
  reverted = 'boolean',
  private = 'boolean',
  mixed = 'boolean',
}

--- The needed fields by method: the type of each, its own fields, or for a list `{ element }`.
local NEEDED = {
  ['companion/ready'] = { port = 'number', env = 'table', discoveryFiles = 'table' },
  ['companion/sessions'] = { count = 'number' },
  ['companion/hooks'] = { connected = 'number', hooked = 'number' },
  ['companion/private'] = { reasons = 'table' },
  ['diff/open'] = { filePath = 'string', newContent = 'string' },
  ['diff/accept'] = { filePath = 'string' },
  ['diff/close'] = { filePath = 'string' },
  ['editor/diagnostics'] = { paths = { 'string' } },
  ['diff/reasonLost'] = { filePath = 'string', why = 'string' },
  ['agent/waiting'] = { session = 'string', message = 'string' },
  ['agent/finished'] = { session = 'string', seconds = 'number' },
  ['agent/command'] = { running = 'boolean' },
  ['agent/changed'] = {
    session = 'string',
    prompt = 'number',
    title = 'string',
    time = 'number',
    files = { CHANGED_FILE },
  },
  ['comment/delivered'] = { ids = { 'string' } },
  ['comment/refused'] = { id = 'string', reason = 'string' },
  ['comment/pending'] = { comments = { COMMENT } },
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
---@return string?
function M.missing_field(method, params)
  return missing(params, NEEDED[method] or {}, '')
end

return M
