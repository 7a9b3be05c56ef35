-- Owns files: their bytes, and the buffers in which they are loaded.

local M = {}

local api = vim.api
local uv = vim.uv or vim.loop

--- The buffer in which a file is loaded, by whatever name; nil if there is none.
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
function M.state(path)
  local stat = uv.fs_stat(path)
  return stat and ('%d.%d %d %d'):format(stat.mtime.sec, stat.mtime.nsec, stat.size, stat.ino)
end

--- All bytes of a file; nil and a message if that is not to be had, nil alone if there is no file.
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

--- Writes all bytes of a file, with the folders that it needs. Returns whether that worked, and if
--- not, why.
function M.write(path, bytes)
  pcall(vim.fn.mkdir, vim.fn.fnamemodify(path, ':h'), 'p')
  local file, why = io.open(path, 'wb')
  if not file then
    return false, why
  end
  local written, write_why = file:write(bytes)
  local closed, close_why = file:close()
  return written ~= nil and closed ~= nil, write_why or close_why
end

return M
