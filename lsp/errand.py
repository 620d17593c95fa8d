"""When the engine was asked for an answer and had given it: stamps on this process's monotonic clock.

They are no use to any other process; what leaves this one are the durations between them (see `keystroke`).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Errand:
    """One request to the engine, as far as an answer needed it. Stamps are seconds of `time.monotonic`.

    `whole` False: the client was answered with the head of what the engine was still writing.
    """

    request: int  # its id on the connection to the engine
    received: float  # the request of the client that began it
    sent: float
    heard: float  # the engine's last word, or the one that made the head
    trimmed: float
    whole: bool
