"""Turns a place in a document into the `Context` that the engine is sent.

Models are trained on `\\n` alone, so other line ends are sent as that. Reads at most a window around the cursor,
and cuts what a client made longer than the protocol allows. The caller has made sure that the document is no secret.
"""

from dataclasses import dataclass

from completion_server.protocol import MAX_AFTER, MAX_BEFORE, Context, Snippet
from completion_server.protocol.bounds import MAX_PATH, NUMBER, TEXT
from lsp.document import Document
from lsp.text import Position
from lsp.window import Window


@dataclass(frozen=True, slots=True)
class Around:
    """What belongs to a document without being in it: the cells above and below, and pieces of other files.

    `above` ends where the document begins, `below` begins where it ends; line ends are `\\n`.
    """

    above: str = ""
    below: str = ""
    snippets: tuple[Snippet, ...] = ()


def build_context(
    document: Document, window: Window, cursor: Position, path: str, around: Around | None = None
) -> Context:
    """`path` is the document's path relative to its workspace folder."""
    around = around or Around()
    text = document.text
    start, end = window.start(cursor), text.forward(cursor, MAX_AFTER)
    before, after = plain(text.slice(start, cursor)), plain(text.slice(cursor, end))
    if start == Position(0, 0) and len(around.above) + len(before) <= MAX_BEFORE:
        before = around.above + before
    if end == text.end:
        after = (after + around.below)[:MAX_AFTER]
    return Context(
        document=document.key,
        version=max(-int(NUMBER.high), min(document.version, int(NUMBER.high))),
        before=before,
        after=after,
        language=plain(document.language)[: int(TEXT.high)],
        path=plain(path)[-MAX_PATH:],
        snippets=around.snippets,
    )


def plain(text: str) -> str:
    """`text` with `\\n` for every line end, and nothing in it that UTF-8 cannot encode."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
