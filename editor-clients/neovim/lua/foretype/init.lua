--- Ghost text from Foretype: `require('foretype').setup{}`, and what can be done with a suggestion.

local client = require('foretype.client')
local commands = require('foretype.commands')
local configuration = require('foretype.config')
local cursor = require('foretype.cursor')
local gate = require('foretype.gate')
local ghost = require('foretype.ghost')
local keys = require('foretype.keys')
local status = require('foretype.status')
local stopwatch = require('foretype.stopwatch')
local Session = require('foretype.session')
local Switches = require('foretype.switches')

local M = {}

---@type {config: foretype.Config, switches: foretype.Switches, sessions: table<integer, foretype.Session>}?
local plugin

--- Start. Without options everything has its default, see `:help foretype-options`.
---@param options? table
function M.setup(options)
  if vim.fn.has('nvim-0.10') == 0 then
    return vim.notify('Foretype needs Neovim 0.10 or newer', vim.log.levels.ERROR)
  end
  M._close_all()
  local config, problems = configuration.read(options)
  local file = vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'foretype.json')
  plugin = { config = config, switches = Switches.load(config, file), sessions = {} }
  client.setup(config, { attached = M._opened, ready = M._again, grow = M._grow, lost = M._lost, buffers = M._wanting })
  ghost.define_highlights()
  stopwatch.watch()
  keys.setup(config, M)
  commands.setup(M)
  M._watch()
  if #problems > 0 then
    status.say('Foretype: ' .. table.concat(problems, '; '), vim.log.levels.WARN)
  end
  M._look_everywhere()
end

-- what a key can do --------------------------------------------------------------------------------------------------
-- Each returns false where it has nothing to do, so that a mapping can do something else.

---@return boolean
function M.accept()
  return M._take('all')
end

---@return boolean
function M.accept_word()
  return M._take('word')
end

---@return boolean
function M.accept_line()
  return M._take('line')
end

---@return boolean
function M.dismiss()
  local session = M._session()
  return session ~= nil and session:dismiss()
end

---@return boolean
function M.next()
  return M._cycle(1)
end

---@return boolean
function M.previous()
  return M._cycle(-1)
end

--- Ask for a suggestion here and now, also where none would come by itself.
---@return boolean
function M.ask()
  local session = M._session()
  if session and not gate.moment(plugin.config) then
    session:ask(1)
    return true
  end
  return false
end

-- what is to be seen -------------------------------------------------------------------------------------------------

---@return boolean whether a suggestion is shown that holds here
function M.visible()
  local session = M._session()
  return session ~= nil and session.shown ~= nil and session.shelf:fitting() ~= nil
end

--- A few cells for a statusline: `foretype`, `foretype 42%`, `foretype off`, `foretype !`.
---@return string
function M.status()
  return plugin and status.short(M.reason()) or ''
end

--- The same as a table, for those who draw it themselves, with `reason` if the current buffer gets no suggestions.
---@return foretype.Status
function M.status_info()
  return vim.tbl_extend('force', status.get(), { reason = M.reason() })
end

--- Why the current buffer gets no suggestions; nil where it does.
---@return string?
function M.reason()
  if not plugin then
    return 'setup was not called'
  end
  return gate.buffer(vim.api.nvim_get_current_buf(), plugin.config, plugin.switches)
end

-- what is on and off -------------------------------------------------------------------------------------------------

--- Everything on or off, for now; the other way round without an argument.
---@param on? boolean
function M.toggle(on)
  if on == nil then
    on = not plugin.switches.on
  end
  plugin.switches.on = on
  M._look_everywhere()
end

--- Switch the language or the folder of the current buffer on or off, for good.
---@param what "language"|"folder"
---@param on boolean
---@return string name
function M.switch(what, on)
  local buf = vim.api.nvim_get_current_buf()
  local name = vim.bo[buf].filetype
  if what == 'folder' then
    name = vim.fs.root(buf, plugin.config.root_markers) or vim.fn.getcwd()
  end
  local problem = plugin.switches:set(what == 'folder' and 'folders' or 'languages', name, not on)
  if problem then
    status.say('Foretype: this will be forgotten: ' .. problem, vim.log.levels.WARN)
  end
  M._look_everywhere()
  return name
end

---@return foretype.Config?
function M.config()
  return plugin and plugin.config
end

-- private ------------------------------------------------------------------------------------------------------------

---@return foretype.Session?
function M._session()
  return plugin and plugin.sessions[vim.api.nvim_get_current_buf()]
end

--- Text cannot change while a mapping is worked out, and an undo break before and behind makes it one step.
function M._take(part)
  if not M.visible() then
    return false
  end
  local run = ("<C-g>u<Cmd>lua require('foretype')._insert('%s')<CR><C-g>u"):format(part)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(run, true, true, true), 'in', false)
  return true
end

function M._insert(part)
  local session = M._session()
  if session then
    session:take(part)
  end
end

--- Where nothing is shown there is no next one either, but perhaps a first.
function M._cycle(step)
  if not M.visible() then
    return M.ask()
  end
  M._session():cycle(step)
  return true
end

function M._watch()
  local group = vim.api.nvim_create_augroup('foretype', {})
  local function on(event, run)
    vim.api.nvim_create_autocmd(event, { group = group, callback = run })
  end
  local function update()
    local session = M._session()
    if session then
      session:update()
    end
  end
  on({ 'InsertEnter', 'CursorMovedI', 'TextChangedI', 'TextChangedP' }, update)
  -- Without it Neovim works out the mapping of a key that waits in the queue before it inserts the one in front of it,
  -- and Tab would be judged by a text that is about to change.
  on('InsertCharPre', function() end)
  on({ 'CompleteChanged', 'CompleteDone' }, vim.schedule_wrap(M._again))
  on({ 'InsertLeave', 'BufLeave', 'WinLeave' }, function(event)
    local session = plugin.sessions[event.buf]
    if session then
      session:leave()
    end
  end)
  on('InsertEnter', function()
    vim.schedule(M._again)
  end)
  on({ 'CursorMoved', 'CursorMovedI', 'BufEnter' }, function(event)
    cursor.moved(event.buf)
  end)
  on({ 'BufEnter', 'FileType', 'BufFilePost' }, function(event)
    M._look(event.buf)
  end)
  on('OptionSet', function(event)
    if vim.list_contains({ 'readonly', 'modifiable', 'buftype', 'binary' }, event.match) then
      M._look(vim.api.nvim_get_current_buf())
    end
  end)
  on({ 'BufUnload', 'BufWipeout' }, function(event)
    M._close(event.buf)
  end)
  on('ColorScheme', ghost.define_highlights)
end

--- Open a buffer in the server or close it there, whichever is right now.
function M._look(buf)
  if not plugin or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  if gate.buffer(buf, plugin.config, plugin.switches) then
    client.detach(buf)
    M._close(buf)
  elseif buf == vim.api.nvim_get_current_buf() and not client.is_attached(buf) then
    client.attach(buf)
  end
end

function M._look_everywhere()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    M._look(buf)
  end
  status.redraw()
end

function M._opened(buf)
  plugin.sessions[buf] = plugin.sessions[buf] or Session.new(buf, plugin.config)
  M._again()
end

--- Something has changed that no key has: the menu, the engine.
function M._again()
  local session = M._session()
  if session and vim.api.nvim_get_mode().mode:sub(1, 1) == 'i' then
    session:update(true)
  end
end

function M._grow(params)
  for _, session in pairs(plugin.sessions) do
    if session:grow(params.id, params.text) then
      return
    end
  end
end

function M._lost()
  for _, session in pairs(plugin.sessions) do
    session:abort()
  end
end

--- Buffers that were open in the server.
function M._wanting()
  return vim.tbl_keys(plugin.sessions)
end

function M._close(buf)
  local session = plugin and plugin.sessions[buf]
  if session then
    plugin.sessions[buf] = nil
    session:close()
  end
end

function M._close_all()
  for buf in pairs(plugin and plugin.sessions or {}) do
    M._close(buf)
  end
end

return M
