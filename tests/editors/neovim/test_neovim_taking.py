"""Taking a suggestion whole or in parts, undoing it, and keys that mean something else where nothing is shown."""

TWO_LINES = "total = one + two\n    return total"


def _show_two_lines(editor):
    editor.engine.say(TWO_LINES + "\n")
    editor.open("def f(one, two):\n    ⟦|⟧")
    editor.keys("A")
    editor.wait_ghost(TWO_LINES)
    editor.watch()


def test_words_across_the_line_end(editor):
    """seq-partial: no request, the rest stays, lengths add up"""
    _show_two_lines(editor)
    rests = [" = one + two\n    return total", " one + two\n    return total", " + two\n    return total"]
    rests += [" two\n    return total", "\n    return total", " total"]
    lengths = []
    for rest in rests:
        editor.keys("<C-Right>")
        editor.wait(lambda frame, rest=rest: frame.ghost_text.strip() == rest.strip() and rest.count("\n") in (0, 1))
        lengths.append(len(TWO_LINES) - len(rest))
    assert editor.text() == "def f(one, two):\n    total = one + two\n    return"
    assert editor.asked() == 0
    taken = [event for event in editor.sent() if event["method"] == "textDocument/didPartiallyAcceptCompletion"]
    assert [event["params"]["acceptedLength"] for event in taken] == lengths
    assert len({event["params"]["item"]["command"]["arguments"][0] for event in taken}) == 1
    editor.keys("<C-Right>")
    assert editor.text() == "def f(one, two):\n    total = one + two\n    return total"
    assert [event["method"] for event in editor.sent() if "accepted" in event["method"]] == ["foretype.accepted"]


def test_lines(editor):
    _show_two_lines(editor)
    editor.keys("<C-Down>")
    editor.wait_ghost("    return total")
    assert editor.text() == "def f(one, two):\n    total = one + two"
    editor.keys("<C-Down>")
    assert editor.text() == "def f(one, two):\n    total = one + two\n    return total"


def test_the_cursor_is_at_the_end(editor):
    """seq-accept-cursor"""
    editor.engine.say("one()\n    two()\n    three()\n")
    editor.open("def f():\n    ⟦|⟧\n\nf()")
    editor.keys("A")
    editor.wait_ghost("one()\n    two()\n    three()")
    editor.keys("<Tab>")
    assert editor.text() == "def f():\n    one()\n    two()\n    three()\n\nf()"
    assert editor.cursor() == (4, 11)
    editor.keys("x")
    assert editor.text().splitlines()[3] == "    three()x"


def test_one_undo_takes_back_what_was_accepted_and_no_more(editor):
    editor.engine.say("one()\n    two()\n")
    editor.open("def f():\n    ")
    editor.keys("GA# typed<CR>")
    editor.wait(lambda frame: "two()" in frame.ghost_text)
    before = editor.text()
    editor.keys("<Tab># more<Esc>")
    assert editor.text().endswith("two()# more")
    editor.keys("u")
    assert editor.text().endswith("two()")
    editor.keys("u")
    assert editor.text() == before
    editor.keys("u")
    assert editor.text() == "def f():\n    "


def test_each_word_is_one_undo(editor):
    _show_two_lines(editor)
    editor.keys("<C-Right><C-Right><Esc>")
    assert editor.text().endswith("    total =")
    editor.keys("u")
    assert editor.text().endswith("    total")


def test_tab_is_a_tab_where_nothing_is_shown(editor):
    editor.engine.say("")
    editor.open("", name="a.txt")
    editor.keys("ia<Tab>b<C-Right><C-]>c")
    assert editor.text() == "a\tbc"


def test_alt_keys_do_nothing_where_nothing_comes(editor):
    editor.engine.say("")
    editor.open("", name="a.txt")
    editor.keys(r"ia<M-]><M-[><M-\>b")
    assert editor.text() == "ab"


def test_tab_still_goes_on_in_a_snippet(editor):
    editor.engine.say("")
    editor.open("")
    editor.keys("i")
    editor.settle()
    editor.lua("vim.snippet.expand('f($1, $2)')")
    editor.keys("a<Tab>b")
    assert editor.text() == "f(a, b)"


def test_a_key_that_has_a_mapping_is_left_alone(new_editor, engine):
    editor = new_editor()
    editor.lua("vim.keymap.set('i', '<Tab>', 'mine', { desc = 'mine' })")
    editor.set_up()
    engine.say("ghost\n")
    editor.open("")
    editor.keys("i")
    editor.wait_ghost("ghost")
    editor.keys("<Tab>")
    assert editor.text() == "mine"
    assert "mine" in editor.lua("return require('foretype.keys').refused().accept")


def test_a_key_that_was_named_falls_through_to_the_mapping_it_had(new_editor, engine):
    editor = new_editor()
    editor.lua("""
      _G.pressed = 0
      vim.keymap.set('i', '<Tab>', function() _G.pressed = _G.pressed + 1 end)
      vim.keymap.set('i', '<C-f>', function() return '<Left>' end, { expr = true })
      vim.keymap.set('i', '<C-g>x', 'rhs')
    """)
    editor.set_up(keys={"accept": "<Tab>", "accept_word": "<C-f>", "dismiss": "<C-g>x", "next": False})
    engine.say("")
    editor.open("")
    editor.keys("iab<Tab><C-f>c<C-g>x")
    assert editor.text() == "acrhsb"
    assert editor.lua("return _G.pressed") == 1
    engine.say("ghost\n")
    editor.keys("<Esc>cc")
    editor.wait_ghost("ghost")
    editor.keys("<Tab>")
    assert editor.text() == "ghost"


def test_setting_up_twice_stacks_neither_mappings_nor_servers(new_editor, engine):
    engine.say("")
    editor = new_editor()
    editor.set_up()
    editor.open("", name="a.txt")
    editor.set_up()
    editor.wait_ready()
    editor.wait_lua("return #vim.lsp.get_clients()", wanted=1)
    editor.keys("i<Tab>")
    assert editor.text() == "\t"


def test_no_maps_but_plugs(new_editor, engine):
    editor = new_editor()
    editor.request("nvim_command", "let g:foretype_no_maps = 1 | imap <C-l> <Plug>(foretype-accept)")
    editor.set_up()
    engine.say("ghost\n")
    editor.open("", name="a.txt")
    editor.keys("i")
    editor.wait_ghost("ghost")
    editor.keys("<Tab>")
    editor.wait(lambda frame: frame.rows[0].startswith("   ") and frame.ghost_text == "ghost")
    editor.keys("<C-l>")
    assert editor.text() == "\tghost"


def test_dismissed_is_gone_until_the_next_key(editor):
    editor.engine.say("bar\n")
    editor.open("foo⟦|⟧")
    editor.keys("a")
    editor.wait_ghost("bar")
    editor.watch()
    editor.keys("<C-]>")
    editor.wait(lambda frame: not frame.ghost_text)
    assert [event["params"].get("event") for event in editor.sent()] == ["dismissed"]
    editor.keys("x")
    editor.wait_ghost("bar")


def test_the_built_in_menu(editor):
    """Ghost text stays beside an open menu and makes room for an entry that was picked."""
    editor.engine.say("ghost\n")
    editor.open("alpha\nalpine\n⟦|⟧")
    editor.request("nvim_command", "set completeopt=menuone,noselect")
    editor.keys("Gial")
    editor.wait_ghost("ghost")
    editor.keys("<C-n>")
    editor.wait(lambda frame: any("alpine" in row for row in frame.rows[3:]))
    editor.wait_ghost("ghost")
    editor.keys("<C-n>")
    editor.wait(lambda frame: frame.rows[2].startswith("alpha") and not frame.ghost_text)
    editor.settle()
    assert not editor.lua("return require('foretype').visible()")


def test_the_menus_of_plugins(editor):
    """Doubles with the functions that nvim-cmp and blink.cmp offer."""
    editor.engine.say("ghost\n")
    editor.open("x")
    editor.lua("""
      _G.cmp = { open = true, entry = nil }
      package.loaded['cmp'] = {
        visible = function() return _G.cmp.open end,
        get_active_entry = function() return _G.cmp.entry end,
      }
    """)
    editor.keys("A")
    editor.wait_ghost("ghost")
    editor.lua("_G.cmp.entry = {}")
    editor.keys("y")
    editor.wait(lambda frame: frame.rows[0].startswith("xy") and not frame.ghost_text)
    editor.lua("""
      _G.cmp.open = false
      _G.blink = { is_explicitly_selected = false }
      package.loaded['blink.cmp'] = { is_menu_visible = function() return true end }
      package.loaded['blink.cmp.completion.list'] = _G.blink
    """)
    editor.keys("z")
    editor.wait_ghost("ghost")
    editor.lua("_G.blink.is_explicitly_selected = true")
    editor.keys("z")
    editor.wait(lambda frame: frame.rows[0].startswith("xyzz") and not frame.ghost_text)
