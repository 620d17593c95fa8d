--- Whether a completion menu is open, and whether somebody has picked an entry of it: the editor's own, nvim-cmp's or
--- blink.cmp's.

local M = {}

---@return boolean visible
---@return boolean selected by hand
function M.state()
  if vim.fn.pumvisible() == 1 then
    return true, vim.fn.complete_info({ 'selected' }).selected >= 0
  end
  -- A plugin that is not loaded shows nothing, and asking must not load it.
  local cmp = package.loaded['cmp']
  if cmp and cmp.visible and cmp.visible() then
    return true, cmp.get_active_entry and cmp.get_active_entry() ~= nil
  end
  local blink = package.loaded['blink.cmp']
  local visible = blink and (blink.is_menu_visible or blink.is_visible)
  if visible and visible() then
    local list = package.loaded['blink.cmp.completion.list']
    return true, list ~= nil and list.is_explicitly_selected == true
  end
  return false, false
end

return M
