--- How long a running request is left alone when the text has moved on. Pure but for the clock that it is handed.
---
--- An engine that answers faster than the keys come is asked at every key. A slower one may finish what it has begun,
--- because what was typed meanwhile often agrees with it; asked at every key it would never get to the end.

---@class foretype.Pace
---@field latency number mean milliseconds from request to answer
---@field gap number mean milliseconds between two keys
---@field last? number when the last key came
local Pace = {}
Pace.__index = Pace

local WEIGHT = 0.25 -- of a new value in a mean
local LONGEST_GAP = 1000 -- what is longer is a pause, not typing
local MARGIN = 1.5 -- a request that takes so many times the mean is given up
local MOST_PATIENCE = 1000

---@return foretype.Pace
function Pace.new()
  return setmetatable({ latency = 0, gap = 150, last = nil }, Pace)
end

---@param now number milliseconds
function Pace:key(now)
  local gap = self.last and now - self.last
  self.last = now
  if gap and gap <= LONGEST_GAP then
    self.gap = self.gap + WEIGHT * (gap - self.gap)
  end
end

--- A quick empty answer says that nothing was computed, so it says nothing about the engine.
---@param milliseconds number
---@param empty boolean
function Pace:answered(milliseconds, empty)
  if not empty or milliseconds > self.latency then
    self.latency = self.latency + WEIGHT * (milliseconds - self.latency)
  end
end

--- A request was given up for a newer one: it would have taken longer. Without this an engine that never gets to the
--- end of a request would look like one that was never slow.
---@param milliseconds number since it was sent
function Pace:superseded(milliseconds)
  self.latency = math.max(self.latency, milliseconds)
end

---@return number milliseconds
function Pace:patience()
  if self.latency <= self.gap then
    return 0
  end
  return math.min(MARGIN * self.latency, MOST_PATIENCE)
end

return Pace
