-- Names this Neovim for `/ide status` of the CLI: by its folder, and by a number if other Neovims have that name.

local file = require('gemini_companion.file')
local log = require('gemini_companion.log')

local M = {}

--- The longest folder in a name, in characters.
local MAX_FOLDER = 40

--- Returns the folders where companions write the discovery files for Gemini CLI and for Qwen Code.
local function discovery_folders()
  local qwen = vim.env.QWEN_HOME
  return {
    vim.fs.joinpath(vim.uv.os_tmpdir(), 'gemini', 'ide'),
    vim.fs.joinpath(vim.fn.fnamemodify(qwen and qwen ~= '' and qwen or '~/.qwen', ':p'), 'ide'),
  }
end

--- Returns the names of the running editors that a CLI can find, as a set.
local function names_in_use()
  local names = {}
  for _, folder in ipairs(discovery_folders()) do
    for entry in vim.fs.dir(folder) do
      local ok, content = pcall(vim.json.decode, (file.read(vim.fs.joinpath(folder, entry))))
      content = ok and type(content) == 'table' and content or {}
      -- The file for Gemini CLI has the process in its name.
      local pid = tonumber(entry:match('^gemini%-ide%-server%-(%d+)%-%d+%.json$') or vim.tbl_get(content, 'ppid'))
      local is_running = pid and pid ~= vim.fn.getpid() and vim.uv.kill(pid, 0) == 0
      local name = is_running and vim.tbl_get(content, 'ideInfo', 'displayName')
      if name then
        names[name] = true
      end
    end
  end
  return names
end

--- Returns the name of a Neovim with this workspace.
---@param folders string[]
function M.choose(folders)
  local folder = log.printable(vim.fn.fnamemodify(folders[1], ':t'))
  local name = folder == '' and 'Neovim' or ('Neovim (%s)'):format(vim.fn.strcharpart(folder, 0, MAX_FOLDER))
  local in_use = names_in_use()
  local numbered, number = name, 1
  while in_use[numbered] do
    number = number + 1
    numbered = ('%s %d'):format(name, number)
  end
  return numbered
end

return M
