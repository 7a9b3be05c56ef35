-- Finds the Ex commands that a command line or a mapping runs.

local M = {}

local api = vim.api

--- Commands whose arguments are a command line.
local RUNS_COMMANDS = { 'argdo', 'bufdo', 'cdo', 'cfdo', 'ldo', 'lfdo', 'tabdo', 'windo' }

--- The most levels of commands inside of commands, and of mappings that lead to mappings.
local MAX_DEPTH = 5

--- Returns whether a user command runs a Lua function. Its definition is only a description then, which the list of
--- commands has below the function.
local function is_lua(name)
  return vim.fn.execute('command ' .. name):find('\n....' .. name .. ' [^\n]*<Lua ') ~= nil
end

--- Returns the command line inside of a command, or nil.
local function inner_line(command)
  local arguments = table.concat(command.args or {}, ' ')
  if vim.tbl_contains(RUNS_COMMANDS, command.cmd) then
    return arguments
  elseif command.cmd == 'execute' then
    -- Only a plain string. Other expressions may have side effects.
    local _, words, rest = arguments:match('^(["\'])(.-)%1(.*)$')
    return words and words .. rest
  elseif command.cmd == 'if' then
    return arguments:match('|(.*)')
  end
  local own = api.nvim_buf_get_commands(0, {})[command.cmd] or api.nvim_get_commands({})[command.cmd]
  return own and not is_lua(command.cmd) and own.definition or nil
end

local function collect(line, found, depth)
  while line and line ~= '' and depth <= MAX_DEPTH do
    local ok, command = pcall(api.nvim_parse_cmd, line, {})
    if not ok then
      return
    end
    found[#found + 1] = command
    collect(inner_line(command), found, depth + 1)
    line = command.nextcmd
  end
end

--- Returns the commands of command lines, also those inside `:execute`, `:bufdo` and the user's own commands.
---@param lines string[]
---@return vim.api.keyset.cmd[]
function M.commands(lines)
  local found = {}
  for _, line in ipairs(lines) do
    collect(line, found, 1)
  end
  return found
end

--- Returns the command lines that a mapping runs by `<Cmd>`.
---@param keys string the typed keys
---@param mode string as `nvim_get_mode` returns it
function M.of_mapping(keys, mode)
  local short = mode:sub(1, 1):gsub('[vV\22]', 'x'):gsub('R', 'i')
  keys = vim.fn.keytrans(keys)
  for _ = 1, MAX_DEPTH do
    local rhs = tostring(vim.fn.maparg(keys, short))
    local lines = {}
    for line in rhs:gmatch('<[Cc][Mm][Dd]>(.-)<[Cc][Rr]>') do
      lines[#lines + 1] = line
    end
    if #lines > 0 or rhs == '' then
      return lines
    end
    -- It may lead to another mapping, such as `<Plug>(save)`.
    keys = rhs --[[@as string]]
  end
  return {}
end

return M
