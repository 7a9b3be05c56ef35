-- Reads and writes files, and finds the buffers that show them.

local M = {}

local api = vim.api
local uv = vim.uv

--- The buffer in which a file is loaded, by whatever name; nil if there is none.
---@param path string
---@return integer?
function M.buffer(path)
  local real = uv.fs_realpath(path)
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_get_name(buffer)
    local loaded = api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == '' and name ~= ''
    if loaded and (name == path or (real and uv.fs_realpath(name) == real)) then
      return buffer
    end
  end
end

--- What changes whenever a file is written; nil if there is none.
---@param path string
---@return string?
function M.state(path)
  local stat = uv.fs_stat(path)
  return stat and ('%d.%d %d %d'):format(stat.mtime.sec, stat.mtime.nsec, stat.size, stat.ino)
end

--- All bytes of a file; nil and a message if that is not to be had, nil alone if there is no file.
---@param path string
---@return string? bytes
---@return string? why
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

--- Puts bytes in place of a file's own, from its beginning: what a full disk has no room for is only what is
--- longer. Links, rights and owner stay.
local function put(path, bytes)
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

--- Writes all bytes of a file, with the folders that it needs. Returns whether that worked, and if not, why;
--- the file is then as it was.
---@param path string
---@param bytes string
---@return boolean
---@return string? why
function M.write(path, bytes)
  local before, why = M.read(path)
  if why then
    return false, why
  end
  pcall(vim.fn.mkdir, vim.fn.fnamemodify(path, ':h'), 'p')
  why = put(path, bytes)
  if why and before then
    put(path, before)
  elseif why then
    os.remove(path)
  end
  return why == nil, why
end

return M
