"""One document's suggestions: `suggest`, `warm`, and what is kept between two keys.

All state belongs to the event loop. Every call of `suggest` ends in exactly one `Answer` or in the caller's own
cancellation. Knows positions in code points only; what a client sends and gets is the business of `server`.
"""

import time
from collections.abc import Callable, Sequence

from completion_server.errors import ForetypeError
from completion_server.protocol import Context
from lsp.answer import Answer
from lsp.context import Around, build_context
from lsp.document import Document
from lsp.engine_link import EngineLink
from lsp.exclude import Excluder
from lsp.gate import reason_not_to_ask
from lsp.keys import NEIGHBOURHOOD, holds_key
from lsp.neighbours import Neighbours
from lsp.presenter import Presenter
from lsp.runner import Grow, Runner
from lsp.settings import Settings
from lsp.suggestion import Shelf
from lsp.text import Edit, Position
from lsp.window import Window


class Completor:
    """`path` is the document's path relative to its workspace folder, `names` all paths that it may be a secret by,
    `neighbours` finds what else goes into its contexts, `new_id` names suggestions. `may_begin_below` as in
    `trim.Surroundings`.
    """

    def __init__(
        self,
        document: Document,
        path: str,
        names: Sequence[str],
        link: EngineLink,
        settings: Settings,
        *,
        new_id: Callable[[], str] = lambda: "",
        grow: Grow | None = None,
        neighbours: Neighbours | None = None,
        may_begin_below: bool = False,
    ) -> None:
        self.document = document
        self.last_cursor: Position | None = None  # of the last request or edit
        self.path = path
        self._neighbours = neighbours
        self._names = tuple(names)
        self._link = link
        self._presenter = Presenter(document, may_begin_below=may_begin_below)
        self._window = Window(document.text)
        self._shelf = Shelf()
        self._runner = Runner(document, self._shelf, self._presenter, link, new_id=new_id, grow=grow)
        self._holds_key = holds_key(str(document.text))
        self.configure(settings)
        document.listen(self._on_edit)

    def configure(self, settings: Settings) -> None:
        """Take new settings."""
        self._settings = settings
        self._runner.settings = settings
        self._presenter.min_confidence = settings.min_confidence
        excluder = Excluder(settings.exclude)
        self._secret_path = any(map(excluder.excludes, self._names))

    @property
    def excluded(self) -> bool:
        """Whether the document is a secret. One in which a private key was seen stays one until it is closed."""
        return self._secret_path or self._holds_key

    async def suggest(self, cursor: Position, *, invoked: bool = False) -> Answer:
        """What to show at `cursor`, a position of the document as it is now.

        A call supersedes the one before it, which then answers with nothing; the engine goes on with that one's work if
        it answers this call too. Raises only `asyncio.CancelledError`.
        """
        received = time.monotonic()
        self.last_cursor = cursor
        self._runner.supersede()
        if (answer := self._at_once(cursor, invoked)) is not None:
            self._runner.drop()
            return answer
        return await self._runner.answer(cursor, lambda: self._context(cursor), received=received, invoked=invoked)

    async def warm(self) -> None:
        """Have the text around the last known cursor prefilled; quiet about every failure but cancellation."""
        engine = self._link.ready
        cursor = self.last_cursor or self.document.text.forward(Position(0, 0), _FIRST_WARM)
        if engine is None or self.document.closed or self.excluded or self._reason_not_to_ask(cursor, invoked=True):
            return
        try:
            await engine.warm(self._context(cursor))
        except ForetypeError:
            return  # a request will say what is wrong

    def prefer(self, id: str) -> None:  # noqa: A002
        """The person sees this suggestion and no other: it is the one to go on with."""
        if (suggestion := self._shelf.find(id)) is not None:
            self._shelf.put(suggestion)

    def close(self) -> None:
        """The document was closed: a running request answers with nothing."""
        self._runner.drop()
        if not self.excluded:
            self._link.close_document(self.document.key)

    # -- without the engine ------------------------------------------------------------------------------------------

    def _at_once(self, cursor: Position, invoked: bool) -> Answer | None:
        version = self.document.version
        if self.excluded:
            return Answer("excluded", version, cursor)
        if self._reason_not_to_ask(cursor, invoked):
            return Answer("unwanted", version, cursor)
        kept = self._shelf.holding(self.document.text, cursor)
        if invoked and not any(suggestion.invoked for suggestion in kept):
            return None  # only the engine has alternatives
        ghosts = self._presenter.ghosts(kept, cursor, invoked=invoked)
        return Answer("from-cache", version, cursor, ghosts) if ghosts else None

    # -- the document ------------------------------------------------------------------------------------------------

    def _on_edit(self, edit: Edit) -> None:
        self._window.on_edit(edit)
        self._shelf.on_edit(edit)
        self.last_cursor = edit.new_end
        self._runner.on_edit(edit)
        self._holds_key = self._holds_key or holds_key(self._around(edit))

    def _around(self, edit: Edit) -> str:
        """The edited text with all that could make it a part of a key; the rest was looked at before."""
        text = self.document.text
        start = text.back(edit.start, NEIGHBOURHOOD)
        mark = " …" if start.column else ""  # `holds_key` takes the beginning for a line start
        return mark + text.slice(start, text.forward(edit.new_end, NEIGHBOURHOOD))

    def _context(self, cursor: Position) -> Context:
        around = Around()
        if self._neighbours is not None:
            around = self._neighbours.around(self.document, cursor, snippets=self._settings.snippets)
        return build_context(self.document, self._window, cursor, self.path, around)

    def _reason_not_to_ask(self, cursor: Position, invoked: bool) -> str | None:
        line = self.document.text.line(cursor.line)
        return reason_not_to_ask(
            settings=self._settings,
            scheme=self.document.scheme,
            path=self.document.path,
            language=self.document.language,
            before=line[: cursor.column],
            rest=line[cursor.column :],
            invoked=invoked,
        )


_FIRST_WARM = 8_192  # code points; every prompt in the head of a file begins with it, wherever the cursor will be
