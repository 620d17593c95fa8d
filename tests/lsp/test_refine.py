"""From what the model said to what is held: place, style and syntax together, and what a presenter makes of it."""

import pytest

from completion_server.protocol import Context
from lsp.document import Document
from lsp.presenter import Presenter
from lsp.refine import refine
from lsp.syntax import Syntax
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
    assert Presenter(document).refined(said, context) == held
