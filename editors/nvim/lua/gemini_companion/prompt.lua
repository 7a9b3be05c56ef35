-- Puts a file's name into the prompt of a CLI that runs in a terminal of this Neovim.

local log = require('gemini_companion.log')

local M = {}

local api = vim.api

--- The characters that a CLI unescapes in a path. Without the escape, some of them end the path.
local ESCAPED = '[ \t,;!?()%[%]{}|*$`\'"#&<>~\\]'

--- Returns whether a command line runs a CLI, by the name of the program or of the script that Node runs.
local function is_cli(command)
  for word in command:gmatch('%S+') do
    local name = word:match('[^/]+$') or word
    if name:match('^gemini%f[%z.]') or name:match('^qwen%f[%z.]') or word:find('/@qwen%-code/qwen%-code/') then
      return true
    end
    if name ~= 'node' and word:sub(1, 1) ~= '-' then
      return false
    end
  end
  return false
end

--- Returns a line for each process, with its id, its parent's id and its command. BusyBox has no option -A, and lists
--- all processes.
local function process_lines()
  for _, all in ipairs({ { '-A' }, {} }) do
    local command = vim.list_extend({ 'ps' }, all)
    local ok, lines = pcall(vim.fn.systemlist, vim.list_extend(command, { '-o', 'pid,ppid,args' }))
    if ok and vim.v.shell_error == 0 then
      return lines
    end
  end
  return {}
end

--- Returns the command line of each process and the children of each process. Both are empty without `ps`.
local function processes()
  local commands, children = {}, {}
  for _, line in ipairs(process_lines()) do
    local pid, parent, command = line:match('^%s*(%d+)%s+(%d+)%s+(.*)')
    if pid then
      commands[pid] = command
      children[parent] = children[parent] or {}
      table.insert(children[parent], pid)
    end
  end
  return commands, children
end

--- Returns a function that checks whether a buffer is a terminal that runs a CLI.
local function cli_terminals()
  local commands, children = processes()
  local function runs(pid)
    if is_cli(commands[pid] or '') then
      return true
    end
    for _, child in ipairs(children[pid] or {}) do
      if runs(child) then
        return true
      end
    end
    return false
  end
  return function(buffer)
    local ok, pid = pcall(api.nvim_buf_get_var, buffer, 'terminal_job_pid')
    return ok and runs(tostring(pid))
  end
end

--- Returns the buffer of the newest terminal that runs a CLI, or nil.
local function newest_terminal()
  local found = vim.tbl_filter(cli_terminals(), api.nvim_list_bufs())
  return found[#found]
end

--- Returns whether a buffer is a terminal that runs a CLI.
---@param buffer integer
function M.is_cli_terminal(buffer)
  return vim.bo[buffer].buftype == 'terminal' and cli_terminals()(buffer)
end

local function folder_of(terminal)
  local folder = api.nvim_buf_get_name(terminal):match('^term://(.-)//%d+:')
  return folder and vim.fn.fnamemodify(folder, ':p')
end

local function relative(path, folder)
  folder = folder:gsub('/$', '') .. '/'
  if path .. '/' == folder then
    return '.'
  end
  return vim.startswith(path, folder) and path:sub(#folder + 1) or path
end

--- Returns the name of a file as a user types it into a CLI that runs in `folder`. CLIs have no syntax for lines, so
--- words name them for the model. Returns nil for a name with control characters: a line feed would send the prompt.
---@param path string
---@param folder string
---@param first? integer
---@param last? integer
function M.naming(path, folder, first, last)
  if path:find('%c') or path:find('\194[\128-\159]') then
    return nil
  end
  local is_folder = vim.fn.isdirectory(path) == 1
  local shown = relative(path, folder) .. (is_folder and '/' or '')
  local escaped = shown:gsub(ESCAPED, '\\%0'):gsub('%.$', '\\.')
  local words = ''
  if first and not is_folder then
    words = first == last and (' (line %d)'):format(first) or (' (lines %d-%d)'):format(first, last)
  end
  return '@' .. escaped .. words
end

--- Returns the full path of an existing file or folder: `path`, which may be `%` and the like, or that of the current
--- buffer. A buffer of oil.nvim shows a folder.
local function target(path)
  local name = path or api.nvim_buf_get_name(0)
  if path and not vim.uv.fs_stat(path) then
    local ok, expanded = pcall(vim.fn.expandcmd, path)
    name = ok and expanded or path
  end
  name = name:gsub('^gemini%-companion://%l+', ''):gsub('^oil://', '')
  local full = vim.fn.fnamemodify(name, ':p')
  if name == '' or not vim.uv.fs_stat(full) then
    return nil
  end
  return full == '/' and full or (full:gsub('/$', ''))
end

local function go_to(terminal)
  local window = vim.fn.win_findbuf(terminal)[1]
  if window then
    api.nvim_set_current_win(window)
  else
    vim.cmd(('botright sbuffer %d'):format(terminal))
  end
  vim.cmd('startinsert')
end

--- Puts the name of a file, and optionally its lines, into the prompt of a CLI, without Enter. If no CLI runs in a
--- terminal, puts it into a register. Returns whether the file exists, and if not, the reason.
---@param path? string
---@param first? integer
---@param last? integer
function M.add(path, first, last)
  local file = target(path)
  if not file then
    return false, path and ('%s does not exist'):format(path) or 'this buffer has no file to add'
  end
  local terminal = newest_terminal()
  local name = M.naming(file, terminal and folder_of(terminal) or vim.fn.getcwd(), first, last)
  if not name then
    return false, 'the name has control characters, which a prompt cannot take'
  end
  -- Qwen Code recognizes an @ only after a space.
  local text = ' ' .. name .. ' '
  if terminal then
    -- Sent as a paste: typed keys could answer a question of the CLI, and a 1 allows an edit.
    api.nvim_chan_send(vim.bo[terminal].channel, '\27[200~' .. text .. '\27[201~')
    go_to(terminal)
    return true
  end
  local register = vim.fn.has('clipboard') == 1 and '+' or '"'
  vim.fn.setreg(register, text)
  log.notify(('found no CLI in a :terminal; register %s has %s'):format(register, name))
  return true
end

return M
