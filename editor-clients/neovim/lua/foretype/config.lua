--- The options of `setup`: what they are, their defaults, and what is wrong with those that somebody gave.

---@class foretype.Keys false for a key: not mapped. A key that somebody names is mapped also where it has a mapping.
---@field accept string|false
---@field accept_word string|false
---@field accept_line string|false
---@field dismiss string|false
---@field next string|false
---@field previous string|false
---@field ask string|false

---@class foretype.Config
---@field enabled boolean
---@field automatic boolean false: only where somebody asks
---@field cmd? string[] the language server; nil: `foretype lsp`, with `foretype` from PATH
---@field server table `initializationOptions` of the server
---@field stream boolean the first line as soon as it stands, the rest as it comes
---@field keys foretype.Keys
---@field chosen_keys table<string, boolean> keys that were named in `setup`
---@field languages_off string[] filetypes
---@field folders_off string[]
---@field max_bytes integer buffers larger than this get no suggestions
---@field root_markers string[]
---@field menu "selected"|"visible"|"never" when a completion menu hides suggestions
---@field should_attach? fun(buf: integer): boolean

local M = {}

---@return foretype.Config
function M.defaults()
  return {
    enabled = true,
    automatic = true,
    cmd = nil,
    server = {},
    stream = false,
    keys = {
      accept = '<Tab>',
      accept_word = '<C-Right>',
      accept_line = '<C-Down>',
      dismiss = '<C-]>',
      next = '<M-]>',
      previous = '<M-[>',
      ask = '<M-\\>',
    },
    chosen_keys = {},
    languages_off = {},
    folders_off = {},
    max_bytes = 4 * 1024 * 1024,
    root_markers = { '.git', '.hg', 'pyproject.toml', 'package.json', 'Cargo.toml', 'go.mod', 'Makefile' },
    menu = 'selected',
    should_attach = nil,
  }
end

local KINDS = {
  enabled = 'boolean',
  automatic = 'boolean',
  cmd = 'table',
  server = 'table',
  stream = 'boolean',
  keys = 'table',
  languages_off = 'table',
  folders_off = 'table',
  max_bytes = 'number',
  root_markers = 'table',
  menu = 'string',
  should_attach = 'function',
}
local MENUS = { selected = true, visible = true, never = true }

--- An option that makes no sense gives its default and one sentence.
---@param options? table
---@return foretype.Config config
---@return string[] problems
function M.read(options)
  local config, problems = M.defaults(), {}
  for name, value in pairs(options or {}) do
    if not KINDS[name] then
      problems[#problems + 1] = ('there is no option %s'):format(name)
    elseif type(value) ~= KINDS[name] then
      problems[#problems + 1] = ('option %s must be a %s'):format(name, KINDS[name])
    elseif name == 'menu' and not MENUS[value] then
      problems[#problems + 1] = 'option menu must be "selected", "visible" or "never"'
    elseif name == 'keys' then
      M._read_keys(value, config, problems)
    else
      config[name] = value
    end
  end
  table.sort(problems)
  return config, problems
end

function M._read_keys(keys, config, problems)
  for action, key in pairs(keys) do
    if config.keys[action] == nil then
      problems[#problems + 1] = ('there is no key %s'):format(action)
    elseif key ~= false and type(key) ~= 'string' then
      problems[#problems + 1] = ('key %s must be a string or false'):format(action)
    else
      config.keys[action] = key
      config.chosen_keys[action] = true
    end
  end
end

return M
