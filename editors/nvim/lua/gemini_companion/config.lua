-- Checks and stores the user's options, with their defaults.

local M = {}

--- The longest keys of a mapping, in bytes, that Neovim takes.
local MAX_KEYS = 50

--- `:help gemini_companion-options` describes each option.
local defaults = {
  cmd = { 'gemini-companion' },
  clients = { 'gemini', 'qwen' },
  autostart = true,
  focus = true,
  layout = 'vertical',
  worktrees = true,
  git_ignored_private = false,
  review = true,
  diagnostics = true,
  share_context = true,
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

local function is_boolean(value)
  return type(value) == 'boolean'
end

local function is_function(value)
  return type(value) == 'function'
end

local function is_text(value)
  return type(value) == 'string' and value ~= ''
end

local function one_of(...)
  local allowed = { ... }
  return function(value)
    return vim.tbl_contains(allowed, value)
  end
end

local function list_of(is_allowed)
  return function(value)
    if type(value) ~= 'table' or not vim.islist(value) then
      return false
    end
    for _, element in ipairs(value) do
      if not is_allowed(element) then
        return false
      end
    end
    return #value > 0
  end
end

local function either(first, second)
  return function(value)
    return first(value) or second(value)
  end
end

--- Returns whether a value is a list of texts with at least one.
M.is_list_of_texts = list_of(is_text)

local function is_keys(value)
  return value == false or (is_text(value) and #vim.keycode(value) <= MAX_KEYS)
end

local BOOLEAN = { is_boolean, 'true or false' }
--- For an option that a command changes, too: its value stays in force when the user sets other options.
local SWITCHED = { is_boolean, 'true or false' }
local KEYS = { is_keys, 'keys or false' }

--- Per option its check and the words for its values, or a table of options.
local OPTIONS = {
  cmd = { either(is_text, M.is_list_of_texts), 'a program, or a list with its arguments' },
  clients = { list_of(one_of('gemini', 'qwen')), 'a list of "gemini" and "qwen"' },
  autostart = BOOLEAN,
  workspace = { either(M.is_list_of_texts, is_function), 'a list of folders, or a function' },
  focus = BOOLEAN,
  layout = { one_of('vertical', 'horizontal', 'unified'), '"vertical", "horizontal" or "unified"' },
  worktrees = BOOLEAN,
  git_ignored_private = BOOLEAN,
  review = BOOLEAN,
  diagnostics = BOOLEAN,
  share_context = SWITCHED,
  review_all = SWITCHED,
  notify = BOOLEAN,
  trusted = BOOLEAN,
  log_level = {
    one_of('off', 'error', 'warn', 'info', 'debug', 'trace'),
    '"off", "error", "warn", "info", "debug" or "trace"',
  },
  mappings = { accept = KEYS, reject = KEYS, reason = KEYS, comment = KEYS },
}

--- The keys in a proposal, unless the user has chosen others.
M.default_mappings = defaults.mappings

--- The current options.
---@type GeminiCompanion.Options
M.options = vim.deepcopy(defaults)

local function refuse(words, ...)
  error('gemini_companion: ' .. words:format(...), 0)
end

local function shown(value)
  return vim.inspect(value, { newline = ' ', indent = '' })
end

--- Raises an error that names the first option that is unknown or has a wrong value.
local function check(values, options, prefix)
  for name, value in pairs(values) do
    local option, full_name = options[name], prefix .. tostring(name)
    if not option then
      local known = vim.tbl_map(function(key)
        return prefix .. key
      end, vim.tbl_keys(options))
      table.sort(known)
      refuse('unknown option %s; the options are %s', full_name, table.concat(known, ', '))
    elseif option[1] then
      if not option[1](value) then
        refuse('option %s must be %s, not %s', full_name, option[2], shown(value))
      end
    elseif type(value) == 'table' then
      check(value, option, full_name .. '.')
    elseif value ~= false then
      refuse('option %s must be a table or false, not %s', full_name, shown(value))
    end
  end
end

--- Sets the user's options. Raises an error that names an unknown option or a wrong value; nothing changes then.
---@param options? GeminiCompanion.Options
function M.set(options)
  options = options or {}
  if type(options) ~= 'table' then
    refuse('setup takes a table of options, not %s', shown(options))
  end
  check(options, OPTIONS, '')
  local before = M.options
  M.options = vim.tbl_deep_extend('force', vim.deepcopy(defaults), options)
  for name, default in pairs(defaults) do
    if OPTIONS[name] == SWITCHED and options[name] == nil then
      M.options[name] = before[name]
    elseif vim.islist(default) then
      -- A list is one value. A merge by position would keep the end of the default list.
      M.options[name] = options[name] or default
    end
  end
  local cmd = M.options.cmd
  M.options.cmd = type(cmd) == 'string' and { cmd } or cmd
end

return M
