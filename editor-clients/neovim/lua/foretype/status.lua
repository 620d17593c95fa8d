--- What a person is told about the engine: kept here, drawn by their statusline.

---@class foretype.Status
---@field phase string of the engine, or "off", "missing" (no language server to be found), "stopped", "unavailable"
---@field pair string
---@field detail string one line
---@field fraction? number 0..1 while loading
---@field warm_ttft_ms? number
---@field acceptance_today? number

local M = {}

local SHORT = {
  off = '',
  ready = '',
  starting = ' …',
  loading = ' …',
  unloaded = ' asleep',
  stopping = ' stopped',
  stopped = ' stopped',
}

---@type foretype.Status
local current = { phase = 'off', pair = '', detail = '' }
---@type string?
local last_message

---@return foretype.Status
function M.get()
  return current
end

---@param status table
function M.set(status)
  local function given(value)
    return value ~= vim.NIL and value or nil
  end
  current = {
    phase = status.phase,
    pair = given(status.pair) or '',
    detail = given(status.detail) or '',
    fraction = given(status.fraction),
    warm_ttft_ms = given(status.warm_ttft_ms),
    acceptance_today = given(status.acceptance_today),
  }
  M.redraw()
end

--- Statuslines are drawn again, and whoever draws their own is told.
function M.redraw()
  vim.api.nvim_exec_autocmds('User', { pattern = 'ForetypeStatus', modeline = false })
  vim.cmd.redrawstatus({ bang = true })
end

--- A few cells for a statusline; `reason` says why the current buffer gets no suggestions.
---@param reason? string
---@return string
function M.short(reason)
  if reason then
    return 'foretype off'
  elseif current.phase == 'loading' and current.fraction then
    return ('foretype %d%%'):format(100 * current.fraction)
  end
  return 'foretype' .. (SHORT[current.phase] or ' !')
end

--- All that is known, a line each.
---@param reason? string
---@return string[]
function M.lines(reason)
  local lines = { ('engine: %s%s'):format(current.phase, current.detail ~= '' and ', ' .. current.detail or '') }
  if current.pair ~= '' then
    lines[#lines + 1] = 'pair: ' .. current.pair
  end
  if current.warm_ttft_ms then
    lines[#lines + 1] = ('first token: %.0f ms (median, warm)'):format(current.warm_ttft_ms)
  end
  if current.acceptance_today then
    lines[#lines + 1] = ('accepted today: %.0f %%'):format(100 * current.acceptance_today)
  end
  lines[#lines + 1] = 'this buffer: ' .. (reason or 'suggestions on')
  if last_message then
    lines[#lines + 1] = 'last message: ' .. last_message
  end
  return lines
end

--- One message that never asks for a key: cut to what fits beside the command line unless a plugin shows messages.
---@param message string
---@param level? integer of vim.log.levels
function M.say(message, level)
  message = message:gsub('%s+', ' ')
  last_message = message
  local plain = debug.getinfo(vim.notify, 'S').source:find('vim/_editor', 1, true) ~= nil
  local room = math.max(vim.v.echospace, 20)
  if plain and vim.fn.strdisplaywidth(message) > room then
    message = vim.fn.strcharpart(message, 0, room - 1) .. '…'
  end
  vim.notify(message, level or vim.log.levels.INFO, { title = 'Foretype' })
end

return M
