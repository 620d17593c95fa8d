"""From what the model said to what a suggestion holds: on the cursor's line, in the document's style, cut by syntax.

Done once, when an answer comes. What an editor is shown of it is trimmed at every key, by `trim`, without parsing.
Pure; line ends are `\\n`.
"""

from lsp.indentation import in_style
from lsp.syntax import Cut, Syntax
from lsp.trim import Surroundings, on_this_line


def refine(text: str, before: str, after: str, syntax: Syntax, around: Surroundings) -> Cut:
    """`syntax` and `around` are of the same `before` and `after`, the text around the cursor that was asked for."""
    return syntax.cut(in_style(on_this_line(text, around), before, after), around)
