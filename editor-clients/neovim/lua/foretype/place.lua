--- The cursor and the text around it, in the current window, and marks that move with the text.

local text = require('foretype.text')

local M = {}

local NAMESPACE = vim.api.nvim_create_namespace('foretype.anchors')

---@class foretype.Place
---@field row integer from 0
---@field column integer bytes
---@field tick integer changedtick
---@field before string the cursor's line in front of the cursor
---@field behind string and behind it

---@return integer row from 0
---@return integer column bytes
function M.cursor()
  local cursor = vim.api.nvim_win_get_cursor(0)
  return cursor[1] - 1, cursor[2]
end

---@param buf integer that of the current window
---@return foretype.Place
function M.here(buf)
  local row, column = M.cursor()
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  return { row = row, column = column, tick = tick, before = line:sub(1, column), behind = line:sub(column + 1) }
end

---@param one foretype.Place
---@param other foretype.Place
---@return boolean
function M.same(one, other)
  return one.tick == other.tick and one.row == other.row and one.column == other.column
end

---@param here foretype.Place
---@param encoding string
---@return lsp.Position
function M.to_protocol(here, encoding)
  return { line = here.row, character = text.length(here.before, encoding) }
end

--- A mark that stays in front of what is inserted at it.
---@param buf integer
---@param at {row: integer, column: integer}
---@return integer
function M.set_anchor(buf, at)
  local options = { right_gravity = false, undo_restore = false, strict = false }
  return vim.api.nvim_buf_set_extmark(buf, NAMESPACE, at.row, at.column, options)
end

---@param buf integer
---@param anchor integer
---@return integer? row
---@return integer? column
function M.anchor(buf, anchor)
  local at = vim.api.nvim_buf_get_extmark_by_id(buf, NAMESPACE, anchor, {})
  return at[1], at[2]
end

---@param buf integer
---@param anchor integer
function M.drop_anchor(buf, anchor)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_del_extmark(buf, NAMESPACE, anchor)
  end
end

--- The line in front of an anchor, and the text from there to the cursor; nil where the cursor is in front of it.
---@param buf integer
---@param anchor integer
---@param here foretype.Place
---@return string? head
---@return string? typed
function M.since(buf, anchor, here)
  local row, column = M.anchor(buf, anchor)
  if not row or here.row < row or (here.row == row and here.column < column) then
    return nil
  end
  local lines = vim.api.nvim_buf_get_text(buf, row, 0, here.row, here.column, {})
  local head = lines[1]:sub(1, column)
  lines[1] = lines[1]:sub(column + 1)
  return head, table.concat(lines, '\n')
end

--- Where an item goes, what it replaces behind the cursor, and what stands around that. The range of an item is of the
--- text that the server knew: `asked` is where the cursor was then, or the cursor has moved on by what was typed.
---@param buf integer
---@param item table
---@param asked foretype.Place
---@param encoding string
---@return {row: integer, column: integer} start
---@return string replaced
---@return string head
---@return string tail
function M.of_item(buf, item, asked, encoding)
  local range = item.range or { start = M.to_protocol(asked, encoding), ['end'] = M.to_protocol(asked, encoding) }
  local row = range.start.line
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  local start = { row = row, column = text.byte_column(line, range.start.character, encoding) }
  local at_cursor = row == asked.row and start.column <= asked.column
  local behind = at_cursor and asked.behind or line:sub(start.column + 1)
  local from = at_cursor and text.length(asked.before, encoding) or range.start.character
  local replaced = behind:sub(1, text.byte_column(behind, math.max(range['end'].character - from, 0), encoding))
  return start, replaced, line:sub(1, start.column), behind:sub(#replaced + 1)
end

--- Put text in at the cursor, in place of `replaced` bytes behind it, and the cursor at its end.
---@param buf integer
---@param inserted string
---@param replaced integer
function M.insert(buf, inserted, replaced)
  local row, column = M.cursor()
  local lines = vim.split(inserted, '\n', { plain = true })
  vim.api.nvim_buf_set_text(buf, row, column, row, column + replaced, lines)
  local last = #lines[#lines] + (#lines == 1 and column or 0)
  vim.api.nvim_win_set_cursor(0, { row + #lines, last })
  vim.cmd('silent! .foldopen!')
end

return M
