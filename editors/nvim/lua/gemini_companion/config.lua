-- Checks and stores the user's options, with their defaults.

local M = {}

--- `:help gemini_companion-options` describes each option.
local defaults = {
  cmd = { 'gemini-companion' },
  clients = { 'gemini', 'qwen' },
  autostart = true,
  focus = true,
  layout = 'vertical',
  diffs = true,
  diagnostics = true,
  share = true,
  review_all = false,
  notify = true,
  log_level = 'warn',
  mappings = {
    accept = '<LocalLeader>a',
    reject = '<LocalLeader>r',
    reason = '<LocalLeader>c',
    comment = '<LocalLeader>m',
  },
}

local types = {
  cmd = { 'table', 'string' },
  clients = { 'table' },
  autostart = { 'boolean' },
  workspace = { 'table', 'function' },
  focus = { 'boolean' },
  layout = { 'string' },
  diffs = { 'boolean' },
  diagnostics = { 'boolean' },
  share = { 'boolean' },
  review_all = { 'boolean' },
  notify = { 'boolean' },
  trusted = { 'boolean' },
  log_level = { 'string' },
  mappings = { 'table', 'boolean' },
}

--- The keys in a proposal, unless the user has chosen others.
M.default_mappings = defaults.mappings

--- The current options.
---@type GeminiCompanion.Options
M.options = vim.deepcopy(defaults)

--- Sets the user's options. Raises an error that names an unknown or mistyped option.
---@param options? GeminiCompanion.Options
function M.set(options)
  for name, value in pairs(options or {}) do
    local allowed = types[name]
    if not allowed then
      local known = vim.tbl_keys(types)
      table.sort(known)
      error(('gemini_companion: unknown option %s; the options are %s'):format(name, table.concat(known, ', ')), 0)
    end
    if not vim.tbl_contains(allowed, type(value)) then
      local wanted = table.concat(allowed, ' or ')
      error(('gemini_companion: option %s must be a %s, not a %s'):format(name, wanted, type(value)), 0)
    end
  end
  local before = M.options
  M.options = vim.tbl_deep_extend('force', vim.deepcopy(defaults), options or {})
  -- A command of the user that has changed one of these stays in force.
  for _, name in ipairs({ 'share', 'review_all' }) do
    if (options or {})[name] == nil then
      M.options[name] = before[name]
    end
  end
  -- A list is one value. A merge by position would keep the end of the default list.
  for _, name in ipairs({ 'cmd', 'clients' }) do
    M.options[name] = (options or {})[name] or defaults[name]
  end
end

--- Returns the program and its first arguments as a list.
---@return string[]
function M.command()
  local cmd = M.options.cmd
  if type(cmd) == 'string' then
    return { cmd }
  end
  return cmd --[[@as string[] ]]
end

return M
