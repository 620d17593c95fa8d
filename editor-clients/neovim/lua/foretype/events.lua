--- Tells the language server what became of a suggestion. Never what it says beyond the item that the server sent.

local client = require('foretype.client')
local text = require('foretype.text')

local M = {}

local SHOWN = 'textDocument/didShowCompletion'
local PARTLY = 'textDocument/didPartiallyAcceptCompletion'
local EVENT = 'foretype/event'

--- It is on the screen; also when it came back after it was gone.
---@param suggestion foretype.Suggestion
function M.shown(suggestion)
  if not suggestion.announced then
    suggestion.announced = true
    client.notify(SHOWN, { item = suggestion.item })
  end
end

--- It is on the screen for the first time since the answer that brought it.
---@param id string
---@param times foretype.Times
function M.painted(id, times)
  client.notify(EVENT, vim.tbl_extend('force', { id = id, event = 'painted' }, times))
end

--- It is on the screen no longer.
---@param suggestion foretype.Suggestion
---@param why "dismissed"|"replaced"|"hidden"
---@param buf integer
function M.gone(suggestion, why, buf)
  M.typed(suggestion, buf)
  if suggestion.announced then
    suggestion.announced = false
    client.notify(EVENT, { id = suggestion.id, event = why })
  end
end

--- Some of it was typed by hand, perhaps all of it.
---@param suggestion foretype.Suggestion
---@param buf integer
function M.typed(suggestion, buf)
  local typed = suggestion.carried + M._units(suggestion, suggestion.furthest, buf) - suggestion.taken
  if typed > suggestion.told then
    suggestion.told = typed
    client.notify(EVENT, { id = suggestion.id, event = 'typedThrough', length = typed })
  end
end

--- All of it was taken, or all that was left.
---@param suggestion foretype.Suggestion
---@param buf integer
function M.accepted(suggestion, buf)
  M.typed(suggestion, buf)
  suggestion.announced = false
  client.command(buf, suggestion.item.command)
end

--- A word or a line was taken; `reached` bytes of the suggestion are in the document now.
---@param suggestion foretype.Suggestion
---@param reached integer
---@param buf integer
function M.partly_accepted(suggestion, reached, buf)
  client.flush(buf)
  client.notify(PARTLY, { item = suggestion.item, acceptedLength = M._units(suggestion, reached, buf) })
end

function M._units(suggestion, bytes, buf)
  return text.document_length(suggestion.text:sub(1, bytes), vim.bo[buf].fileformat)
end

return M
