--- One suggestion, and what is left of it after some of it was typed. Pure: knows neither buffers nor the server.

---@class foretype.Suggestion
---@field id string
---@field item table as the server sent it
---@field text string all of it, with `\n` line ends; only ever grows
---@field head string the line in front of where it starts
---@field replaced string text behind the cursor that goes when it is taken
---@field tail string the rest of the line behind that
---@field anchor integer mark at its start
---@field furthest integer bytes of `text` that have been reached, by typing or taking
---@field taken integer UTF-16 code units of those that were taken
---@field carried integer code units typed by hand before the server sent it again from a later place
---@field told integer code units typed by hand that the server was told of
---@field announced boolean whether the server knows it as shown

local M = {}

local MOST_CLOSERS = 8 -- that an editor inserts by itself while the person types

--- What is left where `typed` stands between its start and the cursor and `behind` is the rest of the line.
---@param suggestion foretype.Suggestion
---@param head string the line in front of its start, as it is now
---@param typed string
---@param behind string
---@return string? rest nil where the suggestion does not hold, empty where all of it was typed
---@return string? replaced what of `behind` goes when the rest is taken
function M.rest(suggestion, head, typed, behind)
  local text = suggestion.text
  if head ~= suggestion.head or text:sub(1, #typed) ~= typed then
    return nil
  end
  local rest = text:sub(#typed + 1)
  local stands = suggestion.replaced .. suggestion.tail
  if behind == stands then
    return rest, suggestion.replaced
  end
  -- Brackets and quotes closed by a plugin: taken over where the suggestion closes them too.
  local closers = behind:sub(1, #behind - #stands)
  if closers .. stands ~= behind or #closers > MOST_CLOSERS or closers:find('[^%)%]}>"\'`]') then
    return nil
  end
  if M.find_in_first_line(rest, closers) then
    return rest, closers .. suggestion.replaced
  end
  return nil
end

--- How far a suggestion agrees with what stands behind its start, also where other text follows.
---@param suggestion foretype.Suggestion
---@param head string the line in front of its start, as it is now
---@param typed string
---@return integer bytes
function M.agrees_up_to(suggestion, head, typed)
  if head ~= suggestion.head then
    return 0
  end
  local reached = 0
  while reached < #typed and typed:byte(reached + 1) == suggestion.text:byte(reached + 1) do
    reached = reached + 1
  end
  while reached > 0 and (suggestion.text:byte(reached + 1) or 0) >= 128 and suggestion.text:byte(reached + 1) < 192 do
    reached = reached - 1 -- not within a character
  end
  return reached
end

--- Where `part` stands for the last time in the first line of `text`.
---@param text string
---@param part string
---@return integer? bytes in front of it
function M.find_in_first_line(text, part)
  local line = text:match('^[^\n]*')
  for at = #line - #part, 0, -1 do
    if line:sub(at + 1, at + #part) == part then
      return at
    end
  end
  return nil
end

--- The next word with the white space in front of it, or a run of what is no word.
---@param rest string not empty
---@return string
function M.next_word(rest)
  local word = vim.fn.matchstr(rest, [[^\_s*\(\k\+\|\(\k\@!\S\)\+\)]])
  return word ~= '' and word or rest
end

--- The rest of the line; where that is empty already, the next line with the line end in front of it.
---@param rest string not empty
---@return string
function M.next_line(rest)
  return rest:match('^\n*[^\n]*')
end

return M
