-- Maps the user's keys in a proposal. A key of ours that begins a longer mapping of the user does nothing: the user may
-- have typed that mapping slowly.

local config = require('gemini_companion.config')
local log = require('gemini_companion.log')

local M = {}

local api = vim.api

local COMMENT = ':GeminiCompanion comment<CR>'

local DESCRIPTIONS = {
  accept = 'accept the proposal of the CLI',
  reject = 'reject the proposal of the CLI, and stop it',
  reason = 'reject the proposal of the CLI with a reason',
  comment = 'comment on these lines for the model',
}

local function raw(keys)
  return api.nvim_replace_termcodes(keys, true, true, true)
end

--- Returns the mapping of the user that begins with these keys, or that has the same ones unless the user has chosen
--- ours. Returns nil if there is none.
local function find_collision(name, keys, mode, buffer)
  local own = raw(keys)
  local is_chosen = keys ~= config.default_mappings[name]
  local function search(mappings)
    for _, mapping in ipairs(mappings) do
      local is_own = mapping.desc == DESCRIPTIONS[name]
      local is_same = mapping.lhsraw == own
      if not is_own and vim.startswith(mapping.lhsraw, own) and not (is_same and is_chosen) then
        return mapping
      end
    end
  end
  return search(api.nvim_buf_get_keymap(buffer, mode)) or search(api.nvim_get_keymap(mode))
end

--- Returns the keys of a proposal's action as the user types them, or nil if the user has none for it.
---@param name 'accept'|'reject'|'reason'|'comment'
---@param buffer integer
function M.shown(name, buffer)
  local mappings = config.options.mappings
  local keys = mappings and mappings[name]
  if keys and not find_collision(name, keys, 'n', buffer) then
    return vim.fn.keytrans(raw(keys))
  end
end

--- Maps the keys on a side of a proposal.
---@param buffer integer
---@param actions table<string, fun()> by name
function M.map(buffer, actions)
  local function map(name, keys, mode)
    -- Without `nowait`: Neovim waits whether a longer mapping follows, also a later one.
    vim.keymap.set(mode, keys, function()
      local other = find_collision(name, keys, mode, buffer)
      if other then
        log.warn(('%s does nothing: it begins your mapping %s'):format(keys, vim.fn.keytrans(other.lhsraw)))
      elseif name == 'comment' then
        -- With the range of Visual mode, and before the keys that the user has typed since.
        api.nvim_feedkeys(raw(COMMENT), 'in', false)
      else
        actions[name]()
      end
    end, { buffer = buffer, desc = DESCRIPTIONS[name] })
  end
  for name, keys in pairs(config.options.mappings or {}) do
    for _, mode in ipairs(not keys and {} or name == 'comment' and { 'n', 'x' } or { 'n' }) do
      local other = find_collision(name, keys, mode, buffer)
      if not other or other.lhsraw ~= raw(keys) then
        map(name, keys, mode)
      end
    end
  end
end

return M
