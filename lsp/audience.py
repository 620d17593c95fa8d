"""Hears from the client what people do with suggestions, and tells listeners in numbers.

Knows every suggestion of late that a client was sent, by its id, whichever answer it came with. Keeps their text in
memory because lengths and what is left of them are counted in it; no listener sees any.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from lsp.answer import Ghost
from lsp.context import plain
from lsp.document import Document
from lsp.events import Event, Fate, Listener
from lsp.persistence import Persistence
from lsp.positions import column_of
from lsp.text import Edit, Position

_MOST = 256  # suggestions that are remembered


@dataclass(slots=True)
class _Offer:
    fate: Fate
    document: Document
    anchor: Position
    whole: str  # from the anchor on
    insert: str  # what the client has as the item's text
    before: int  # code points of `whole` in front of it


class Audience:
    """`clock` gives seconds; `enabled` False hears nothing."""

    def __init__(self, listeners: Iterable[Listener], clock: Callable[[], float] = time.monotonic) -> None:
        self.enabled = True
        self._listeners = tuple(listeners)
        self._clock = clock
        self._offers: OrderedDict[str, _Offer] = OrderedDict()
        self._shown: dict[str, str] = {}  # document key → id
        self._persistence = Persistence()
        self._timer: asyncio.TimerHandle | None = None

    # -- what the server sends -----------------------------------------------------------------------------------------

    def offered(self, document: Document, ghost: Ghost, insert: str) -> None:
        """A client is sent `ghost` as an item with the text `insert`; perhaps not for the first time."""
        offer = self._offers.get(ghost.id)
        fate = offer.fate if offer is not None else Fate(ghost.id, document.language)
        whole = ghost.whole
        fate.length = max(fate.length, len(whole))
        offer = _Offer(fate, document, ghost.anchor, whole, insert, len(whole) - len(plain(insert)))
        self._offers[ghost.id] = offer
        self._offers.move_to_end(ghost.id)
        if len(self._offers) > _MOST:
            _, oldest = self._offers.popitem(last=False)
            self._tell(oldest.fate.end(self._clock()))

    def grew(self, id: str, text: str) -> None:  # noqa: A002
        """A client is sent more of it."""
        if (offer := self._offers.get(id)) is not None:
            offer.whole += plain(text)
            offer.insert += text
            offer.fate.length = max(offer.fate.length, len(offer.whole))

    # -- what the client tells -----------------------------------------------------------------------------------------

    def shown(self, id: str | None) -> Document | None:  # noqa: A002
        """It is painted. Another one that was shown in the same document is not any more. Returns the document."""
        offer = self._heard(id)
        if offer is None:
            return None
        last = self._shown.get(offer.document.key)
        if last is not None and last != id and last in self._offers:
            self._tell(self._offers[last].fate.end(self._clock(), "replaced"))
        self._shown[offer.document.key] = offer.fate.id
        offer.fate.show(self._clock())
        return offer.document

    def partly_accepted(self, id: str | None, units: int) -> None:  # noqa: A002
        """Taken up to `units` UTF-16 code units of the item's text."""
        if (offer := self._heard(id)) is not None:
            reached = offer.before + len(plain(offer.insert[: column_of(offer.insert, units, "utf-16")]))
            self._tell(offer.fate.take(self._clock(), reached))
            self._watch(offer)

    def accepted(self, id: str | None) -> None:  # noqa: A002
        if (offer := self._heard(id)) is not None and not offer.fate.over:
            self._tell(offer.fate.accept(self._clock()))
            self._watch(offer)

    def typed_through(self, id: str | None, units: int) -> None:  # noqa: A002
        """So many UTF-16 code units of it were typed by hand by now."""
        if (offer := self._heard(id)) is not None:
            typed = column_of(offer.whole, units, "utf-16")
            self._tell(offer.fate.type(self._clock(), typed))

    def gone(self, id: str | None, how: Literal["dismissed", "replaced", "hidden"]) -> None:  # noqa: A002
        if (offer := self._heard(id)) is not None:
            now = self._clock()
            self._tell(offer.fate.hide(now) if how == "hidden" else offer.fate.end(now, how))

    # -- documents and time --------------------------------------------------------------------------------------------

    def on_edit(self, document: Document, edit: Edit) -> None:
        self._persistence.on_edit(document, edit)

    def closed(self, document: Document) -> None:
        self._persistence.forget(document)
        self._shown.pop(document.key, None)
        now = self._clock()
        for id_ in [id_ for id_, offer in self._offers.items() if offer.document is document]:
            self._tell(self._offers.pop(id_).fate.end(now))

    def settle(self) -> None:
        """Tell what time alone has brought about."""
        now = self._clock()
        for offer in self._offers.values():
            self._tell(offer.fate.settle(now))
        for id_, age, characters in self._persistence.due(now):
            if (known := self._offers.get(id_)) is not None:
                self._tell(known.fate.kept(age, characters))
        self._set_timer(now)

    def leave(self) -> None:
        """The client is leaving: whatever was shown does not come back."""
        now = self._clock()
        while self._offers:
            _, offer = self._offers.popitem(last=False)
            self._tell(offer.fate.end(now))
        self.stop()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # -- private -------------------------------------------------------------------------------------------------------

    def _heard(self, id: str | None) -> _Offer | None:  # noqa: A002
        return self._offers.get(id) if self.enabled and id is not None else None

    def _watch(self, offer: _Offer) -> None:
        fate, now = offer.fate, self._clock()
        head, text = offer.whole[: fate.reached - fate.taken], offer.whole[fate.reached - fate.taken : fate.reached]
        first, *others = head.split("\n")
        line = offer.anchor.line + len(others)
        start = Position(line, len(others[-1]) if others else offer.anchor.column + len(first))
        self._persistence.watch(fate.id, offer.document, start, text, now)
        self._set_timer(now)

    def _set_timer(self, now: float) -> None:
        self.stop()
        due = self._persistence.next_due()
        if due is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, due - now), self.settle)

    def _tell(self, events: Iterable[Event]) -> None:
        for event in events:
            for listener in self._listeners:
                listener.happened(event)
