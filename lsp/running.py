"""One request to the engine while it runs, and the one request of the client that waits for it.

Outlives a request of the client: a newer one takes over as long as what was typed since is the head of what the engine
has said so far. That is how somebody who types faster than the engine answers sees something at all. Knows nothing of
LSP or of what is shown.
"""

import asyncio
import time
from collections.abc import Callable

from completion_server.protocol import Context, Delta, TokenScore
from lsp.answer import Answer
from lsp.context import plain
from lsp.errand import Errand
from lsp.growth import Growth
from lsp.suggestion import Suggestion
from lsp.text import Position, Text


class Run:
    """`suggestion` has no text before the end; `received` is when the client's request came, in `time.monotonic`.
    `style` brings what the engine says into the document's style, line by line.
    """

    def __init__(
        self, suggestion: Suggestion, context: Context, style: Callable[[str], str], *, received: float
    ) -> None:
        self.suggestion = suggestion
        self.context = context
        self.received = received
        self.cursor = suggestion.anchor  # of the newest request or edit
        self.task: asyncio.Task[None] | None = None
        self.raw = ""  # what the engine has said so far
        self.said = ""  # the same in the document's style
        self._style = style
        self.scores: tuple[TokenScore, ...] = ()
        self.growth: Growth | None = None  # once a client has its head
        self._waiting: asyncio.Future[Answer] | None = None
        self._sent = 0.0
        self._request = 0
        self._heard = 0.0

    @property
    def invoked(self) -> bool:
        return self.suggestion.invoked

    @property
    def awaited(self) -> bool:
        """Whether a request of the client still waits for its reply."""
        return self._waiting is not None and not self._waiting.done()

    async def wait(self) -> Answer:
        """The answer for a request that came just now. The one before it must have been answered."""
        self._waiting = asyncio.get_running_loop().create_future()
        return await self._waiting

    def answer(self, answer: Answer) -> None:
        """Give the request that waits, if any, its reply."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(answer)

    def fail(self, error: BaseException) -> None:
        """Something unforeseen happened: the request that waits fails with it."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error)

    def asked(self) -> None:
        """The question goes to the engine now."""
        self._sent = time.monotonic()

    def heard(self, request: int) -> None:
        """The engine has said something just now, of its request with this id."""
        self._request, self._heard = request, time.monotonic()

    def errand(self, *, whole: bool) -> Errand:
        """What it took up to an answer of just now."""
        return Errand(self._request, self.received, self._sent, self._heard, time.monotonic(), whole)

    def take(self, delta: Delta) -> None:
        self.heard(delta.id)
        self.raw += plain(delta.text)
        self.said = self._style(self.raw)
        self.scores = delta.scores

    def answers(self, document: Text, cursor: Position) -> bool:
        """Whether a request at `cursor` had better wait for this than ask anew; it is the newest one from then on."""
        typed = self.suggestion.typed(document, cursor)
        if typed is None or (typed and not (self.said.startswith(typed) and len(self.said) > len(typed))):
            return False
        self.cursor = cursor
        return True

    def place(self, document: Text) -> Position | None:
        """Where the rest of what is said belongs now: at the cursor if it can be there; None if nothing holds."""
        for place in (self.cursor, *self.suggestion.places(document)):
            typed = self.suggestion.typed(document, place)
            if typed is not None and (self.said.startswith(typed) or typed.startswith(self.said)):
                return place
        return None

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()
