"""Asks for suggestions at cursors: through the language server as an editor does, and the model alone for its raw
continuation. Knows nothing of what they are worth.
"""

from dataclasses import dataclass

from bench.keystrokes import position
from bench.quality.cursors import Cursor
from completion_server.client import EngineClient
from completion_server.errors import ForetypeError
from completion_server.protocol import Context, Decoding, Limits, Result
from lsp.context import build_context
from lsp.document import Document
from lsp.headless import Buffer, HeadlessEditor
from lsp.text import Position
from lsp.window import Window

RAW_TOKENS = 64  # a line is hardly longer
_ATTEMPTS = 2  # what took too long on a busy machine does not the second time
_FAILED = frozenset(["error", "unavailable", "loading", "cancelled", "superseded", "stale"])


@dataclass(frozen=True, slots=True)
class Answered:
    """What an editor would show at the cursor; an empty `text` is nothing. `confidence` is the server's own.

    `text` takes the place of the first `replaced` code points behind the cursor.
    """

    text: str
    confidence: float = 0.0
    replaced: int = 0


class EditedFile:
    """One file in an editor, in which somebody goes from cursor to cursor.

    What the author wrote at the last cursor is put back before the next one, so that nothing of it is in another
    document, and the engine keeps what it has computed for the text above.
    """

    def __init__(self, editor: HeadlessEditor, cursor: Cursor) -> None:
        self._editor = editor
        self._cursor = cursor
        self._buffer: Buffer = editor.open(cursor.path, cursor.before + cursor.after, language=cursor.language)

    async def ask(self, cursor: Cursor) -> Answered:
        """What the language server answers to a key there. Raises `ForetypeError` where it could not."""
        self._go_to(cursor)
        for _ in range(_ATTEMPTS):
            suggestion = await self._buffer.suggest()
            outcome = suggestion.trace["outcome"]
            if outcome not in _FAILED:
                return Answered(suggestion.text, suggestion.trace["confidence"] or 0.0, suggestion.replaced)
        raise ForetypeError(f"a request ended as {outcome}")

    def close(self) -> None:
        self._buffer.close()

    def _go_to(self, cursor: Cursor) -> None:
        if cursor is not self._cursor:
            self._buffer.move(*position(self._cursor.before))
            self._buffer.insert(self._cursor.wrote)
            self._buffer.move(*position(cursor.before + cursor.wrote))
            self._buffer.delete_back(len(cursor.wrote))
            self._cursor = cursor
        self._buffer.move(*position(cursor.before))


def context_of(cursor: Cursor) -> Context:
    """What a language server sends for a document that stands as at `cursor`."""
    document = Document(str(cursor.path), cursor.path.as_uri(), cursor.before + cursor.after, language=cursor.language)
    return build_context(document, Window(document.text), Position(*position(cursor.before)), cursor.path.name)


async def raw_line(client: EngineClient, cursor: Cursor) -> str:
    """The first line that the model itself goes on with: not healed, not ended, not trimmed, `RAW_TOKENS` at most."""
    limits, decoding = Limits(RAW_TOKENS, max_lines=1), Decoding(healing=False)
    return (await client.complete(context_of(cursor), limits=limits, decoding=decoding, raw=True)).text


async def said_by_engine(client: EngineClient, cursor: Cursor) -> Result:
    """What the engine answers the language server, before that trims it; with the scores of its tokens."""
    return await client.complete(context_of(cursor))
