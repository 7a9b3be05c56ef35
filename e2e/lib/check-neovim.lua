-- Starts the plugin in a Neovim without a user interface, for the check of docs/editor-protocol.md.

local here = vim.fs.dirname(vim.fn.resolve(debug.getinfo(1, 'S').source:sub(2)))
vim.opt.runtimepath:prepend(vim.fs.normalize(here .. '/../../editors/nvim'))
local companion = require('gemini_companion')
companion.setup({ cmd = { vim.env.GEMINI_COMPANION } })
if _G.fault then
  _G.fault()
end
companion.start()

--- Returns the texts for a file that Neovim lists, or shows in a proposal that no CLI waits for, as JSON.
function _G.offered_texts(path)
  local texts = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buffer)
    local window = vim.fn.win_findbuf(buffer)[1]
    local is_kept = vim.startswith(name, 'gemini-companion://kept' .. path) and vim.bo[buffer].buflisted
    local is_orphan = name == 'gemini-companion://proposal' .. path
      and window
      and vim.wo[window].winbar:find('No CLI waits')
    if is_kept or is_orphan then
      texts[#texts + 1] = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') .. '\n'
    end
  end
  return vim.json.encode(texts)
end
