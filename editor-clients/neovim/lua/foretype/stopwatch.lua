--- Stamps a suggestion on its way from the key to the screen. Each is of this process's monotonic clock, which no other
--- process shares: what is told of them are the durations in between.

local M = {}

local KEYS = vim.api.nvim_create_namespace('foretype.keys')
local REDRAW = vim.api.nvim_create_namespace('foretype.redraw')

---@class foretype.Stopwatch
---@field key? integer nanoseconds, as all of them; nil where no key led to the request
---@field asked integer
---@field replied? integer

---@alias foretype.Times {keyMs?: number, replyMs: number, paintMs: number} milliseconds

local pressed ---@type integer? when Neovim took the last key from its input, until it led to a request
local came ---@type {id: string, watch: foretype.Stopwatch}? what the last answer brought, until it is painted
local painted ---@type {id: string, watch: foretype.Stopwatch, done: fun(id: string, times: foretype.Times)}? until drawn

function M.watch()
  vim.on_key(function(_, typed)
    if typed ~= '' then
      pressed = vim.uv.hrtime()
    end
  end, KEYS)
  vim.api.nvim_set_decoration_provider(REDRAW, { on_end = M._drawn })
end

--- The last key; each leads to one request at most.
---@return integer?
function M.take_key()
  local key = pressed
  pressed = nil
  return key
end

--- A request leaves now.
---@param key? integer
---@return foretype.Stopwatch
function M.start(key)
  return { key = key, asked = vim.uv.hrtime() }
end

--- Its answer came.
---@param watch foretype.Stopwatch
function M.replied(watch)
  watch.replied = vim.uv.hrtime()
end

--- It brought a suggestion.
---@param watch foretype.Stopwatch
---@param id string
function M.brought(watch, id)
  came = { id = id, watch = watch }
end

--- A suggestion was painted. If it is the one that the last answer brought, `done` is told of its times once it is on the
--- screen: Neovim has drawn it and hands it to its terminal or window. What these need to show it is not in it.
---@param id string
---@param done fun(id: string, times: foretype.Times)
function M.painted(id, done)
  painted = came and came.id == id and { id = id, watch = came.watch, done = done } or nil
  came = nil
end

function M._drawn()
  if painted then
    local now, id, watch, done = vim.uv.hrtime(), painted.id, painted.watch, painted.done
    painted = nil
    vim.schedule(function()
      done(id, {
        keyMs = watch.key and (watch.asked - watch.key) / 1e6,
        replyMs = (watch.replied - watch.asked) / 1e6,
        paintMs = (now - watch.replied) / 1e6,
      })
    end)
  end
end

return M
