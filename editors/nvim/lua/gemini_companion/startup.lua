-- Decides whether the companion starts with Neovim. It does not if another program has started this Neovim for one
-- text: a CLI in the same folder would connect to this Neovim, which ends soon.

local file = require('gemini_companion.file')

local M = {}

--- The variables that CLIs set for the programs that they start: the user's editor, and commands of the model.
local CLI_VARIABLES = { 'GEMINI_CLI_NO_RELAUNCH', 'GEMINI_CLI', 'QWEN_CODE_NO_RELAUNCH', 'QWEN_CODE' }

--- The global variables of programs that embed a Neovim.
local EMBEDDERS = { vscode = 'VS Code', started_by_firenvim = 'Firenvim' }

--- The file types of the texts that version control systems and cron ask for.
local REQUESTED = { 'gitcommit', 'gitrebase', 'gitsendemail', 'hgcommit', 'jjdescription', 'jj', 'svn', 'cvs' }

--- The options of Neovim that take the next argument.
local TAKES_NEXT = { '-c', '--cmd', '-i', '-l', '-q', '-s', '-S', '-t', '-u', '-w', '-W', '--listen' }

--- Options without an argument can be one word, such as `-nR`.
local ONLY_READS = '^%-[AbdeEHmMnoOpRvyZ]*[dMR]'

--- Returns the argument that shows that the user only reads or compares, or nil.
local function reading_argument()
  local skip = true
  for _, argument in ipairs(vim.v.argv) do
    if skip then
      skip = false
    elseif argument == '--' then
      return nil
    elseif vim.tbl_contains(TAKES_NEXT, argument) then
      skip = true
    elseif argument == '-' or argument:find('^%+Man!') or argument:find(ONLY_READS) then
      return argument
    end
  end
end

--- Returns whether a file lies in a folder for temporary files, but not in the working directory. Programs that ask for
--- a text write it there: crontab, kubectl, shells, mail clients and many others.
local function is_temporary(path, is_crontab)
  local real = file.real(path)
  if file.is_inside(real, file.real(vim.fn.getcwd())) and not is_crontab then
    return false
  end
  for _, folder in ipairs({ vim.uv.os_tmpdir(), '/tmp', '/var/tmp', '/dev/shm' }) do
    if file.is_inside(real, file.real(folder)) then
      return true
    end
  end
  return false
end

local function obstacle()
  for _, name in ipairs(CLI_VARIABLES) do
    if vim.env[name] then
      return ('a CLI has started this Neovim (%s is set)'):format(name)
    end
  end
  for name, embedder in pairs(EMBEDDERS) do
    if vim.g[name] and vim.g[name] ~= 0 then
      return embedder .. ' has started this Neovim'
    end
  end
  local argument = reading_argument()
  if argument then
    return 'Neovim was started with ' .. argument
  end
  local path, filetype = vim.api.nvim_buf_get_name(0), vim.bo.filetype
  if filetype == 'man' then
    return 'Neovim was started for a manual page'
  elseif vim.fn.argc() == 0 or path == '' then
    return nil
  elseif vim.tbl_contains(REQUESTED, filetype) or path:find('[/\\]%.git[/\\]') then
    return 'Neovim was started for ' .. vim.fn.fnamemodify(path, ':t')
  elseif is_temporary(path, filetype == 'crontab') then
    return 'Neovim was started for a temporary file'
  end
end

--- Why no companion has started by itself, or nil.
---@type string?
M.obstacle = nil

--- Returns whether the companion may start by itself.
function M.may_start()
  M.obstacle = obstacle()
  return M.obstacle == nil
end

return M
