--- The language server: found, started, started again where it ends by itself, and spoken to. One for the whole editor.

local status = require('foretype.status')

local M = {}

local NAME = 'foretype'
local FIRST_PAUSE, LONGEST_PAUSE = 500, 30000 -- milliseconds before a server that ended is started again
local STEADY = 10000 -- one that ran so long did not end because of how it was started
local LANGUAGES = {
  bash = 'shellscript',
  cs = 'csharp',
  gitcommit = 'git-commit',
  ['javascript.jsx'] = 'javascriptreact',
  make = 'makefile',
  sh = 'shellscript',
  tex = 'latex',
  text = 'plaintext',
  ['typescript.tsx'] = 'typescriptreact',
  zsh = 'shellscript',
  [''] = 'plaintext',
}

---@class foretype.Hooks
---@field attached fun(buf: integer)
---@field grow fun(params: table)
---@field ready fun() the engine has its models
---@field lost fun() the server has ended
---@field buffers fun(): integer[] those that want a server

---@type {config: foretype.Config, hooks: foretype.Hooks, id?: integer, pause: integer, began: number, told: boolean}
local state

---@param config foretype.Config
---@param hooks foretype.Hooks
function M.setup(config, hooks)
  if state then
    M.stop()
  end
  state = { config = config, hooks = hooks, id = nil, pause = FIRST_PAUSE, began = 0, told = false }
end

--- The command that runs the server; nil where there is none.
---@return string[]?
function M.command_line()
  if state.config.cmd then
    return vim.fn.executable(state.config.cmd[1]) == 1 and state.config.cmd or nil
  end
  local found = vim.fn.exepath('foretype')
  return found ~= '' and { found, 'lsp', '--log-file', M.log_file() } or nil
end

---@return string
function M.log_file()
  return vim.fs.joinpath(vim.fn.stdpath('log') --[[@as string]], 'foretype.log')
end

--- The running client once it is initialized.
---@return vim.lsp.Client?
function M.get()
  local client = state.id and vim.lsp.get_client_by_id(state.id)
  return client and client.initialized and client or nil
end

--- Open `buf` in the server, which is started where it does not run.
---@param buf integer
function M.attach(buf)
  local command = M.command_line()
  if not command then
    return M._missing()
  end
  M._close_other_untitled(buf)
  local root = vim.fs.root(buf, state.config.root_markers)
  vim.fn.mkdir(vim.fs.dirname(M.log_file()), 'p')
  local id = vim.lsp.start({
    name = NAME,
    cmd = function(dispatchers)
      return M._spawn(command, dispatchers)
    end,
    root_dir = root,
    capabilities = M._capabilities(),
    init_options = M._options(),
    get_language_id = function(_, filetype)
      return LANGUAGES[filetype] or filetype
    end,
    handlers = {
      ['foretype/status'] = function(_, params)
        local was_ready = status.get().phase == 'ready'
        status.set(params)
        if params.phase == 'ready' and not was_ready then
          state.hooks.ready()
        end
      end,
      ['foretype/grow'] = function(_, params)
        state.hooks.grow(params)
      end,
      ['window/showMessage'] = function(_, params)
        status.say(params.message, params.type <= 2 and vim.log.levels.WARN or vim.log.levels.INFO)
      end,
    },
    on_attach = function(_, attached)
      state.hooks.attached(attached)
    end,
  }, {
    bufnr = buf,
    silent = true,
    reuse_client = function(client)
      return client.name == NAME and client.id == state.id
    end,
  })
  if id and id ~= state.id then
    state.id, state.began = id, vim.uv.now()
    status.set({ phase = 'starting', detail = 'the language server starts' })
  elseif id and root then
    M._add_folder(root)
  end
end

---@param buf integer
function M.detach(buf)
  if state.id and vim.lsp.buf_is_attached(buf, state.id) then
    vim.lsp.buf_detach_client(buf, state.id)
  end
end

---@param buf integer
---@return boolean
function M.is_attached(buf)
  return M.get() ~= nil and vim.lsp.buf_is_attached(buf, state.id)
end

--- Ends the server; nothing starts it again but `attach`.
function M.stop()
  local client = state.id and vim.lsp.get_client_by_id(state.id)
  state.id = nil
  if client then
    M._call(client, 'stop')
  end
end

---@param buf integer
---@param method string
---@param params table
---@param handler fun(error?: table, result: any)
---@return integer? id nil where there is no server
function M.request(buf, method, params, handler)
  local client = M.get()
  if not client then
    return nil
  end
  local sent, id = M._call(client, 'request', method, params, handler, buf)
  return sent and id or nil
end

---@param id integer
function M.cancel(id)
  local client = M.get()
  if client and client.requests[id] then
    M._call(client, 'cancel_request', id)
  end
end

---@param method string
---@param params table
function M.notify(method, params)
  local client = M.get()
  if client then
    M._call(client, 'notify', method, params)
  end
end

--- Run a command of the server. `done` gets nil where there is no server or it refuses.
---@param buf integer
---@param command {command: string, arguments?: any[]}
---@param done? fun(result: any)
function M.command(buf, command, done)
  done = done or function() end
  local params = { command = command.command, arguments = command.arguments }
  local id = M.request(buf, 'workspace/executeCommand', params, function(_, result)
    done(result)
  end)
  if not id then
    done(nil)
  end
end

--- Send what Neovim still holds back of the changes of a buffer.
---@param buf integer
function M.flush(buf)
  local client = M.get()
  local found, tracking = pcall(require, 'vim.lsp._changetracking')
  if client and found and tracking.flush then
    tracking.flush(client, buf)
  end
end

---@return string
function M.encoding()
  local client = M.get()
  return client and client.offset_encoding or 'utf-16'
end

-- private -----------------------------------------------------------------------------------------------------------

--- Functions of a client take it as their first argument from Neovim 0.11 on.
function M._call(client, name, ...)
  if vim.fn.has('nvim-0.11') == 1 then
    return client[name](client, ...)
  end
  return client[name](...)
end

function M._capabilities()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.textDocument.inlineCompletion = { dynamicRegistration = false }
  return capabilities
end

function M._options()
  return vim.tbl_extend('force', { status = true, stream = state.config.stream }, state.config.server)
end

--- Told by us, once, and not by Neovim too: to it every end of the server is a clean one.
function M._spawn(command, dispatchers)
  local on_exit = dispatchers.on_exit
  dispatchers.on_exit = function(code, signal)
    on_exit(0, 0)
    vim.schedule(function()
      M._ended(code, signal)
    end)
  end
  return vim.lsp.rpc.start(command, dispatchers)
end

function M._ended(code, signal)
  if not state.id or vim.v.exiting ~= vim.NIL then
    return
  end
  state.id = nil
  state.hooks.lost()
  local detail = ('the language server ended (code %d, signal %d)'):format(code, signal)
  status.set({ phase = 'unavailable', detail = detail })
  if vim.uv.now() - state.began > STEADY then
    state.pause, state.told = FIRST_PAUSE, false
  end
  if not state.told then
    state.told = true
    status.say('Foretype: the language server ended; it is started again. See :Foretype log', vim.log.levels.WARN)
  end
  vim.defer_fn(M._start_again, state.pause)
  state.pause = math.min(2 * state.pause, LONGEST_PAUSE)
end

function M._start_again()
  if state.id then
    return
  end
  for _, buf in ipairs(state.hooks.buffers()) do
    M.attach(buf)
  end
end

function M._missing()
  local wanted = state.config.cmd and state.config.cmd[1] or 'foretype'
  status.set({ phase = 'missing', detail = wanted .. ' is not installed, or not in PATH' })
  if not state.told then
    state.told = true
    status.say(('Foretype: %s not found. See :checkhealth foretype'):format(wanted), vim.log.levels.WARN)
  end
end

--- All buffers without a name have the same URI, so that only one of them can be open in a server.
function M._close_other_untitled(buf)
  if vim.api.nvim_buf_get_name(buf) ~= '' then
    return
  end
  for _, other in ipairs(vim.api.nvim_list_bufs()) do
    if other ~= buf and vim.api.nvim_buf_get_name(other) == '' then
      M.detach(other)
    end
  end
end

function M._add_folder(root)
  local client = M.get()
  local uri = vim.uri_from_fname(root)
  for _, folder in ipairs(client and client.workspace_folders or {}) do
    if folder.uri == uri then
      return
    end
  end
  if client then
    local added = { { uri = uri, name = root } }
    client.workspace_folders = vim.list_extend(client.workspace_folders or {}, added)
    M.notify('workspace/didChangeWorkspaceFolders', { event = { added = added, removed = {} } })
  end
end

return M
