-- Reads and writes files, and finds their buffers.

local text = require('gemini_companion.text')

local M = {}

local api = vim.api
local uv = vim.uv

--- Returns a path as messages show it: relative to the working directory or to the home folder.
---@param path string
function M.short(path)
  return vim.fn.fnamemodify(path, ':~:.')
end

--- Returns the path of a file without symbolic links, if the file exists.
---@param path string
function M.real(path)
  local real = uv.fs_realpath(path) ---@type string?
  return real or path
end

--- Returns whether a path is below a folder.
---@param path string
---@param folder string
function M.is_inside(path, folder)
  local options = { expand_env = false, win = vim.fn.has('win32') == 1 }
  path, folder = vim.fs.normalize(path, options), vim.fs.normalize(folder, options)
  return vim.startswith(path, folder:sub(-1) == '/' and folder or folder .. '/')
end

--- Returns the file of an ordinary buffer, or nil. The name of a buffer may be a URL or a folder, or may not be UTF-8.
---@param buffer integer
function M.path_of(buffer)
  local name = api.nvim_buf_get_name(buffer)
  local is_absolute = name:find('^/') or name:find('^%a:[/\\]') or name:find('^\\\\')
  local is_path = vim.bo[buffer].buftype == '' and is_absolute ~= nil
  local is_file = is_path and vim.fn.isdirectory(name) == 0
  return is_file and text.utf8(name) == name and name or nil
end

--- Returns whether a write of a buffer was one to its own file, and not to a copy. `name` is that of the event, where
--- Windows has forward slashes.
---@param buffer integer
---@param name string
function M.is_own(buffer, name)
  return name:gsub('\\', '/') == api.nvim_buf_get_name(buffer):gsub('\\', '/')
end

--- Returns the buffer that has loaded a file, by any name of the file, or nil.
---@param path string
function M.buffer(path)
  local real = M.real(path)
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_get_name(buffer)
    local loaded = api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == '' and name ~= ''
    if loaded and M.real(name) == real then
      return buffer
    end
  end
end

--- Returns the buffer that has loaded a file. Loads it into a hidden, unlisted one if there is none.
---@param path string
---@return integer? buffer, string? why
function M.load(path)
  local loaded = M.buffer(path)
  if loaded then
    return loaded
  end
  local buffer = vim.fn.bufadd(path)
  local messages = vim.o.shortmess
  -- Without a question about a swap file.
  vim.o.shortmess = messages .. 'A'
  -- The user's autocommands may fail.
  local _, why = pcall(vim.fn.bufload, buffer)
  vim.o.shortmess = messages
  if api.nvim_buf_is_loaded(buffer) then
    return buffer
  end
  return nil, ('the file could not be loaded: %s'):format(why)
end

--- Returns a string that changes with each write of a file, or nil if the file does not exist.
---@param path string
function M.state(path)
  local stat = uv.fs_stat(path)
  return stat and ('%d.%d %d %d'):format(stat.mtime.sec, stat.mtime.nsec, stat.size, stat.ino)
end

--- Reads all bytes of a file. Returns nil and a message on failure, and nil alone if the file does not exist.
---@param path string
---@return string? bytes, string? why
function M.read(path)
  local stat = uv.fs_stat(path)
  if not stat then
    return nil
  end
  if stat.type ~= 'file' then
    return nil, ('%s is a %s, not a file'):format(path, stat.type)
  end
  local file, why = io.open(path, 'rb')
  if not file then
    return nil, why
  end
  local bytes, read_why = file:read('*a')
  file:close()
  return bytes, read_why
end

--- Overwrites a file in place, so links, permissions and owner stay. A full disk fails only the bytes beyond the old
--- length. Returns the reason of a failure.
local function overwrite(path, bytes)
  local flags = bit.bor(uv.constants.O_WRONLY, uv.constants.O_CREAT)
  local file, why = uv.fs_open(path, flags, tonumber('666', 8))
  if not file then
    return why
  end
  local at = 0
  while not why and at < #bytes do
    local count
    count, why = uv.fs_write(file, bytes:sub(at + 1), at)
    at = at + (count or 0)
  end
  why = why or select(2, uv.fs_ftruncate(file, #bytes)) or select(2, uv.fs_fsync(file))
  local _, close_why = uv.fs_close(file)
  return why or close_why
end

--- Writes all bytes of a file, and creates its folders. On failure it restores the file, and returns false and the
--- reason.
---@param path string
---@param bytes string
function M.write(path, bytes)
  local before, why = M.read(path)
  if why then
    return false, why
  end
  pcall(vim.fn.mkdir, vim.fn.fnamemodify(path, ':h'), 'p')
  why = overwrite(path, bytes)
  if why and before then
    overwrite(path, before)
  elseif why then
    os.remove(path)
  end
  return why == nil, why
end

return M
