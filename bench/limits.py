"""The limits of goodput: how long a person may wait for a suggestion. A value; knows nothing of how it is met."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Milliseconds from the key: to the first tokens, and to the whole suggestion."""

    first_ms: float = 80.0
    whole_ms: float = 150.0

    def met(self, first_ms: float, whole_ms: float) -> bool:
        return first_ms <= self.first_ms and whole_ms <= self.whole_ms
