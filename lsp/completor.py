"""One document's suggestions: `suggest`, `warm`, and what is kept between two keys.

All state belongs to the event loop. Every call of `suggest` ends in exactly one `Answer` or in the caller's own
cancellation. Knows positions in code points only; what a client sends and gets is the business of `server`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from completion_server.errors import ForetypeError, Overloaded, RequestCancelled
from completion_server.protocol import Context, Decoding, Limits, Usage
from lsp.context import build_context, plain
from lsp.document import Document
from lsp.engine_link import Engine, EngineLink
from lsp.exclude import Excluder
from lsp.gate import reason_not_to_ask
from lsp.keys import NEIGHBOURHOOD, holds_key
from lsp.settings import Settings
from lsp.suggestion import Shelf, Suggestion
from lsp.text import Edit, Position
from lsp.trim import Surroundings, on_this_line, trim
from lsp.window import Window

Outcome = Literal[
    "engine",  # computed for this request
    "from-cache",  # the rest of an earlier one
    "empty",  # computed, and nothing of it is worth showing
    "excluded",  # a secret
    "unwanted",  # see `gate`
    "loading",
    "unavailable",
    "superseded",
    "stale",  # the document moved on
    "cancelled",
    "error",
]

INVOKED_WAIT = 10.0  # seconds that a person who asked by hand waits for an engine that loads
LONGEST_REQUEST = 30.0  # seconds; an engine that is silent for longer won't answer
_BELOW = 4_096  # code points of live text behind the cursor that trimming looks at


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` goes in at `position` of `version`, with the document's own line ends; empty: show nothing."""

    outcome: Outcome
    version: int
    position: Position
    text: str = ""
    usage: Usage | None = None


class Completor:
    """`path` is the document's path relative to its workspace folder, `names` all paths that it may be a secret by.

    `may_begin_below` as in `trim.Surroundings`.
    """

    def __init__(
        self,
        document: Document,
        path: str,
        names: Sequence[str],
        link: EngineLink,
        settings: Settings,
        *,
        may_begin_below: bool = False,
    ) -> None:
        self.document = document
        self.last_cursor: Position | None = None  # of the last request or edit
        self._path = path
        self._names = tuple(names)
        self._link = link
        self._may_begin_below = may_begin_below
        self._window = Window(document.text)
        self._shelf = Shelf()
        self._asked: Suggestion | None = None
        self._running: asyncio.Task[object] | None = None
        self._holds_key = holds_key(str(document.text))
        self.configure(settings)
        document.listen(self._on_edit)

    def configure(self, settings: Settings) -> None:
        """Take new settings."""
        self._settings = settings
        excluder = Excluder(settings.exclude)
        self._secret_path = any(map(excluder.excludes, self._names))

    @property
    def excluded(self) -> bool:
        """Whether the document is a secret. One in which a private key was seen stays one until it is closed."""
        return self._secret_path or self._holds_key

    async def suggest(self, cursor: Position, *, invoked: bool = False) -> Answer:
        """What to show at `cursor`, a position of the document as it is now.

        A call supersedes the one before it, which then answers with nothing. Raises only `asyncio.CancelledError`.
        """
        self._supersede()
        version = self.document.version
        self.last_cursor = cursor
        if self.excluded:
            return Answer("excluded", version, cursor)
        if self._reason_not_to_ask(cursor, invoked):
            return Answer("unwanted", version, cursor)
        for rest in self._shelf.rests(self.document.text, cursor):
            if text := self._trimmed(rest, cursor):
                return Answer("from-cache", version, cursor, text)
        return await self._ask(self._context(cursor), cursor, invoked)

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

    def close(self) -> None:
        """The document was closed: a running request answers with nothing."""
        self._supersede()
        if not self.excluded:
            self._link.close_document(self.document.key)

    # -- asking ------------------------------------------------------------------------------------------------------

    async def _ask(self, context: Context, cursor: Position, invoked: bool) -> Answer:
        asked = self._asked = Suggestion(cursor)
        task = self._running = asyncio.create_task(self._request(context, invoked))
        try:
            outcome, text, usage = await task
        except asyncio.CancelledError:
            here = asyncio.current_task()
            if self._asked is asked:
                self._asked = self._running = None
            if here is not None and here.cancelling():
                raise  # by the client; else by `_supersede`
            return Answer("superseded", context.version, cursor)
        if self._asked is not asked:
            return Answer("superseded", context.version, cursor, usage=usage)
        self._asked = self._running = None
        if text is None:
            return Answer(outcome, context.version, cursor, usage=usage)
        asked.text = on_this_line(plain(text), Surroundings.of(context.before, context.after))
        return self._deliver(asked, context.version, cursor, usage)

    def _deliver(self, asked: Suggestion, version: int, cursor: Position, usage: Usage | None) -> Answer:
        """The document may have moved on: give what still holds where the cursor is now."""
        live = self.document
        if asked.alive:
            self._shelf.put(asked)
        rest = asked.rest(live.text, asked.end)
        if live.closed or rest is None:
            return Answer("stale", version, cursor, usage=usage)
        text = self._trimmed(rest, asked.end)
        return Answer("engine" if text else "empty", live.version, asked.end, text, usage)

    async def _request(self, context: Context, invoked: bool) -> tuple[Outcome, str | None, Usage | None]:
        engine = await self._engine(context, invoked)
        if engine is None:
            loading = self._link.phase in ("starting", "loading", "unloaded")
            return "loading" if loading else "unavailable", None, None
        limits = Limits(self._settings.max_tokens, self._settings.max_lines)
        decoding = Decoding(drafting=self._settings.drafting)
        try:
            async with asyncio.timeout(LONGEST_REQUEST):
                result = await engine.complete(context, limits=limits, decoding=decoding)
        except RequestCancelled:
            return "superseded", None, None
        except (Overloaded, TimeoutError):
            return "error", None, None  # passes by itself
        except ForetypeError as error:
            self._link.failed(error)
            return "error", None, None
        self._link.worked()
        return "engine", result.text, result.usage

    async def _engine(self, context: Context, invoked: bool) -> Engine | None:
        if (engine := self._link.ready) is not None:
            return engine
        self._link.nudge(context)
        return await self._link.wait_ready(INVOKED_WAIT) if invoked else None

    def _supersede(self) -> None:
        running, self._running, self._asked = self._running, None, None
        if running is not None:
            running.cancel()

    # -- the document ------------------------------------------------------------------------------------------------

    def _on_edit(self, edit: Edit) -> None:
        self._window.on_edit(edit)
        self._shelf.on_edit(edit)
        if self._asked is not None:
            self._asked.on_edit(edit)
        self.last_cursor = edit.new_end
        self._holds_key = self._holds_key or holds_key(self._around(edit))

    def _around(self, edit: Edit) -> str:
        """The edited text with all that could make it a part of a key; the rest was looked at before."""
        text = self.document.text
        start = text.back(edit.start, NEIGHBOURHOOD)
        mark = " …" if start.column else ""  # `holds_key` takes the beginning for a line start
        return mark + text.slice(start, text.forward(edit.new_end, NEIGHBOURHOOD))

    def _context(self, cursor: Position) -> Context:
        return build_context(self.document, self._window, cursor, self._path)

    def _reason_not_to_ask(self, cursor: Position, invoked: bool) -> str | None:
        line = self.document.text.line(cursor.line)
        return reason_not_to_ask(
            settings=self._settings,
            scheme=self.document.scheme,
            language=self.document.language,
            before=line[: cursor.column],
            rest=line[cursor.column :],
            invoked=invoked,
        )

    def _trimmed(self, rest: str, cursor: Position) -> str:
        text = self.document.text
        after = text.slice(cursor, text.forward(cursor, _BELOW))
        before = text.line(cursor.line)[: cursor.column]
        around = Surroundings.of(before, plain(after), may_begin_below=self._may_begin_below)
        return trim(rest, around).replace("\n", text.eol_near(cursor.line))


_FIRST_WARM = 8_192  # code points; every prompt in the head of a file begins with it, wherever the cursor will be
