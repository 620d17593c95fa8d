"""Encodes a text that changes a little at a time: only what lies behind the first difference is encoded again.

The result always equals the full encoding. Knows nothing of documents or prompts.
"""

from bisect import bisect_left

from completion_server.prefix import common_prefix
from completion_server.tokenization.text import TextTokenizer


class IncrementalEncoder:
    """Keeps the last text with its ids. One per text that grows; not thread-safe."""

    def __init__(self, tokenizer: TextTokenizer, *, continued: bool = False) -> None:
        self._tokenizer = tokenizer
        self._continued = continued
        self._text = ""
        self._ids: list[int] = []
        self._starts: list[int] = []  # code point offset of each token

    def encode(self, text: str) -> list[int]:
        """The same ids as `tokenizer.encode(text, continued=…)`. The list is the caller's."""
        same = common_prefix(self._text, text)
        if same < len(text) or same < len(self._text):
            self._encode_from(self._tokenizer.boundary.last(text, same), text)
        return self._ids.copy()

    def _encode_from(self, cut: int, text: str) -> None:
        keep = bisect_left(self._starts, cut)
        ids, starts = self._tokenizer.encode_with_starts(text[cut:], continued=self._continued or cut > 0)
        self._ids[keep:] = ids
        self._starts[keep:] = [start + cut for start in starts] if cut else starts
        self._text = text
