"""Turns a place in a document into the `Context` that the engine is sent.

Models are trained on `\\n` alone, so other line ends are sent as that. Reads at most a window around the cursor,
and cuts what a client made longer than the protocol allows. The caller has made sure that the document is no secret.
"""

from completion_server.protocol import MAX_AFTER, Context
from completion_server.protocol.bounds import MAX_PATH, NUMBER, TEXT
from lsp.document import Document
from lsp.text import Position
from lsp.window import Window


def build_context(document: Document, window: Window, cursor: Position, path: str) -> Context:
    """`path` is the document's path relative to its workspace folder."""
    text = document.text
    return Context(
        document=document.key,
        version=max(-int(NUMBER.high), min(document.version, int(NUMBER.high))),
        before=plain(text.slice(window.start(cursor), cursor)),
        after=plain(text.slice(cursor, text.forward(cursor, MAX_AFTER))),
        language=plain(document.language)[: int(TEXT.high)],
        path=plain(path)[-MAX_PATH:],
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
