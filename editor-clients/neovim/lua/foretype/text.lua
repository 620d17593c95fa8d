--- Lengths and positions in text: Neovim counts bytes, the protocol counts code units. Pure.

local M = {}

---@param text string valid UTF-8
---@return integer length in UTF-16 code units
function M.utf16_length(text)
  local _, points = text:gsub('[^\128-\191]', '')
  local _, astral = text:gsub('[\240-\247]', '')
  return points + astral
end

---@param text string
---@param encoding string "utf-8", "utf-16" or "utf-32"
---@return integer length in code units of `encoding`
function M.length(text, encoding)
  if encoding == 'utf-8' then
    return #text
  elseif encoding == 'utf-16' then
    return M.utf16_length(text)
  end
  return (select(2, text:gsub('[^\128-\191]', '')))
end

--- The byte column of a protocol column; the end of the line where that is behind it.
---@param line string
---@param units integer code units of `encoding`
---@param encoding string
---@return integer bytes
function M.byte_column(line, units, encoding)
  if encoding == 'utf-8' then
    return math.min(units, #line)
  end
  local byte = 0
  while units > 0 and byte < #line do
    local char = line:match('^[%z\1-\127\192-\255][\128-\191]*', byte + 1) or line:sub(byte + 1, byte + 1)
    units = units - M.length(char, encoding)
    byte = byte + #char
  end
  return byte
end

--- Line ends of the document as `\n`, which is what parts the lines of a buffer.
---@param text string
---@param fileformat string 'fileformat' of the buffer
---@return string
function M.with_newlines(text, fileformat)
  if fileformat == 'dos' then
    return (text:gsub('\r\n', '\n'))
  elseif fileformat == 'mac' then
    return (text:gsub('\r', '\n'))
  end
  return text
end

--- How long text of a buffer is for the protocol, where a line end may have two code units.
---@param text string with `\n`
---@param fileformat string
---@return integer UTF-16 code units
function M.document_length(text, fileformat)
  local ends = fileformat == 'dos' and select(2, text:gsub('\n', '')) or 0
  return M.utf16_length(text) + ends
end

return M
