--- `:checkhealth foretype`: follows the way to a suggestion and names the first hop that is broken.

local client = require('foretype.client')
local keys = require('foretype.keys')

local M = {}

local PATIENCE = 5000 -- milliseconds
local RIVALS = { 'copilot', 'supermaven-nvim', 'codeium', 'minuet', 'tabnine' }

function M.check()
  local foretype = require('foretype')
  vim.health.start('Foretype')
  if M._editor() and M._plugin(foretype) and M._command() and M._server() then
    M._hops()
  end
  if foretype.config() then
    M._keys()
    M._rivals()
  end
end

function M._editor()
  if vim.fn.has('nvim-0.10') == 0 then
    vim.health.error('editor: Neovim is older than 0.10', { 'Install Neovim 0.10 or newer' })
    return false
  end
  vim.health.ok(('editor: Neovim %s'):format(vim.version()))
  return true
end

function M._plugin(foretype)
  if not foretype.config() then
    vim.health.error('plugin: setup was not called', { "Put require('foretype').setup{} into your configuration" })
    return false
  end
  vim.health.ok('plugin: set up')
  return true
end

function M._command()
  local command = client.command_line()
  if not command then
    vim.health.error('language server: the command foretype was not found', {
      "Install it: pipx install 'foretype[engine]'",
      "or name it: require('foretype').setup{ cmd = { '/path/to/foretype', 'lsp' } }",
    })
    return false
  end
  vim.health.ok('language server: ' .. command[1])
  return true
end

function M._server()
  if client.get() then
    vim.health.ok('language server: runs')
    return true
  end
  vim.health.warn('language server: does not run', {
    'It is started in the first buffer that gets suggestions: open a file and look again',
    'Its log: ' .. client.log_file(),
    'Without an editor: foretype doctor',
  })
  return false
end

--- What the server knows of the hops behind it.
function M._hops()
  local found, answered
  client.command(vim.api.nvim_get_current_buf(), { command = 'foretype.status' }, function(result)
    found, answered = result, true
  end)
  vim.wait(PATIENCE, function()
    return answered
  end, 10)
  if type(found) ~= 'table' or type(found.hops) ~= 'table' then
    vim.health.error('language server: does not answer', { ':Foretype restart', 'Its log: ' .. client.log_file() })
    return
  end
  for _, hop in ipairs(found.hops) do
    local line = ('%s: %s'):format(hop.name, hop.detail)
    if hop.ok then
      vim.health.ok(line)
    else
      local advice = { 'foretype doctor' }
      if type(found.engine_log) == 'string' then
        advice[2] = "The engine's log: " .. found.engine_log
      end
      vim.health.error(line, advice)
    end
  end
end

function M._keys()
  vim.health.start('Keys')
  local refused = keys.refused()
  for action, why in vim.spairs(refused) do
    vim.health.info(('%s: %s, so it was left alone; see :help foretype-keys'):format(action, why))
  end
  if next(refused) == nil then
    vim.health.ok(vim.g.foretype_no_maps and 'none mapped (g:foretype_no_maps)' or 'all mapped')
  end
end

function M._rivals()
  for _, name in ipairs(RIVALS) do
    if package.loaded[name] or vim.fn.exists('g:loaded_' .. name) == 1 then
      vim.health.warn(('%s is loaded: it shows ghost text too'):format(name), { 'Switch one of the two off' })
    end
  end
end

return M
