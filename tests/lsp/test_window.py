"""Where the sent text begins: it holds still, and never reaches too far back."""

from hypothesis import given
from hypothesis import strategies as st

from lsp.text import Position, Text
from lsp.window import Window

LINE = "x = 1\n"  # six code points


def test_it_grows_to_the_limit_and_goes_back_to_the_budget() -> None:
    text = Text(LINE * 100)
    window = Window(text, budget=60, limit=90)
    starts = [window.start(Position(number, 0)).line for number in range(100)]
    assert starts[:16] == [0] * 16  # 15 lines are 90
    assert starts[16] == 6  # back to 10 lines
    assert starts[16:22] == [6] * 6
    assert starts[22] == 12


def test_a_jump_back_sets_it_anew_where_there_is_text_above() -> None:
    window = Window(Text(LINE * 100), budget=60, limit=90)
    assert window.start(Position(50, 0)) == (40, 0)
    assert window.start(Position(46, 0)) == (40, 0)
    assert window.start(Position(44, 0)) == (34, 0)  # less than half a budget was left
    assert window.start(Position(3, 0)) == (0, 0)


def test_it_begins_at_a_line_with_neither_space_nor_nothing_in_front() -> None:
    text = Text("a\n    b\n\n    c\nd\n    e\n    f\n")
    assert Window(text, budget=20, limit=30).start(Position(7, 0)) == (4, 0)
    indented = Text("    a\n" * 30)
    assert Window(indented, budget=20, limit=30).start(Position(20, 0)) == (17, 0)


def test_edits_above_carry_it_along() -> None:
    text = Text(LINE * 100)
    window = Window(text, budget=60, limit=90)
    assert window.start(Position(50, 0)) == (40, 0)
    window.on_edit(text.replace(Position(3, 0), Position(3, 0), "new\nnew\n"))
    assert window.start(Position(52, 3)) == (42, 0)
    window.on_edit(text.replace(Position(41, 0), Position(43, 0), ""))  # over the start itself
    assert window.start(Position(50, 0)) == (40, 0)


def test_a_line_longer_than_the_budget_is_cut() -> None:
    window = Window(Text("x" * 1_000), budget=60, limit=90)
    assert window.start(Position(0, 500)) == (0, 440)
    assert window.start(Position(0, 530)) == (0, 440)
    assert window.start(Position(0, 531)) == (0, 471)


@given(
    st.lists(st.integers(0, 30), max_size=40).map(lambda lengths: "\n".join(" " * (n % 3) + "x" * n for n in lengths)),
    st.lists(
        st.tuples(st.integers(0, 2_000), st.integers(0, 40), st.sampled_from(["", "y", "\n", "z\nzz\n"])), max_size=15
    ),
)
def test_any_edits_leave_a_start_within_the_limit(source: str, keys: list[tuple[int, int, str]]) -> None:
    text = Text(source)
    window = Window(text, budget=60, limit=90)
    for place, removed, new in keys:
        start = text.forward(Position(0, 0), place)
        edit = text.replace(start, text.forward(start, removed), new)
        window.on_edit(edit)
        begin = window.start(edit.new_end)
        length = text.length(begin, edit.new_end)
        assert Position(0, 0) <= begin <= edit.new_end
        assert length <= 90
        assert length >= 30 or begin == (0, 0)
