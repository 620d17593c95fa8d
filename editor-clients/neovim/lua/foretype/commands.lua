--- `:Foretype`: what a person does that is not done while typing.

local client = require('foretype.client')
local status = require('foretype.status')

local M = {}

local PATIENCE = 1000 -- milliseconds that completion of a command line may take

---@type table<string, fun(argument: string)>
local actions = {}

local PARTS = { 'language', 'folder' }

---@param api table the module `foretype`
function M.setup(api)
  M._define(api)
  vim.api.nvim_create_user_command('Foretype', function(command)
    local action = actions[command.fargs[1] or 'status']
    if not action then
      return status.say('Foretype: there is no command ' .. command.fargs[1], vim.log.levels.ERROR)
    end
    action(table.concat(command.fargs, ' ', 2))
  end, { nargs = '*', complete = M._complete, desc = 'Foretype: suggestions while typing' })
end

function M._define(api)
  actions.status = function()
    M._show_status(api)
  end
  actions.log = function()
    vim.cmd.tabedit(vim.fn.fnameescape(client.log_file()))
    M._ask('foretype.status', nil, function(found)
      if type(found.engine_log) == 'string' and vim.uv.fs_stat(found.engine_log) then
        vim.cmd.split(vim.fn.fnameescape(found.engine_log))
      end
    end)
  end
  actions.start = function()
    api.toggle(true)
    M._tell('foretype.start')
  end
  actions.stop = function()
    M._tell('foretype.stop')
  end
  actions.restart = function()
    if client.get() then
      return M._tell('foretype.restart')
    end
    api.toggle(true)
  end
  actions.pair = function(name)
    if name ~= '' then
      return M._tell('foretype.usePair', { name })
    end
    M._choose_pair()
  end
  actions.toggle = function()
    api.toggle()
    status.say('Foretype: ' .. (api.reason() and 'off' or 'on'))
  end
  actions.enable = function(what)
    M._switch(api, what, true)
  end
  actions.disable = function(what)
    M._switch(api, what, false)
  end
  actions.health = function()
    vim.cmd.checkhealth('foretype')
  end
end

function M._switch(api, what, on)
  if what == '' then
    api.toggle(on)
    status.say('Foretype: ' .. (on and 'on' or 'off'))
  elseif vim.list_contains(PARTS, what) then
    status.say(('Foretype: %s for %s'):format(on and 'on' or 'off', api.switch(what, on)))
  else
    status.say('Foretype: language or folder, not ' .. what, vim.log.levels.ERROR)
  end
end

function M._choose_pair()
  M._ask('foretype.pairs', nil, function(pairs_known)
    vim.ui.select(pairs_known, {
      prompt = 'Pair of models',
      format_item = function(pair)
        return ('%s%s'):format(pair.name, pair.loaded == true and ' (loaded)' or '')
      end,
    }, function(pair)
      if pair then
        M._tell('foretype.usePair', { pair.name })
      end
    end)
  end)
end

function M._show_status(api)
  local lines = status.lines(api.reason())
  M._ask('foretype.status', nil, function(found)
    for _, hop in ipairs(found.hops or {}) do
      lines[#lines + 1] = ('%s %s: %s'):format(hop.ok and 'ok' or '!!', hop.name, hop.detail)
    end
    for name, count in vim.spairs(type(found.today) == 'table' and found.today or {}) do
      if type(count) == 'number' and count > 0 then
        lines[#lines + 1] = ('today %s: %d'):format(name:gsub('_', ' '), count)
      end
    end
    M._show(lines)
  end, function()
    M._show(lines)
  end)
end

--- In a window that goes with the next move, because a long message would ask for a key.
function M._show(lines)
  vim.lsp.util.open_floating_preview(lines, 'text', { border = 'rounded', focus_id = 'foretype.status' })
end

--- Ask the server; `failed` runs where there is none.
function M._ask(command, arguments, done, failed)
  local buf = vim.api.nvim_get_current_buf()
  client.command(buf, { command = command, arguments = arguments }, function(result)
    if result == nil or result == vim.NIL then
      failed = failed
        or function()
          status.say('Foretype: the language server does not run. See :checkhealth foretype', vim.log.levels.WARN)
        end
      return failed()
    end
    done(result)
  end)
end

--- Have the server do something and say what came of it.
function M._tell(command, arguments)
  M._ask(command, arguments, function(result)
    if result.message and result.message ~= '' then
      status.say('Foretype: ' .. result.message, result.ok and vim.log.levels.INFO or vim.log.levels.WARN)
    end
  end)
end

function M._complete(lead, line)
  local words = vim.split(line:gsub('^%s*', ''), '%s+')
  local offered = {}
  if #words <= 2 then
    offered = vim.tbl_keys(actions)
  elseif words[2] == 'enable' or words[2] == 'disable' then
    offered = PARTS
  elseif words[2] == 'pair' then
    offered = M._pair_names()
  end
  table.sort(offered)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, offered)
end

function M._pair_names()
  local names
  M._ask('foretype.pairs', nil, function(found)
    names = vim.tbl_map(function(pair)
      return pair.name
    end, found)
  end, function()
    names = {}
  end)
  vim.wait(PATIENCE, function()
    return names ~= nil
  end, 5)
  return names or {}
end

return M
