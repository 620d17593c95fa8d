"""Asking by hand, and going through what else there is."""

import pytest

# Answers with several items come from a double of the server here: what the real one offers is its own tests' business.
_ANSWER = """
local session = require('foretype')._session()
local client = require('foretype.client')
local request = client.request
_G.kinds = {}
client.request = function(buf, method, params, handler)
  if method ~= 'textDocument/inlineCompletion' then
    return request(buf, method, params, handler)
  end
  table.insert(_G.kinds, params.context.triggerKind)
  vim.schedule(function()
    local items = {}
    for index, text in ipairs(params.context.triggerKind == 1 and { 'one()', 'two()', 'three()' } or { 'one()' }) do
      items[index] = { insertText = text, command = { command = 'foretype.accepted', arguments = { 'a' .. index } },
        range = { start = params.position, ['end'] = params.position } }
    end
    handler(nil, { items = items })
  end)
  return 0
end
_G.undo_double = function() client.request = request end
"""


@pytest.fixture
def several(editor):
    editor.open("x =⟦|⟧")
    editor.lua(_ANSWER)
    yield editor
    editor.lua("_G.undo_double()")


def test_next_and_previous_go_round(several):
    several.keys("a")
    several.settle()
    several.keys(" ")
    several.wait(lambda frame: frame.rows[0].startswith("x = one()"))
    several.lua("_G.kinds = {}")
    for key, shown in [("<M-]>", "two()"), ("<M-]>", "three()"), ("<M-]>", "one()"), ("<M-[>", "three()")]:
        several.keys(key)
        frame = several.wait_ghost(shown)
    assert frame.rows[0].rstrip() == "x = three() 3/3"
    assert several.lua("return _G.kinds") == [1], "only the first step asks"
    several.keys("<Tab>")
    assert several.text() == "x = three()"


def test_typing_leaves_the_alternatives_that_still_hold(several):
    several.keys("a ")
    several.wait_ghost("one()")
    several.keys("<M-]>")
    several.wait_ghost("two()")
    several.keys("t")
    several.wait_ghost("wo()")
    several.keys("<M-]>")
    several.wait_ghost("hree()")
    several.keys("<M-]>")
    several.wait_ghost("wo()")


def test_asking_by_hand_where_nothing_comes_by_itself(new_editor, engine):
    editor = new_editor()
    editor.set_up(automatic=False)
    engine.say("1\n")
    editor.open("x =⟦|⟧")
    editor.keys("a ")
    editor.wait_idle()
    assert not engine.asked()
    editor.keys(r"<M-\>")
    editor.wait_ghost("1")
    editor.keys("<Tab>")
    assert editor.text() == "x = 1"


def test_growth_is_appended(several):
    """What a server sends to those that opted in by `stream`."""
    several.keys("a ")
    several.wait_ghost("one()")
    grow = "require('foretype')._grow({ id = 'a1', text = ..., done = false })"
    several.lua(grow, "\n  .two()")
    several.wait_ghost("one()\n  .two()")
    several.keys("one")
    several.wait_ghost("()\n  .two()")
    several.lua(grow, "\n  .three()")
    several.wait_ghost("()\n  .two()\n  .three()")
    several.lua("require('foretype')._grow({ id = 'gone', text = '!', done = true })")
    several.keys("<Tab>")
    assert several.text() == "x = one()\n  .two()\n  .three()"
