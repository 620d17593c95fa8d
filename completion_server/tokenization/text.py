"""A tokenizer for user text, which can never become a control token.

The flags that promise this do not keep it: with Qwen's tokenizer `add_special_tokens=False`,
`split_special_tokens=True` and `encode_special_tokens=True` all still turn the text `<|fim_middle|>` into the control
token. So user text is encoded by a copy of the tokenizer whose list of added tokens is empty; text without control
tokens gets the same ids from both. Knows nothing of prompts; how text is cut for re-encoding is `incremental`'s.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from tokenizers import Tokenizer

from completion_server.errors import UnsupportedModel
from completion_server.tokenization.boundary import Boundary

# Gemma's vocabularies list these as added tokens although they are ordinary text.
_HTML_TAG = re.compile(
    r"</?(a|b|blockquote|br|caption|center|cite|code|dd|del|dl|dt|em|h[1-6]|hr|i|img|ins|kbd|li|ol|p|pre|q|s|samp|strong"
    r"|sub|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var)>"
)
_SPACE_MARK = "▁"


class TextTokenizer:
    """Encodes user text and gives the bytes of each token.

    `backend` is the fast tokenizer as loaded; it is copied, not changed. `special_ids` are control tokens beyond the
    added ones, `end_ids` those that end a text (the first is also the start of an empty prompt).
    Raises `UnsupportedModel` where the vocabulary is neither byte-level nor one with byte fallback.
    """

    def __init__(self, backend: Tokenizer, *, special_ids: Iterable[int] = (), end_ids: Sequence[int] = ()) -> None:
        spec = json.loads(backend.to_str())
        added = backend.get_added_tokens_decoder()
        self._added = {token.content: index for index, token in added.items()}
        text_like = {
            i for i, t in added.items() if not t.special and t.content in spec["model"]["vocab"] and _is_text(t.content)
        }
        self.control_ids = (frozenset(added) - text_like) | frozenset(special_ids) | frozenset(end_ids)
        self.end_ids = tuple(end_ids)
        self._backend = backend
        self._text = _copy_without_control_tokens(spec, text_like)
        self._byte_level = _mentions(spec, "ByteLevel")
        self.boundary = Boundary.probe(self._encode_batch)  # where a text can be cut without changing its tokens
        if not self._byte_level and not spec["model"].get("byte_fallback"):
            raise UnsupportedModel("the tokenizer is neither byte-level nor has byte fallback; use another model")

    @cached_property
    def real_size(self) -> int:
        """Number of ids that mean something; the rows of the logits from here on are padding."""
        return max(self._backend.get_vocab(with_added_tokens=True).values()) + 1

    @cached_property
    def opening(self) -> tuple[int, ...]:
        """Ids that the tokenizer itself puts before every text (`<s>`, `<bos>`); often none."""
        ids = self._backend.encode("", add_special_tokens=True).ids
        return tuple(i for i in ids if i not in self.end_ids)

    def encode(self, text: str, *, continued: bool = False) -> list[int]:
        """Ids of `text`.

        `continued`: other text goes before it. Tokenizers that put a space before every text don't put one here.
        """
        if continued and self._prefixes_space:
            return self.encode_with_starts(text, continued=True)[0]
        return self._encode(text)

    def encode_with_starts(self, text: str, *, continued: bool = False) -> tuple[list[int], list[int]]:
        """As `encode`, and for each token the offset in `text`, in code points, of the character it begins in."""
        guard = "\n" if continued and self._prefixes_space else ""
        encoding = self._text.encode(guard + text, add_special_tokens=False)
        ids, starts = encoding.ids, [start for start, _ in encoding.offsets]
        if guard:
            skip = bisect_left(starts, 1)
            ids, starts = ids[skip:], [start - 1 for start in starts[skip:]]
        return ids, starts

    def token_bytes(self, index: int) -> bytes:
        """What the token adds to the text, as UTF-8 bytes that may be part of a character; b"" for control tokens."""
        if index in self.control_ids:
            return b""
        piece = self._text.id_to_token(index)
        if piece is None:
            return b""
        if self._byte_level:
            return _byte_level_bytes(piece)
        if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
            return bytes([int(piece[3:5], 16)])
        return piece.replace(_SPACE_MARK, " ").encode()

    @cached_property
    def vocabulary(self) -> list[bytes]:
        """`token_bytes` of every id below `real_size`."""
        return [self.token_bytes(i) for i in range(self.real_size)]

    @cached_property
    def joins(self) -> frozenset[tuple[int, int]]:
        """Pairs of bytes that stand side by side within some token; between any two others a token always ends."""
        return frozenset(pair for piece in self.vocabulary for pair in pairwise(piece))

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        return b"".join(map(self.token_bytes, ids))

    def decode(self, ids: Iterable[int]) -> str:
        """Text of `ids` without control tokens; bytes that are no UTF-8 become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def control_id(self, text: str) -> int | None:
        """Id of the control token written `text`, None where the tokenizer has no such single token."""
        index = self._added.get(text)
        if index is None:
            index = self._backend.token_to_id(text)
            if index is not None and self._encode(text) == [index]:
                return None  # ordinary text that happens to be one token
        return index

    def _encode(self, text: str) -> list[int]:
        return self._text.encode(text, add_special_tokens=False).ids

    def _encode_batch(self, texts: Sequence[str], continued: bool) -> list[list[int]]:
        if continued and self._prefixes_space:
            return [self.encode(text, continued=True) for text in texts]
        return [e.ids for e in self._text.encode_batch(list(texts), add_special_tokens=False)]

    @cached_property
    def _prefixes_space(self) -> bool:
        return self.decode_bytes(self._encode("a")).startswith(b" ")


def _is_text(content: str) -> bool:
    return not content.replace(_SPACE_MARK, " ").strip() or _HTML_TAG.fullmatch(content) is not None


def _copy_without_control_tokens(spec: dict[str, Any], keep: set[int]) -> Tokenizer:
    spec = dict(spec)
    spec["added_tokens"] = [token for token in spec["added_tokens"] if token["id"] in keep]
    # Post-processors add special tokens and trim offsets; neither is wanted.
    spec["post_processor"] = spec["truncation"] = spec["padding"] = None
    return Tokenizer.from_str(json.dumps(spec))


def _mentions(spec: dict[str, Any], kind: str) -> bool:
    steps = [spec.get("pre_tokenizer"), spec.get("decoder")]
    while steps:
        step = steps.pop()
        if step is None:
            continue
        if step["type"] == kind:
            return True
        steps += step.get("pretokenizers", []) + step.get("decoders", [])
    return False


def _byte_level_bytes(piece: str) -> bytes:
    try:
        return bytes(_BYTE_OF[c] for c in piece)
    except KeyError:  # a text-like added token is stored as plain text
        return piece.encode()


def _byte_table() -> dict[str, int]:
    """The bijection between bytes and printable characters of GPT-2's `bytes_to_unicode`, reversed."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(256 + n): b for n, b in enumerate(others)}


_BYTE_OF = _byte_table()
