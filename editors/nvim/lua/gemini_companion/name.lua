-- Names this Neovim for `/ide status` of the CLI: by its folder, and by a number if other Neovims have that name.

local log = require('gemini_companion.log')

local M = {}

--- The longest folder in a name, in characters.
local MAX_FOLDER = 40

--- The folder where companions write the discovery files for Gemini CLI.
local function discovery_folder()
  return vim.fs.joinpath(vim.uv.os_tmpdir(), 'gemini', 'ide')
end

--- Returns the names of the running editors that a CLI can find, as a set.
local function names_in_use()
  local names = {}
  for file in vim.fs.dir(discovery_folder()) do
    local pid = tonumber(file:match('^gemini%-ide%-server%-(%d+)%-%d+%.json$'))
    local is_running = pid and pid ~= vim.fn.getpid() and vim.uv.kill(pid, 0) == 0
    local handle = is_running and io.open(vim.fs.joinpath(discovery_folder(), file), 'rb')
    if handle then
      local ok, content = pcall(vim.json.decode, handle:read('*a'))
      handle:close()
      local name = ok and vim.tbl_get(content, 'ideInfo', 'displayName')
      if name then
        names[name] = true
      end
    end
  end
  return names
end

--- Returns the name of a Neovim with this workspace.
---@param folders string[]
---@return string
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
