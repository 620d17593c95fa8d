"""Names that clients choose: languages, editors, outcomes. What is no name, or one too many, is counted as `other`.

A label of a metric or a group of `foretype stats` costs memory and a reader's time for each value it has, and a client
can make them up. One that mistakes a text or a path for a name must not get it kept either.
"""

import re
import threading
from dataclasses import replace
from typing import Any, Final, TypeVar

from completion_server.numbers.records import Record
from completion_server.protocol import KeyReport

OTHER: Final = "other"
MOST: Final = 64
"""Names of a kind that are kept apart, while an engine lives: those that came first."""

_WORD = re.compile(r"[\w+#.-]{0,64}")
_TITLE = re.compile(r"[\w+#.,()& -]{0,64}")  # "Visual Studio Code - Insiders", but no path
_KINDS = {"client": _TITLE, "editor": _TITLE, "language": _WORD, "outcome": _WORD}


_Named = TypeVar("_Named", bound=Record | KeyReport)


class Names:
    """Remembers which names there were; may be asked from any thread."""

    def __init__(self) -> None:
        self._known: dict[str, set[str]] = {kind: {"", OTHER} for kind in _KINDS}
        self._lock = threading.Lock()

    def tidy(self, record: _Named) -> _Named:
        """`record` with `other` in place of each name that is not to be kept."""
        changes: dict[str, Any] = {
            kind: OTHER
            for kind in _KINDS
            if (name := getattr(record, kind, None)) is not None and not self._keeps(kind, name)
        }
        return replace(record, **changes) if changes else record

    def language(self, name: str) -> str:
        """`name`, or `other`."""
        return name if self._keeps("language", name) else OTHER

    def _keeps(self, kind: str, name: str) -> bool:
        known = self._known[kind]
        if name in known:
            return True
        if _KINDS[kind].fullmatch(name) is None:
            return False
        with self._lock:
            if len(known) < MOST + 2:
                known.add(name)
            return name in known
