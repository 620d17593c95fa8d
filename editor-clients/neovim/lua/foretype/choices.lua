--- Alternatives of one place, as one answer brought them: which of how many is shown, and which comes next.

---@class foretype.Choices
---@field list foretype.Suggestion[] empty where there is only one
local Choices = {}
Choices.__index = Choices

---@param list? foretype.Suggestion[]
---@return foretype.Choices
function Choices.new(list)
  return setmetatable({ list = list and #list > 1 and list or {} }, Choices)
end

---@param suggestion foretype.Suggestion
---@return string? as "2/3"
function Choices:count(suggestion)
  for index, choice in ipairs(self.list) do
    if choice == suggestion then
      return ('%d/%d'):format(index, #self.list)
    end
  end
  return nil
end

--- The one that is `step` behind `shown`, of those that fit; nil where there is but one.
---@param shown? foretype.Suggestion
---@param step 1|-1
---@param fits fun(suggestion: foretype.Suggestion): any
---@return foretype.Suggestion?
function Choices:beside(shown, step, fits)
  local fitting, current = {}, 1
  for _, choice in ipairs(self.list) do
    if fits(choice) then
      fitting[#fitting + 1] = choice
      current = choice == shown and #fitting or current
    end
  end
  return #fitting > 1 and fitting[(current - 1 + step) % #fitting + 1] or nil
end

return Choices
