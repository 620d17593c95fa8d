--- Paints a suggestion around the cursor, in place of what was painted before. Knows nothing of where it comes from.

local suggestion = require('foretype.suggestion')

local M = {}

local NAMESPACE = vim.api.nvim_create_namespace('foretype.ghost')
local GHOST, REPLACED, COUNT = 'ForetypeGhost', 'ForetypeReplaced', 'ForetypeCount'

--- Highlight groups that a colour scheme may set.
function M.define_highlights()
  vim.api.nvim_set_hl(0, GHOST, { link = 'Comment', default = true })
  vim.api.nvim_set_hl(0, REPLACED, { strikethrough = true, default = true })
  vim.api.nvim_set_hl(0, COUNT, { link = 'NonText', default = true })
end

---@class foretype.Ghost
---@field buf integer
---@field row integer from 0
---@field column integer bytes
---@field text string what would be inserted
---@field replaced string what stands behind the cursor and would go
---@field count? string as "2/3"

---@param ghost foretype.Ghost
function M.show(ghost)
  local buf, row, column = ghost.buf, ghost.row, ghost.column
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  local lines = vim.split(ghost.text, '\n', { plain = true })
  M.hide(buf)
  if #lines == 1 then
    M._one_line(ghost, line)
  else
    M._several_lines(ghost, line, lines)
  end
  if ghost.count then
    M._mark(buf, row, column, { virt_text = { { ghost.count, COUNT } }, virt_text_pos = 'eol' })
  end
end

---@param buf integer
function M.hide(buf)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  end
end

--- Text that would go and stands in the new text too (a bracket closed by a plugin) stays where it is on the screen.
---@param ghost foretype.Ghost
---@param line string
function M._one_line(ghost, line)
  local buf, row, column, text, replaced = ghost.buf, ghost.row, ghost.column, ghost.text, ghost.replaced
  local width = vim.fn.strdisplaywidth(line:sub(1, column))
  local at = replaced ~= '' and suggestion.find_in_first_line(text, replaced)
  if not at then
    M._inline(buf, row, column, M._drawable(text, width))
    if replaced ~= '' then
      M._mark(buf, row, column, { end_col = column + #replaced, hl_group = REPLACED })
    end
    return
  end
  M._inline(buf, row, column, M._drawable(text:sub(1, at), width))
  width = width + vim.fn.strdisplaywidth(text:sub(1, at + #replaced), width)
  M._inline(buf, row, column + #replaced, M._drawable(text:sub(at + #replaced + 1), width))
end

--- What stands behind the cursor would be pushed behind the last line: painted over here, painted again there.
---@param ghost foretype.Ghost
---@param line string
---@param lines string[]
function M._several_lines(ghost, line, lines)
  local before, behind = line:sub(1, ghost.column), line:sub(ghost.column + 1)
  local width = vim.fn.strdisplaywidth(before)
  local first = M._drawable(lines[1], width)
  local covered = vim.fn.strdisplaywidth(behind, width)
  local first_width = vim.fn.strdisplaywidth(first)
  local below = {}
  for number = 2, #lines do
    below[#below + 1] = { { M._drawable(lines[number], 0), GHOST } }
  end
  local mark = { virt_lines = below }
  local fits = width + math.max(covered, first_width) < M._text_width()
  if behind == '' or not fits then
    mark.virt_text, mark.virt_text_pos = { { first, GHOST } }, 'inline'
  else
    mark.virt_text = { { first .. (' '):rep(covered - first_width), GHOST } }
    mark.virt_text_pos, mark.hl_mode = 'overlay', 'combine'
    table.insert(below[#below], { M._drawable(behind:sub(#ghost.replaced + 1), 0), 'Normal' })
  end
  if vim.fn.has('nvim-0.11') == 1 and not vim.wo.wrap then
    mark.virt_lines_overflow = 'scroll'
  end
  M._mark(ghost.buf, ghost.row, ghost.column, mark)
end

function M._inline(buf, row, column, text)
  if text ~= '' then
    M._mark(buf, row, column, { virt_text = { { text, GHOST } }, virt_text_pos = 'inline' })
  end
end

function M._mark(buf, row, column, options)
  options.undo_restore = false
  options.priority = 300
  options.strict = false -- a column that has just gone is not worth an error while somebody types
  vim.api.nvim_buf_set_extmark(buf, NAMESPACE, row, column, options)
end

--- Virtual text knows no tabs and takes control characters as they are.
---@param text string one line
---@param width integer display columns in front of it
---@return string
function M._drawable(text, width)
  local parts, from = {}, width
  for piece, tab in text:gmatch('([^\t]*)(\t?)') do
    piece = vim.fn.strtrans(piece)
    width = width + vim.fn.strdisplaywidth(piece, width)
    local gap = tab ~= '' and vim.fn.strdisplaywidth('\t', width) or 0
    width = width + gap
    parts[#parts + 1] = piece .. (' '):rep(gap)
  end
  return width > from and table.concat(parts) or ''
end

function M._text_width()
  local info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
  return info.width - info.textoff
end

return M
