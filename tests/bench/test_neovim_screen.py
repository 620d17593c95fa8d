"""The grid of cells, by hand: what each event does to it."""

from bench.neovim_screen import GHOST_COLOUR, Screen


def _screen() -> Screen:
    screen = Screen(width=6, height=3)
    screen.take([["hl_attr_define", [7, {"foreground": GHOST_COLOUR}, {}, []], [8, {"bold": True}, {}, []]]], at=0.0)
    return screen


def test_cells_repeat_and_keep_their_style() -> None:
    line = ["grid_line", [1, 0, 1, [["a", 8], ["b"], ["c", 7, 2]], False]]
    (frame,) = _screen().take([line, ["grid_cursor_goto", [1, 0, 3]], ["flush", []]], at=1.5)
    assert frame.rows[0] == " abcc "
    assert frame.ghost == ("cc", "", "")
    assert frame.ghost_text == "cc"
    assert frame.cursor == (0, 3)
    assert frame.at == 1.5


def test_a_wide_character_takes_two_cells() -> None:
    (frame,) = _screen().take([["grid_line", [1, 1, 0, [["名", 7], [""], ["x", 0]], False]], ["flush", []]], at=0.0)
    assert frame.rows[1] == "名x   "
    assert frame.ghost_text == "名"


def test_scrolling_moves_rows_up_and_down() -> None:
    screen = _screen()
    lines = ["grid_line", *[[1, row, 0, [[str(row), 0]], False] for row in range(3)]]
    screen.take([lines], at=0.0)
    (up,) = screen.take([["grid_scroll", [1, 0, 3, 0, 6, 1, 0]], ["flush", []]], at=0.0)
    assert [row[0] for row in up.rows] == ["1", "2", "2"]
    (down,) = screen.take([["grid_scroll", [1, 0, 3, 0, 6, -1, 0]], ["flush", []]], at=0.0)
    assert [row[0] for row in down.rows] == ["1", "1", "2"]


def test_a_frame_ends_at_a_flush_and_a_style_can_lose_its_colour() -> None:
    screen = _screen()
    ghost = ["grid_line", [1, 0, 0, [["g", 7]], False]]
    first, second = screen.take(
        [ghost, ["flush", []], ["hl_attr_define", [7, {"bold": True}, {}, []]], ["flush", []]], at=0.0
    )
    assert (first.ghost_text, second.ghost_text) == ("g", "")


def test_clearing_and_resizing() -> None:
    screen = _screen()
    screen.take([["grid_line", [1, 0, 0, [["g", 7]], False]]], at=0.0)
    (cleared,) = screen.take([["grid_clear", [1]], ["flush", []]], at=0.0)
    assert cleared.rows == (" " * 6,) * 3
    (resized,) = screen.take([["grid_resize", [1, 4, 2]], ["flush", []]], at=0.0)
    assert resized.rows == (" " * 4,) * 2
