"""Which requests of one client still wait for their last reply.

Every request gets exactly one: whoever wants to send a reply asks here first, and what comes twice or too late is not
sent. Pure book-keeping over integers; knows nothing of messages and sockets.
"""

from typing import Final

MAX_OPEN: Final = 256
"""Requests of one client that may be open at once. An editor has one or two; more is a runaway client."""


class Ledger:
    """The ids of the open requests of one connection."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def __contains__(self, request: int) -> bool:
        return request in self._open

    @property
    def full(self) -> bool:
        return len(self._open) >= MAX_OPEN

    def open(self, request: int) -> bool:
        """Enter a new request. False if one with this id is open already, which then stays as it is."""
        if request in self._open:
            return False
        self._open.add(request)
        return True

    def settle(self, request: int) -> bool:
        """True exactly once for an open request: now its last reply may be sent."""
        if request not in self._open:
            return False
        self._open.remove(request)
        return True

    def open_requests(self) -> tuple[int, ...]:
        return tuple(sorted(self._open))
