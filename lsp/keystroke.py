"""One key that was answered: from stamps of this process, and what the client measured of its own part, to durations.

Pure. Stamps are seconds of `time.monotonic`; no stamp of another process is ever compared with one (see
`protocol.FrontTimes`). Knows no text.
"""

from dataclasses import dataclass
from typing import Any

from completion_server.protocol import FrontTimes, KeyReport, Usage
from lsp.answer import Answer
from lsp.errand import Errand

MOST_MS = 60_000.0  # what a client says of more is no time of a key
_NAME = 64  # code points


@dataclass(frozen=True, slots=True)
class ClientTimes:
    """What a client measured, in milliseconds; 0 for what it does not say."""

    key_ms: float = 0.0  # from the key until it asked
    reply_ms: float = 0.0  # from there until it had the reply
    paint_ms: float = 0.0  # from there until the suggestion was on the screen

    @classmethod
    def read(cls, key: Any, reply: Any, paint: Any) -> "ClientTimes | None":
        """From what a client sent, None for what was left out. None where anything of it is no such time."""
        found = [0.0 if value is None else value for value in (key, reply, paint)]
        if not all(type(value) in (int, float) and 0 <= value <= MOST_MS for value in found):
            return None
        return cls(*map(float, found))


@dataclass(frozen=True, slots=True)
class Keystroke:
    """A request of the client that came at `received` and got an answer at `answered`."""

    outcome: str
    language: str
    characters: int
    received: float
    answered: float
    usage: Usage | None = None
    errand: Errand | None = None

    @classmethod
    def of(cls, answer: Answer, language: str, received: float, answered: float) -> "Keystroke":
        return cls(answer.outcome, language, len(answer.text), received, answered, answer.usage, answer.errand)

    def report(self, client: ClientTimes | None = None) -> KeyReport:
        """For the engine. Without `client` it begins with the request's arrival and ends with the answer."""
        client = client or ClientTimes()
        served = _ms(self.received, self.answered)
        way = max(0.0, client.reply_ms - served) if client.reply_ms else 0.0
        # The head of what still grows was answered as soon as it was there.
        growing = self.outcome == "growing"
        first = self.usage.first_tokens_ms if self.usage is not None else served if growing else 0.0
        return KeyReport(
            "engine" if growing else self.outcome,
            self.language[:_NAME],
            self.characters,
            client.key_ms + way + served,
            first,
            self.errand.request if self.errand is not None else 0,
            self._times(client, way),
        )

    def _times(self, client: ClientTimes, way: float) -> FrontTimes:
        """Where a newer key took over the work of an older one, they begin with the older one's request: of the newer
        one's way there only the end belongs to them.
        """
        errand = self.errand
        began = self.received if errand is None else min(errand.received, self.received)
        key, way = (client.key_ms, way) if began == self.received else (0.0, 0.0)
        shown = key + way + _ms(began, self.answered) + client.paint_ms if self.characters else 0.0
        if errand is None:
            sent = engine = trimmed = 0.0
            returned = _ms(began, self.answered)
        else:
            sent = _ms(began, errand.sent)
            engine = _ms(errand.sent, errand.heard) if errand.whole else 0.0
            trimmed = _ms(max(errand.heard, self.received), errand.trimmed)  # it may have been heard for an older key
            returned = _ms(errand.trimmed, self.answered)
        return FrontTimes(key, way, sent, engine, trimmed, returned, client.paint_ms, shown)


def _ms(start: float, end: float) -> float:
    return 1e3 * max(0.0, end - start)
