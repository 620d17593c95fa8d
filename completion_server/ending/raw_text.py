"""Text as the model writes it, with no rule about where a suggestion ends."""

from completion_server.protocol import MAX_NEW_TOKENS, FinishReason


class RawText:
    """Takes text as `Ending` does; the first `max_lines` lines of it stand as they are: for measuring a model."""

    def __init__(self, max_lines: int = MAX_NEW_TOKENS) -> None:
        self.finished: FinishReason | None = None
        self._pieces: list[str] = []
        self._lines_left = max_lines

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def feed(self, text: str) -> str:
        lines = [] if self.finished else text.split("\n")
        stands = "\n".join(lines[: self._lines_left])
        self._pieces.append(stands)
        if len(lines) > self._lines_left:
            self.finished = "end-of-line"
        self._lines_left -= max(0, len(lines) - 1)
        return stands

    def finish(self, reason: FinishReason) -> str:
        self.finished = self.finished or reason
        return ""
