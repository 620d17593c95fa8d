"""Where a text can be cut so that the part behind the cut keeps its tokens.

A tokenizer first splits text into chunks (words, runs of spaces, line breaks) and then works inside each chunk. At a
safe boundary a chunk ends whatever comes before it, so the text from there on, encoded alone, gives the tail of the
whole encoding. Which line ends are such boundaries depends on the tokenizer: in Qwen's, a line break ends its chunk
unless the next line is blank; in GPT-2's, line break and indentation are one chunk, but a chunk ends before the line
break. So the rules are tried out. Knows nothing of tokenizers but a function that encodes.
"""

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

EncodeBatch = Callable[[Sequence[str], bool], list[list[int]]]
"""Ids of each text; the flag says that other text goes before them (no space is put in front)."""

# Each matches the one character before the cut; what it looks ahead to must be in the text for the cut to be safe.
_LINE_START = r"\n(?=[ \t]*[^\s])"
_BARE_LINE_START = r"\n(?=\S)"
_LINE_END = r"\S(?=\r?\n)"
_WORD_END = r"[^\W_](?=\r?\n)"

# Texts to try: two of the first, a line break, two of the last. Runs of spaces are as long as indentation is.
_BEFORE = ("a", "7", "_", ")", " ", "\t", "\n", "漢")
_BREAKS = ("\n", "\r\n")
_BEHIND = ("a", "7", ")", " ", "   ", "       ", "\t", "\n")


@dataclass(frozen=True, slots=True)
class Boundary:
    """The rules that hold for one tokenizer."""

    pattern: re.Pattern[str] | None  # None: cut nowhere
    line_starts: bool  # the start of an indented line that is not blank is safe

    @classmethod
    def probe(cls, encode: EncodeBatch) -> "Boundary":
        """Keep each rule that is exact on all short texts around a line end."""
        kept = [rule for rule in (_LINE_START, _LINE_END) if _is_exact(rule, encode)]
        if _LINE_START not in kept and _is_exact(_BARE_LINE_START, encode):
            kept.append(_BARE_LINE_START)
        if _LINE_END not in kept and _is_exact(_WORD_END, encode):
            kept.append(_WORD_END)
        return cls(re.compile("|".join(kept)) if kept else None, _LINE_START in kept)

    def last(self, text: str, end: int) -> int:
        """The last boundary that `text[:end]` decides by itself, 0 if there is none. Looks back as far as needed."""
        if self.pattern is None:
            return 0
        reach = 256
        while True:
            begin = max(0, end - reach)
            found = 0
            for match in self.pattern.finditer(text, begin, end):
                found = match.end()
            if found or begin == 0:
                return found
            reach *= 8


def _is_exact(rule: str, encode: EncodeBatch) -> bool:
    pattern = re.compile(rule)
    texts = ["".join(("x", *parts, "y")) for parts in itertools.product(_BEFORE, _BEFORE, _BREAKS, _BEHIND, _BEHIND)]
    cuts = [(text, match.end()) for text in texts for match in pattern.finditer(text)]
    whole = dict(zip(texts, encode(texts, False), strict=True))
    tails = encode([text[cut:] for text, cut in cuts], True)
    return all(_ends_with(whole[text], tail) for (text, _), tail in zip(cuts, tails, strict=True))


def _ends_with(ids: list[int], tail: list[int]) -> bool:
    return ids[len(ids) - len(tail) :] == tail
