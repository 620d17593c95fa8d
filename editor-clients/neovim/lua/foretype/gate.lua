--- Where and when suggestions are wanted at all. Which documents are secrets is the language server's business.

local menu = require('foretype.menu')

local M = {}

--- Why a buffer gets no suggestions; nil where it does.
---@param buf integer
---@param config foretype.Config
---@param switches foretype.Switches
---@return string? reason
function M.buffer(buf, config, switches)
  local options = vim.bo[buf]
  if options.buftype ~= '' and options.buftype ~= 'acwrite' then
    return ('no document but a %s buffer'):format(options.buftype)
  elseif not options.modifiable or options.readonly then
    return 'read-only'
  elseif vim.b[buf].foretype == false then
    return 'switched off for this buffer (b:foretype)'
  elseif options.binary then
    return 'binary'
  elseif vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf)) > config.max_bytes then
    return 'larger than max_bytes'
  elseif config.should_attach and not config.should_attach(buf) then
    return 'refused by should_attach'
  end
  return switches:reason(buf)
end

--- Why no suggestion is wanted at this moment in the current window; nil where one is.
---@param config foretype.Config
---@return string? reason
function M.moment(config)
  if vim.api.nvim_get_mode().mode:sub(1, 1) ~= 'i' then
    return 'not inserting'
  elseif vim.wo.diff then
    return 'comparing'
  elseif vim.fn.reg_recording() ~= '' or vim.fn.reg_executing() ~= '' then
    return 'a macro'
  elseif config.menu ~= 'never' then
    local visible, selected = menu.state()
    if selected or (visible and config.menu == 'visible') then
      return 'a completion menu'
    end
  end
  return nil
end

return M
