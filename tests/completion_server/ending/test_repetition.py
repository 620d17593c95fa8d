import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.ending.repetition import loop_end


def cut(text: str) -> str | None:
    """The text up to where the first copy ends, as soon as a loop is seen while it is written."""
    for end in range(1, len(text) + 1):
        found = loop_end(text[:end])
        if found is not None:
            return text[:found]
    return None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('text.replace(" ", "").replace(" ", "").replace(" ", "").replace(" ", "")', 'text.replace(" ", "")'),
        ("x = max(w, 1)\n    y = min(w, 1)\n    " * 4, "x = max(w, 1)\n    y = min(w, 1)\n    "),
        ('f("pairs.py", "pairs.py", "pairs.py", "pairs.py"', 'f("pairs.py", "'),
        ("a, " * 20, "a, "),
    ],
)
def test_loops_keep_their_first_copy(text: str, kept: str) -> None:
    found = cut(text)
    assert found is not None
    assert len(found) - len(kept) in range(-4, 5)  # the phrase may be seen from any of its characters on
    assert text.startswith(found)


@pytest.mark.parametrize(
    "text",
    [
        "matrix = [[0, 0, 0], [0, 1, 0], [0, 0, 1]]",
        "# " + "-" * 100,
        "\n" * 60,
        "a = 1\nb = 1\nc = 1\nd = 1\n",
        'x.replace("a", "").replace("b", "").replace("c", "")',
        "for x in xs:\n    print(x)\nfor y in ys:\n    print(y)\n",
        "",
    ],
)
def test_what_is_no_loop(text: str) -> None:
    assert cut(text) is None


@given(st.text("ab(", min_size=9, max_size=40), st.text("abc, (", max_size=30))
def test_any_phrase_four_times_is_seen(phrase: str, before: str) -> None:
    if any(char.isalnum() for char in phrase):
        assert cut(before + phrase * 4) is not None
