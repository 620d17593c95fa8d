--- Tells the language server where the person has gone to, so that the text there is read before their first key.

local client = require('foretype.client')
local place = require('foretype.place')

local M = {}

local METHOD = 'foretype/cursor'
local REST = 200 -- milliseconds: going through a file is not coming to a place

local moves = 0

--- The cursor has moved, or has come into this window.
---@param buf integer that of the current window
function M.moved(buf)
  moves = moves + 1
  local this = moves
  vim.defer_fn(function()
    if this == moves and vim.api.nvim_get_current_buf() == buf and client.is_attached(buf) then
      M._tell(buf)
    end
  end, REST)
end

function M._tell(buf)
  client.notify(METHOD, {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    position = place.to_protocol(place.here(buf), client.encoding()),
  })
end

return M
