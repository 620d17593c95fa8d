"""When a person takes what is suggested, and how much of it: a pure function, stated in every report.

A person who has seen a suggestion for a while compares it with what they were about to write. Nobody here is tempted:
only text that the author wrote is taken. That is the least that a suggestion is worth, not a forecast of habits.
"""

import re
from dataclasses import dataclass

_WORD = re.compile(r"[^\w\n]*\w+|[^\w\n]+")


@dataclass(frozen=True, slots=True)
class Policy:
    """`after_ms`: what a suggestion must have been seen for, when the next key is due, to be compared.

    Where its first line is what comes next (to the end of the author's line, and at least `least` code points of it),
    it is taken as far as its whole lines agree; where only its head agrees, one word of at least `least_word`; else
    the person types on. An accept takes the place of the key that was due.
    """

    after_ms: float = 400.0
    least: int = 3
    least_word: int = 4

    def taken(self, suggestion: str, ahead: str, seen_ms: float) -> str:
        """The head of `suggestion` that is accepted; empty: typed on. `ahead` is what the author writes next."""
        if seen_ms < self.after_ms:
            return ""
        lines = _agreeing_lines(suggestion, ahead)
        if len(lines) >= self.least:
            return lines
        word = _WORD.match(suggestion)
        if word is None or len(word[0]) < self.least_word or not _whole_word(word[0], ahead):
            return ""
        return word[0]


def _agreeing_lines(suggestion: str, ahead: str) -> str:
    """The lines at the head of `suggestion` that are whole lines of `ahead`, without the last line's break."""
    found = 0
    ends = [match.start() for match in re.finditer(r"\n|\Z", suggestion)]
    for end in ends:
        if not (ahead.startswith(suggestion[:end]) and ahead[end : end + 1] in ("\n", "")):
            break
        found = end
    return suggestion[:found]


def _whole_word(word: str, ahead: str) -> bool:
    """`ahead` begins with `word`, and no word of it goes on behind that."""
    rest = ahead[len(word) : len(word) + 1]
    return ahead.startswith(word) and not (word[-1].isalnum() and (rest.isalnum() or rest == "_"))
