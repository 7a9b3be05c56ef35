-- Removes what a session (`:mksession`) restores of proposals and comparisons: empty buffers with the names of ours,
-- empty tab pages, and options.

local buffers = require('gemini_companion.buffer')
local labels = require('gemini_companion.labels')
local windows = require('gemini_companion.windows')

local M = {}

local api = vim.api

local function is_blank(buffer)
  local is_unnamed = api.nvim_buf_get_name(buffer) == '' and vim.bo[buffer].buftype == ''
  return is_unnamed and buffers.has_empty_line(buffer)
end

--- Closes tab pages in which all windows are blank. Only for a user whose sessions have no blank windows: without them,
--- `:mksession` stores the tab page of a proposal as a blank one.
local function close_blank_tabs()
  if vim.tbl_contains(vim.opt.sessionoptions:get(), 'blank') then
    return
  end
  for _, tab in ipairs(api.nvim_list_tabpages()) do
    local others = vim.tbl_filter(function(window)
      return not is_blank(api.nvim_win_get_buf(window))
    end, api.nvim_tabpage_list_wins(tab))
    if #others == 0 and #api.nvim_list_tabpages() > 1 then
      vim.cmd.tabclose(api.nvim_tabpage_get_number(tab))
    end
  end
end

--- Cleans up after a session was loaded.
function M.clean()
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_get_name(buffer):find('^gemini%-companion://') and not buffers.is_own(buffer) then
      api.nvim_buf_delete(buffer, { force = true })
    end
  end
  windows.restore()
  for _, window in ipairs(api.nvim_list_wins()) do
    -- The options of a diff, without those from before it.
    if vim.wo[window].foldmethod == 'diff' and not vim.wo[window].diff then
      api.nvim_win_call(window, function()
        vim.cmd('setlocal foldmethod< foldcolumn< foldlevel< wrap<')
      end)
    end
  end
  labels.update()
  close_blank_tabs()
end

return M
