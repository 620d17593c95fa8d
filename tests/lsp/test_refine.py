"""From what the model said to what is held: place, style and syntax together, and what a presenter makes of it."""

import pytest

from completion_server.protocol import Context
from lsp.document import Document
from lsp.presenter import Presenter
from lsp.refine import refine
from lsp.suggestion import Suggestion
from lsp.syntax import Syntax
from lsp.text import Position
from lsp.trim import Surroundings

IN_TABS = "func f(x bool) {\n\t"


def test_style_comes_before_syntax() -> None:
    said = "if x {\n        g()\n    }\n    h("
    around = Surroundings.of(IN_TABS, "\n}\n", "go")
    cut = refine(said, IN_TABS, "\n}\n", Syntax(IN_TABS, "\n}\n", "go"), around)
    assert cut.text == "if x {\n\t\tg()\n\t}"
    assert cut.whole


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("if x {\n\t\tg()\n\t}", "if x {\n\t\tg()\n\t}"),
        ("if x {\n\t\tg()", ""),  # the block that was whole would not be any more
        ("h()\n\tif x {", "h()"),
    ],
)
def test_what_would_break_whole_code_is_not_held(said: str, held: str) -> None:
    document = Document("d1", "file:///a.go", IN_TABS + "\n}\n", language="go")
    context = Context("d1", 1, IN_TABS, "\n}\n", language="go")
    suggestion = Suggestion(Position(1, 1))
    Presenter(document).fill(suggestion, said, (), context)
    assert suggestion.text == held


@pytest.mark.parametrize(
    ("said", "by_itself"),
    [("a, b)", "a, b)"), ("a, b", None)],
)
def test_what_is_not_whole_is_shown_to_who_asks_by_hand(said: str, by_itself: str | None) -> None:
    document = Document("d1", "file:///a.py", "x = f(\n", language="python")
    suggestion, presenter = Suggestion(Position(0, 6)), Presenter(document)
    presenter.fill(suggestion, said, (), Context("d1", 1, "x = f(", "\n", language="python"))
    ghost = presenter.ghost(suggestion, Position(0, 6))
    assert (ghost.text if ghost else None) == by_itself
    ghost = presenter.ghost(suggestion, Position(0, 6), invoked=True)
    assert ghost is not None
    assert ghost.text == said
