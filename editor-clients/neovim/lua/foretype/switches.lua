--- What a person has switched off: everything for now, a language or a folder for good.

---@class foretype.Switches
---@field on boolean
---@field file string where languages and folders are kept
---@field languages table<string, true> filetypes
---@field folders table<string, true> absolute paths
local Switches = {}
Switches.__index = Switches

---@param config foretype.Config
---@param file string
---@return foretype.Switches
function Switches.load(config, file)
  local self = setmetatable({ on = config.enabled, file = file, languages = {}, folders = {} }, Switches)
  local kept = Switches._read(file)
  for _, list in ipairs({ config.languages_off, kept.languages or {} }) do
    for _, language in ipairs(list) do
      self.languages[language] = true
    end
  end
  for _, list in ipairs({ config.folders_off, kept.folders or {} }) do
    for _, folder in ipairs(list) do
      self.folders[vim.fs.normalize(folder)] = true
    end
  end
  return self
end

--- Whether anything that holds for `buf` is off, in a word.
---@param buf integer
---@return string? reason
function Switches:reason(buf)
  if not self.on then
    return 'switched off'
  end
  if self.languages[vim.bo[buf].filetype] then
    return 'switched off for this language'
  end
  local path = vim.api.nvim_buf_get_name(buf)
  for folder in pairs(self.folders) do
    if vim.startswith(path, folder .. '/') then
      return 'switched off for this folder'
    end
  end
  return nil
end

---@param what "languages"|"folders"
---@param name string
---@param off boolean
---@return string? problem why it could not be kept
function Switches:set(what, name, off)
  self[what][name] = off or nil
  local text = vim.json.encode({ languages = vim.tbl_keys(self.languages), folders = vim.tbl_keys(self.folders) })
  vim.fn.mkdir(vim.fs.dirname(self.file), 'p')
  local file, problem = io.open(self.file .. '.new', 'w')
  if not file then
    return problem
  end
  file:write(text)
  file:close()
  local _, failure = vim.uv.fs_rename(self.file .. '.new', self.file)
  return failure
end

function Switches._read(path)
  local file = io.open(path)
  if not file then
    return {}
  end
  local text = file:read('*a')
  file:close()
  local read, kept = pcall(vim.json.decode, text)
  return read and type(kept) == 'table' and kept or {}
end

return Switches
