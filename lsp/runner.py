"""What the engine works on for one document: at most one `Run`, from its start to its answer or its end.

Decides when a request may take over the work of the one before it, when a client gets the head of a suggestion, and
where the rest of it belongs while the document is edited. Knows nothing of settings that say whether to ask at all.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from completion_server.protocol import Alternative, Context, Delta, Result
from lsp.answer import Answer, Ghost, Outcome
from lsp.asking import Reply, ask
from lsp.context import plain
from lsp.document import Document
from lsp.engine_link import EngineLink
from lsp.growth import Growth
from lsp.presenter import Presenter
from lsp.running import Run
from lsp.settings import Settings
from lsp.suggestion import Shelf, Suggestion
from lsp.text import Edit, Position

logger = logging.getLogger(__name__)

LINGER = 0.15  # seconds that work goes on whose request the client cancelled, perhaps because of the next key
PATIENCE = 0.1  # seconds after which a client gets the words of a first line that is not whole: the next key is near

Grow = Callable[[str, str, bool], None]
"""Sends a client text that goes behind what it has of the suggestion with an id, and whether it is the last."""


class Runner:
    """For one document. What the engine said is put on `shelf`; without `grow` every answer is whole."""

    def __init__(
        self,
        document: Document,
        shelf: Shelf,
        presenter: Presenter,
        link: EngineLink,
        *,
        new_id: Callable[[], str],
        grow: Grow | None,
    ) -> None:
        self.settings = Settings()
        self._document = document
        self._shelf = shelf
        self._presenter = presenter
        self._link = link
        self._new_id = new_id
        self._grow = grow
        self._run: Run | None = None

    def supersede(self) -> None:
        """A newer request is there: the one that waits is answered with nothing, its work goes on."""
        if (run := self._run) is not None:
            run.answer(self._nothing(run, "superseded"))

    async def answer(
        self, cursor: Position, context: Callable[[], Context], *, received: float, invoked: bool
    ) -> Answer:
        """The engine's answer for `cursor`, out of the work under way where that agrees with what was typed since.

        `supersede` was called before; the request came at `received`, of `time.monotonic`. Raises
        `asyncio.CancelledError` where the caller is cancelled, else nothing that is foreseen.
        """
        run = self._run
        if run is None or (invoked and not run.invoked) or not run.answers(self._document.text, cursor):
            run = self._begin(cursor, context(), received, invoked)
        elif (head := self._head(run)) is not None:
            return head
        try:
            return await run.wait()
        except asyncio.CancelledError:
            self._left(run)
            raise

    def drop(self) -> None:
        """Nobody wants what the engine is working on."""
        run, self._run = self._run, None
        if run is not None:
            run.answer(self._nothing(run, "superseded"))
            if run.growth is not None:
                run.growth.end()
            run.cancel()

    def on_edit(self, edit: Edit) -> None:
        """What a client has the head of goes on as long as the person types it; what it waits for, to its end."""
        run = self._run
        if run is not None:
            run.suggestion.on_edit(edit)
            run.cursor = edit.new_end
            if run.growth is not None and not run.awaited and run.place(self._document.text) is None:
                self.drop()

    # -- the work ------------------------------------------------------------------------------------------------------

    def _begin(self, cursor: Position, context: Context, received: float, invoked: bool) -> Run:
        self.drop()
        suggestion = Suggestion(cursor, id=self._new_id())
        suggestion.invoked = invoked
        style = partial(self._presenter.styled, context=context)
        run = self._run = Run(suggestion, context, style, received=received)
        run.task = asyncio.create_task(self._ask(run))
        return run

    async def _ask(self, run: Run) -> None:
        def heard(delta: Delta) -> None:
            self._heard(run, delta)

        try:
            extent = self._presenter.extent(run.context)
            reply = await ask(
                self._link, run.context, self.settings, heard, on_sent=run.asked, extent=extent, invoked=run.invoked
            )
            if run is self._run:
                self._finish(run, reply)
        except Exception as error:
            logger.error("a request failed unforeseen: %s", type(error).__name__)
            run.fail(error)
            if run.growth is not None:
                run.growth.end()
        finally:
            if run is self._run:
                self._run = None

    def _heard(self, run: Run, delta: Delta) -> None:
        run.take(delta)
        if run is not self._run or ("\n" not in delta.text and not _is_slow(run)):
            return
        if run.awaited:
            if (head := self._head(run)) is not None:
                run.answer(head)
        elif run.growth is not None and (found := self._stands(run)) is not None:
            run.growth.more(found[0].whole)

    def _left(self, run: Run) -> None:
        """The client has cancelled the request that waited. Often the next one is on its way."""
        if run is self._run and not run.awaited and run.growth is None:
            if run.said and run.place(self._document.text) is not None:
                asyncio.get_running_loop().call_later(LINGER, self._drop_unwanted, run)
            else:
                self.drop()

    def _drop_unwanted(self, run: Run) -> None:
        if run is self._run and not run.awaited and run.growth is None:
            self.drop()

    # -- the head of a suggestion, and how it grows --------------------------------------------------------------------

    def _head(self, run: Run) -> Answer | None:
        """The answer that there is already, for a client that takes the rest later."""
        if not self.settings.stream or self._grow is None or run.invoked:
            return None
        found = self._stands(run)
        if found is None:
            return None
        ghost, place = found
        if run.growth is not None:
            run.growth.give_way()
        run.growth = self._growth(run, ghost.whole)
        errand = run.errand(whole=False)
        return Answer("growing", self._document.version, place, (ghost,), growth=run.growth, errand=errand)

    def _stands(self, run: Run) -> tuple[Ghost, Position] | None:
        """What of a suggestion that is being written may be shown by now, and where."""
        place = run.place(self._document.text)
        if place is None:
            return None
        head = self._presenter.head(run.raw, run.context, words=_is_slow(run))
        so_far = run.suggestion.sibling(head, run.suggestion.id)
        so_far.scores = self._presenter.scores_of(run.raw, run.scores, run.context)
        so_far.offered = run.suggestion.offered
        ghost = self._presenter.ghost(so_far, place)
        if ghost is None or ghost.replace:
            return None
        run.suggestion.offered = True
        return ghost, place

    def _growth(self, run: Run, given: str) -> Growth:
        own_id, eol, grow = run.suggestion.id, self._presenter.eol(run.suggestion.anchor), self._grow

        def send(text: str, done: bool) -> None:
            if grow is not None:
                grow(own_id, text.replace("\n", eol), done)

        return Growth(given, send)

    # -- the end -------------------------------------------------------------------------------------------------------

    def _finish(self, run: Run, reply: Reply) -> None:
        if reply.result is not None:
            answer = self._deliver(run, reply.result)
        else:
            kept = self._shelf.holding(self._document.text, run.cursor)
            ghosts = self._presenter.ghosts(kept, run.cursor, invoked=run.invoked)
            answer = replace(self._nothing(run, "from-cache" if ghosts else reply.outcome), ghosts=ghosts)
        if run.growth is None:
            run.answer(answer)
        elif run.awaited:  # a second request for what grows: its reply is whole, but an end was promised
            run.growth.give_way()
            growth = self._growth(run, "")
            growth.end(usage=answer.usage)
            run.answer(replace(answer, growth=growth))
        else:
            ghost = next((ghost for ghost in answer.ghosts if ghost.id == run.suggestion.id), None)
            run.growth.end(ghost.whole if ghost else None, answer.usage)

    def _deliver(self, run: Run, result: Result) -> Answer:
        """The document may have moved on: give what still holds where the cursor is now."""
        run.heard(result.id)
        own = run.suggestion
        suggestions = [own, *(own.sibling("", self._new_id()) for _ in result.alternatives)]
        answers: tuple[Result | Alternative, ...] = (result, *result.alternatives)
        for suggestion, found in zip(suggestions, answers, strict=True):
            self._presenter.fill(suggestion, plain(found.text), found.scores, run.context)
        run.said = own.text or ""
        live = self._document
        place = None if live.closed else run.place(live.text)
        if place is None:
            self._keep(suggestions)
            return replace(self._nothing(run, "stale"), usage=result.usage, errand=run.errand(whole=True))
        if run.invoked:  # what is shown stays the first of all
            suggestions = [*[kept for kept in self._shelf.holding(live.text, place) if kept.offered][:1], *suggestions]
        self._keep(suggestions)
        ghosts = self._presenter.ghosts(suggestions, place, invoked=run.invoked)
        outcome: Outcome = "engine"
        if not ghosts:
            outcome = "empty" if self._presenter.ghost(own, place, invoked=True) is None else "unsure"
        errand = run.errand(whole=True)
        return Answer(outcome, live.version, place, ghosts, result.usage, errand=errand)

    def _keep(self, suggestions: Sequence[Suggestion]) -> None:
        for suggestion in reversed(suggestions):
            if suggestion.alive:
                self._shelf.put(suggestion)

    def _nothing(self, run: Run, outcome: Outcome) -> Answer:
        return Answer(outcome, run.context.version, run.cursor)


def _is_slow(run: Run) -> bool:
    return time.monotonic() - run.received > PATIENCE
