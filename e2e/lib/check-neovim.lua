-- Starts the plugin in a Neovim without a user interface, for the check of docs/editor-protocol.md.

local here = vim.fs.dirname(vim.fn.resolve(debug.getinfo(1, 'S').source:sub(2)))
vim.opt.runtimepath:prepend(vim.fs.normalize(here .. '/../../editors/nvim'))
local companion = require('gemini_companion')
companion.setup({ cmd = { vim.env.GEMINI_COMPANION } })
companion.start()
