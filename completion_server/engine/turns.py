"""Two threads that compute in turn: passes of requests, and passes that are measured while another pair is loaded.

On the same cores both would take longer, and the drafting policy would go by costs that nobody ever has again.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

PATIENCE_S: Final = 0.1
"""How long requests that follow one upon another may keep the measured pass waiting."""


class Turns:
    """Requests go first; after `PATIENCE_S` one measured pass comes between two of theirs."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = self._first_waits = self._due = False

    @contextmanager
    def first(self) -> Iterator[None]:
        """For a step of the engine: waits for one measured pass at most."""
        with self._changed:
            self._first_waits = True
            self._changed.wait_for(lambda: not self._taken and not self._due)
            self._first_waits, self._taken = False, True
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def second(self) -> Iterator[None]:
        """For one measured pass."""
        with self._changed:
            if not self._changed.wait_for(lambda: not self._taken and not self._first_waits, PATIENCE_S):
                self._due = True
                self._changed.wait_for(lambda: not self._taken)
            self._due, self._taken = False, True
        try:
            yield
        finally:
            self._leave()

    def _leave(self) -> None:
        with self._changed:
            self._taken = False
            self._changed.notify_all()
