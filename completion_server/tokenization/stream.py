"""Ids to text while they arrive: half a character waits for its other half. Knows nothing of where a text ends."""

import codecs
from collections.abc import Iterable

from completion_server.tokenization.text import TextTokenizer


class StreamDecoder:
    """Decodes the tokens of one suggestion.

    A character of which only a part comes is never given out, and bytes that can be no UTF-8 are left out: a
    replacement character is nothing that somebody wants in their file. `skip` bytes at the beginning are dropped: those
    that token healing took off the prompt and the model gave back.
    """

    def __init__(self, tokenizer: TextTokenizer, *, skip: int = 0) -> None:
        self._tokenizer = tokenizer
        self._skip = skip
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")

    @property
    def waits(self) -> bool:
        """Whether part of a character has come."""
        return bool(self._decoder.getstate()[0])

    def feed(self, ids: Iterable[int]) -> str:
        """Text that `ids` complete; control tokens add nothing."""
        data = self._tokenizer.decode_bytes(ids)
        dropped = min(self._skip, len(data))
        self._skip -= dropped
        return self._decoder.decode(data[dropped:])
