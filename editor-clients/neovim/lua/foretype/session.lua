--- One buffer's suggestions: what is shown, what is kept, what is asked for. `update` is called whenever text or cursor
--- may have changed, before the screen is drawn, and finds out by itself whether they have.

local client = require('foretype.client')
local events = require('foretype.events')
local gate = require('foretype.gate')
local ghost = require('foretype.ghost')
local place = require('foretype.place')
local stopwatch = require('foretype.stopwatch')
local text = require('foretype.text')
local Choices = require('foretype.choices')
local Pace = require('foretype.pace')
local Shelf = require('foretype.shelf')
local Suggestion = require('foretype.suggestion')

local METHOD = 'textDocument/inlineCompletion'
local INVOKED, AUTOMATIC = 1, 2 -- trigger kinds of the protocol

---@class foretype.Request
---@field id? integer of the protocol
---@field began number
---@field anchor integer
---@field here foretype.Place where it was asked
---@field kind integer
---@field step? integer which alternative is wanted, from what is shown
---@field watch foretype.Stopwatch

---@class foretype.Session
---@field buf integer
---@field config foretype.Config
---@field pace foretype.Pace
---@field shelf foretype.Shelf
---@field choices foretype.Choices
---@field shown? foretype.Suggestion
---@field pressed? integer the key that changed the text, until it is asked about
---@field running? foretype.Request
---@field here? foretype.Place as of the last update
---@field timer uv.uv_timer_t
local Session = {}
Session.__index = Session

---@param buf integer
---@param config foretype.Config
---@return foretype.Session
function Session.new(buf, config)
  return setmetatable({
    buf = buf,
    config = config,
    pace = Pace.new(),
    shelf = Shelf.new(buf),
    choices = Choices.new(),
    timer = assert(vim.uv.new_timer()),
  }, Session)
end

--- Show what holds here, or ask.
---@param again? boolean also where nothing has changed
function Session:update(again)
  local here = place.here(self.buf)
  local before = self.here
  if not again and before and place.same(here, before) then
    return
  end
  self.here = here
  if gate.moment(self.config) then
    return self:leave()
  end
  if before and before.tick ~= here.tick then
    self.pace:key(vim.uv.now())
    self.pressed = stopwatch.take_key()
  end
  if not self:reshow() and self.config.automatic then
    self:ask(AUTOMATIC)
  end
end

--- The person is elsewhere: nothing is shown, nothing is asked for.
function Session:leave()
  self:hide('hidden')
  self:abort()
end

--- The buffer is gone, or suggestions are off in it.
function Session:close()
  self:leave()
  self.shelf:clear()
  if not self.timer:is_closing() then
    self.timer:close()
  end
end

--- Paint what holds here. False where nothing does.
---@return boolean
function Session:reshow()
  local suggestion, rest, replaced = self.shelf:fitting()
  if not suggestion then
    self:hide('hidden')
    return false
  end
  if self.shown and self.shown ~= suggestion then
    self.shelf:note_reach(self.shown, place.here(self.buf))
    events.gone(self.shown, 'replaced', self.buf)
  end
  self.shown = suggestion
  suggestion.furthest = math.max(suggestion.furthest, #suggestion.text - #rest)
  local row, column = place.cursor()
  local count = self.choices:count(suggestion)
  ghost.show({ buf = self.buf, row = row, column = column, text = rest, replaced = replaced, count = count })
  stopwatch.painted(suggestion.id, events.painted)
  vim.schedule(function()
    if self.shown == suggestion then
      events.shown(suggestion)
    end
  end)
  return true
end

---@param why "dismissed"|"hidden"
function Session:hide(why)
  local shown = self.shown
  if not shown then
    return
  end
  self.shown = nil
  ghost.hide(self.buf)
  if vim.api.nvim_get_current_buf() == self.buf then
    self.shelf:note_reach(shown, place.here(self.buf))
  end
  events.gone(shown, why, self.buf)
end

--- Send away what is shown and all else that would be shown here. False where nothing was.
---@return boolean
function Session:dismiss()
  if not self.shown or not self.shelf:fitting() then
    return false
  end
  self:abort()
  self:hide('dismissed')
  self.shelf:drop_fitting()
  return true
end

--- Ask the server. An automatic request waits for the one that runs, as long as that may still be of use.
---@param kind integer
---@param step? integer
function Session:ask(kind, step)
  self.timer:stop()
  local running = self.running
  if running and kind == AUTOMATIC then
    if place.same(running.here, place.here(self.buf)) then
      return
    end
    local age = vim.uv.now() - running.began
    local wait = self.pace:patience() - age
    if wait > 0 then
      local function ask_again()
        self:_ask_again(running)
      end
      return self.timer:start(math.ceil(wait), 0, vim.schedule_wrap(ask_again))
    end
    self.pace:superseded(age)
  end
  self:abort()
  if not client.is_attached(self.buf) then
    return
  end
  local here = place.here(self.buf)
  local anchor = place.set_anchor(self.buf, here)
  local key = kind == AUTOMATIC and self.pressed or kind == INVOKED and stopwatch.take_key() or nil
  self.pressed = nil
  local watch = stopwatch.start(key)
  local request = { began = vim.uv.now(), anchor = anchor, here = here, kind = kind, step = step, watch = watch }
  self.running = request
  request.id = client.request(self.buf, METHOD, {
    textDocument = { uri = vim.uri_from_bufnr(self.buf) },
    position = place.to_protocol(here, client.encoding()),
    context = { triggerKind = kind },
  }, function(error, result)
    self:_answered(request, error, result)
  end)
end

--- Cancel what runs.
function Session:abort()
  self.timer:stop()
  local running = self.running
  self.running = nil
  if running then
    place.drop_anchor(self.buf, running.anchor)
    if running.id then
      client.cancel(running.id)
    end
  end
end

--- The next alternative, or the one before; they are asked for where there is but one.
---@param step 1|-1
function Session:cycle(step)
  local here = place.here(self.buf)
  local next = self.choices:beside(self.shown, step, function(choice)
    return self.shelf:rest(choice, here)
  end)
  if not next then
    return self:ask(INVOKED, step)
  end
  self.shelf:promote(next)
  self:reshow()
end

--- More of a suggestion, from a server that sends it as it comes.
---@param id string
---@param more string
---@return boolean whether it is one of this buffer
function Session:grow(id, more)
  local suggestion = self.shelf:find(id)
  if not suggestion then
    return false
  end
  suggestion.text = suggestion.text .. text.with_newlines(more, vim.bo[self.buf].fileformat)
  if more ~= '' and vim.api.nvim_get_current_buf() == self.buf and not gate.moment(self.config) then
    self:reshow()
  end
  return true
end

--- Take `part` of what is shown, which is put into the buffer here. Returns nothing where it does not hold any more.
---@param part "all"|"word"|"line"
function Session:take(part)
  local suggestion, rest, replaced = self.shelf:fitting()
  if not suggestion then
    return
  end
  local taken = part == 'word' and Suggestion.next_word(rest) or part == 'line' and Suggestion.next_line(rest) or rest
  local whole = #taken == #rest
  local reached = #suggestion.text - #rest + #taken
  place.insert(self.buf, taken, whole and #replaced or 0)
  suggestion.furthest = reached
  suggestion.taken = suggestion.taken + text.document_length(taken, vim.bo[self.buf].fileformat)
  if not whole then
    events.partly_accepted(suggestion, reached, self.buf)
    return
  end
  self.shown = nil
  ghost.hide(self.buf)
  events.accepted(suggestion, self.buf)
  self.shelf:drop(suggestion)
end

-- private -----------------------------------------------------------------------------------------------------------

function Session:_ask_again(running)
  if self.running == running and not gate.moment(self.config) and not self:reshow() then
    self:ask(AUTOMATIC)
  end
end

---@param request foretype.Request
function Session:_answered(request, error, result)
  if self.running ~= request then
    return -- superseded, or the buffer was left
  end
  stopwatch.replied(request.watch)
  self.running = nil
  self.timer:stop()
  local items = not error and result and (result.items or result) or {}
  if request.kind == AUTOMATIC then
    self.pace:answered(vim.uv.now() - request.began, #items == 0)
  end
  if vim.api.nvim_buf_is_valid(self.buf) and vim.api.nvim_get_current_buf() == self.buf then
    self:_take_items(request, items)
    local here = place.here(self.buf)
    local moved = not place.same(here, request.here)
    if not gate.moment(self.config) and not self:reshow() and moved then
      self:ask(AUTOMATIC)
    end
  end
  place.drop_anchor(self.buf, request.anchor)
end

--- Keep what came, in front of what is shown unless it contradicts what the person is typing.
function Session:_take_items(request, items)
  local row, column = place.anchor(self.buf, request.anchor)
  if row ~= request.here.row or column ~= request.here.column then
    return -- the text around it has moved, and the positions in the answer are those of before
  end
  local current, rest = self.shelf:fitting()
  local came = {}
  for _, item in ipairs(items) do
    came[#came + 1] = self.shelf:from_item(item, request.here, client.encoding())
  end
  for index = #came, 1, -1 do
    local suggestion = came[index]
    local new = self.shelf:rest(suggestion, place.here(self.buf))
    local agrees = not current or suggestion.id == current.id or (new and vim.startswith(new, rest))
    local old = self.shelf:put(suggestion, (agrees or request.kind == INVOKED) and 1 or 2)
    self.shown = self.shown == old and old and suggestion or self.shown
  end
  self.choices = Choices.new(came)
  if came[1] then
    stopwatch.brought(request.watch, came[1].id)
  end
  if request.step and #came > 1 then
    self.shelf:promote(came[request.step % #came + 1])
  end
end

return Session
