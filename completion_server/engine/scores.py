"""How sure the target was of each part of a suggestion. Knows nothing of where it ends or what is made of it."""

from completion_server.protocol import TokenScore


class Scores:
    """Collects the log-probabilities of tokens with the text that each of them completed."""

    def __init__(self) -> None:
        self._scores: list[TokenScore] = []
        self._length = 0  # code points
        self._waiting = 0.0  # of tokens whose character is not whole yet

    def add(self, text: str, logprob: float, *, waits: bool) -> None:
        """A token was committed that completes `text`; `waits`: it ends within a character.

        One that gives no text and leaves nothing waiting does not count: token healing had it repeat what stands before
        the cursor.
        """
        if text:
            self._length += len(text)
            self._scores.append(TokenScore(self._length, self._waiting + logprob))
            self._waiting = 0.0
        elif waits:
            self._waiting += logprob

    def within(self, length: int) -> tuple[TokenScore, ...]:
        """The scores of the first `length` code points; a token that reaches over their end counts."""
        scores: list[TokenScore] = []
        for score in self._scores:
            if scores and scores[-1].end >= length:
                break
            scores.append(TokenScore(min(score.end, length), score.logprob))
        return tuple(scores) if length else ()
