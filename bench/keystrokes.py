"""Types sessions through a language server and writes down what each key brought. Every key waits for its answer."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.typist import Session
from lsp.headless import HeadlessEditor


@dataclass(frozen=True, slots=True)
class Keystroke:
    """What one key brought. `trace` holds the fields of `foretype/trace`."""

    key: str
    text: str  # of the suggestion; "" if none was shown
    key_ms: float  # from the key to the answer
    trace: Mapping[str, Any]

    @property
    def outcome(self) -> str:
        return str(self.trace.get("outcome", "error"))

    @property
    def first_ms(self) -> float:
        """From the key to the first tokens: what was spent on the way to the engine and back, and the engine's part.

        For a reply that grew, which was sent with its first line, at most that.
        """
        if self.outcome == "growing":
            return self.key_ms
        return float(self.key_ms - self.trace["e2e_ms"] + self.trace["ttft_ms"])

    @property
    def by_engine(self) -> bool:
        """The engine computed an answer for this key, be it that there is nothing to show."""
        grew = self.outcome == "growing" and bool(self.trace["asked_engine"])
        return grew or self.outcome in ("engine", "empty", "unsure")

    @property
    def failed(self) -> bool:
        return self.outcome in ("error", "unavailable", "loading")


async def type_sessions(
    editor: HeadlessEditor, sessions: Sequence[Session], rest: Callable[[], Awaitable[None]]
) -> AsyncIterator[Keystroke]:
    """Each session in a document of its own, opened before its first key and closed behind its last.

    `rest` is awaited after a document was opened and the cursor has gone to its place: people look before they type,
    and the text there is read meanwhile.
    """
    for number, session in enumerate(sessions):
        name = f"{session.path.stem}_{number}{session.path.suffix}"
        buffer = editor.open(session.path, session.before + session.after, name=name)
        buffer.move(*position(session.before))
        buffer.look()
        await rest()
        for key in session.keys:
            buffer.insert(key)
            suggestion = await buffer.suggest()
            yield Keystroke(key, suggestion.text, suggestion.key_ms, suggestion.trace)
        buffer.close()


def position(before: str) -> tuple[int, int]:
    """Line and column, from 0, behind `before`."""
    return before.count("\n"), len(before) - before.rfind("\n") - 1
