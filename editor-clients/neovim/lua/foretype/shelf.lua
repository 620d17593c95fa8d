--- The last few suggestions of one buffer, kept right while it is edited: each hangs on a mark, so that text that comes
--- or goes above it moves it along. Backspace, undo and the way back find what was there.

local place = require('foretype.place')
local text = require('foretype.text')
local Suggestion = require('foretype.suggestion')

local SIZE = 6

---@class foretype.Shelf
---@field buf integer
---@field kept foretype.Suggestion[] the one that is preferred first
local Shelf = {}
Shelf.__index = Shelf

---@param buf integer
---@return foretype.Shelf
function Shelf.new(buf)
  return setmetatable({ buf = buf, kept = {} }, Shelf)
end

--- A suggestion from an item of the server's answer, not yet kept.
---@param item table
---@param asked foretype.Place where it was asked
---@param encoding string of positions
---@return foretype.Suggestion
function Shelf:from_item(item, asked, encoding)
  local start, replaced, head, tail = place.of_item(self.buf, item, asked, encoding)
  local inserted = type(item.insertText) == 'table' and item.insertText.value or item.insertText
  return {
    id = item.command and item.command.arguments and item.command.arguments[1] or '',
    item = item,
    text = text.with_newlines(inserted, vim.bo[self.buf].fileformat),
    head = head,
    replaced = replaced,
    tail = tail,
    anchor = place.set_anchor(self.buf, start),
    furthest = 0,
    taken = 0,
    carried = 0,
    told = 0,
    announced = false,
  }
end

--- The first one of which something is left where the cursor is now.
---@return foretype.Suggestion?
---@return string rest
---@return string replaced
function Shelf:fitting()
  local here = place.here(self.buf)
  for _, suggestion in ipairs(self.kept) do
    local rest, replaced = self:rest(suggestion, here)
    if rest and rest ~= '' then
      return suggestion, rest, replaced --[[@as string]]
    end
  end
  return nil, '', ''
end

--- What is left of a suggestion at a place; nil where it does not hold there.
---@param suggestion foretype.Suggestion
---@param here foretype.Place
---@return string? rest
---@return string? replaced
function Shelf:rest(suggestion, here)
  local head, typed = place.since(self.buf, suggestion.anchor, here)
  if not head then
    return nil
  end
  return Suggestion.rest(suggestion, head, typed --[[@as string]], here.behind)
end

--- Note how much of a suggestion stands in the text, before it is gone. Keys may come faster than the screen is drawn.
---@param suggestion foretype.Suggestion
---@param here foretype.Place
function Shelf:note_reach(suggestion, here)
  local head, typed = place.since(self.buf, suggestion.anchor, here)
  if head then
    local reached = Suggestion.agrees_up_to(suggestion, head, typed --[[@as string]])
    suggestion.furthest = math.max(suggestion.furthest, reached)
  end
end

--- Put a suggestion in front, or second, and in place of the one that has its id.
---@param suggestion foretype.Suggestion
---@param at 1|2
---@return foretype.Suggestion? old the one that had its id
function Shelf:put(suggestion, at)
  local old = self:find(suggestion.id)
  if old then
    local fileformat = vim.bo[self.buf].fileformat
    local reached = text.document_length(old.text:sub(1, old.furthest), fileformat)
    suggestion.carried = old.carried + reached - old.taken
    suggestion.told, suggestion.announced = old.told, old.announced
    self:drop(old)
  end
  table.insert(self.kept, math.min(at, #self.kept + 1), suggestion)
  while #self.kept > SIZE do
    self:drop(self.kept[#self.kept])
  end
  return old
end

--- Prefer one of the kept.
---@param suggestion foretype.Suggestion
function Shelf:promote(suggestion)
  local index = self:_index(suggestion)
  if index then
    table.insert(self.kept, 1, table.remove(self.kept, index))
  end
end

---@param id string
---@return foretype.Suggestion?
function Shelf:find(id)
  for _, suggestion in ipairs(self.kept) do
    if suggestion.id == id then
      return suggestion
    end
  end
  return nil
end

---@param suggestion foretype.Suggestion
function Shelf:drop(suggestion)
  local index = self:_index(suggestion)
  if index then
    table.remove(self.kept, index)
    place.drop_anchor(self.buf, suggestion.anchor)
  end
end

--- Drop all that hold where the cursor is now.
function Shelf:drop_fitting()
  local here = place.here(self.buf)
  for _, suggestion in ipairs(vim.list_slice(self.kept)) do
    if self:rest(suggestion, here) then
      self:drop(suggestion)
    end
  end
end

function Shelf:clear()
  while #self.kept > 0 do
    self:drop(self.kept[1])
  end
end

function Shelf:_index(suggestion)
  for index, kept in ipairs(self.kept) do
    if kept == suggestion then
      return index
    end
  end
  return nil
end

return Shelf
