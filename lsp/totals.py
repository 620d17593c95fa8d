"""Counts of events, for today. Knows numbers alone."""

from collections import Counter
from collections.abc import Callable
from datetime import date

from lsp.events import Event

_NAMES = {
    "shown": "shown",
    "accepted": "accepted",
    "partly-accepted": "partially_accepted",
    "typed-through": "typed_through",
    "dismissed": "dismissed",
    "replaced": "replaced",
    "looked-30s": "looked_30s",
    "kept-30s": "kept_30s",
    "looked-2min": "looked_2min",
    "kept-2min": "kept_2min",
}


class Totals:
    """A `Listener`. Begins anew at midnight; `today` is a clock."""

    def __init__(self, today: Callable[[], date] = date.today) -> None:
        self._today = today
        self._day = today()
        self._count: Counter[str] = Counter()
        self._characters: Counter[str] = Counter()

    def happened(self, event: Event) -> None:
        self._turn_page()
        self._count[_NAMES[event.kind]] += 1
        self._characters[_NAMES[event.kind]] += event.characters

    @property
    def acceptance(self) -> float | None:
        """Accepted ÷ shown; None while nothing was shown."""
        self._turn_page()
        shown = self._count["shown"]
        return round(self._count["accepted"] / shown, 4) if shown else None

    def figures(self) -> dict[str, int]:
        """Suggestions by what became of them, and characters under `…_characters`."""
        self._turn_page()
        counts = {name: self._count[name] for name in _NAMES.values()}
        return counts | {f"{name}_characters": self._characters[name] for name in _NAMES.values()}

    def _turn_page(self) -> None:
        if (day := self._today()) != self._day:
            self._day = day
            self._count.clear()
            self._characters.clear()
