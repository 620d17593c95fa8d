--- Mappings that do something with a suggestion where one is shown, and else what the key does without them.

local M = {}

---@type table<string, table> mappings that ours stand in front of, by action
local previous = {}
---@type table<string, string> why a key was not mapped, by action
local refused = {}

--- `<Plug>(foretype-ACTION)` for every action, and the keys of the configuration.
---@param config foretype.Config
---@param api table<string, fun(): boolean>
function M.setup(config, api)
  previous, refused = {}, {}
  for action, key in pairs(config.keys) do
    local name = action:gsub('_', '-')
    vim.keymap.set('i', ('<Plug>(foretype-%s)'):format(name), api[action], { desc = 'Foretype: ' .. name })
    if key and not vim.g.foretype_no_maps then
      M._map(action, key, config.chosen_keys[action], api[action])
    end
  end
end

--- Actions whose key has a mapping of somebody else's, for the health check.
---@return table<string, string> by action: whose
function M.refused()
  return refused
end

function M._map(action, key, chosen, run)
  local taken = vim.fn.maparg(key, 'i', false, true)
  local ours = taken.desc and vim.startswith(taken.desc, 'Foretype: ')
  if ours then
    taken = {}
  end
  if next(taken) and not chosen and not M._is_builtin(taken) then
    refused[action] = ('%s is mapped to %s'):format(key, taken.desc or taken.rhs or 'a function')
    return
  end
  previous[action] = next(taken) and taken or nil
  vim.keymap.set('i', key, function()
    return run() and '' or M._fall_through(action, key)
  end, { expr = true, replace_keycodes = false, silent = true, desc = 'Foretype: ' .. action:gsub('_', ' ') })
end

--- Neovim maps Tab itself, to go on in a snippet.
function M._is_builtin(mapping)
  local source = mapping.callback and debug.getinfo(mapping.callback, 'S').source or ''
  return source:find('vim/_defaults', 1, true) ~= nil
end

--- The keys that do what the key would do without us.
function M._fall_through(action, key)
  local mapping = previous[action]
  if not mapping then
    -- Neovim itself takes an Alt key for Escape and a letter, which is nothing that one wants while typing.
    return key:match('^<[MA]%-') and '' or M._codes(key)
  end
  local keys
  if mapping.expr == 1 then
    keys = mapping.callback and mapping.callback() or vim.api.nvim_eval(mapping.rhs)
    if type(keys) ~= 'string' then
      return ''
    end
    keys = mapping.replace_keycodes == 1 and M._codes(keys) or keys
  elseif mapping.callback then
    -- Text cannot change while a mapping is worked out.
    return M._codes(("<Cmd>lua require('foretype.keys')._run('%s')<CR>"):format(action))
  else
    keys = M._codes(mapping.rhs)
  end
  if mapping.noremap == 1 then
    return keys
  end
  vim.api.nvim_feedkeys(keys, 'im', false)
  return ''
end

function M._run(action)
  previous[action].callback()
end

function M._codes(keys)
  return vim.api.nvim_replace_termcodes(keys, true, true, true)
end

return M
