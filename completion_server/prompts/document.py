"""The prompt of one open document, key after key.

When work at a place begins, the window's start, an anchor (the start of the cursor's line) and the text after the
cursor are frozen; what is typed then grows at the end of the prompt, and the keys and values of all before stay valid.
A new place begins when the cursor leaves, the lines below it change, or the typed part or the window is full. An edit
before the window only shifts it. Knows nothing of KV memory or of how tokens are chosen.
"""

from dataclasses import dataclass, replace

from completion_server.prompts.budget import BELOW_TOKENS, PromptBudget
from completion_server.prompts.healing import healed_length
from completion_server.prompts.layout import Header, Layout
from completion_server.prompts.window import CHARS_PER_TOKEN, Below, Suffix, window_start
from completion_server.protocol import Context, Snippet
from completion_server.tokenization import IncrementalEncoder, TextTokenizer

_HEAD = 256  # code points by which a window is found again after an edit before it


@dataclass(frozen=True, slots=True)
class Prompt:
    """`tokens` is never empty. Generation must begin with the bytes `forced`, which are not part of the suggestion.

    `forced_tokens` are the ids that wrote them before healing took them off: good drafts for the first pass. `lookup`
    are ids for n-gram drafts that are not in the prompt: text after the cursor and snippets that the layout has no
    place for.
    """

    tokens: list[int]
    forced: bytes
    forced_tokens: list[int]
    lookup: list[int]


class DocumentPrompt:
    """Builds the prompts of one document. Not thread-safe; keep one per document and client."""

    def __init__(self, tokenizer: TextTokenizer, layout: Layout, budget: PromptBudget, *, healing: bool = True) -> None:
        self._tokenizer = tokenizer
        self._layout = layout
        self._budget = budget
        self._healing = healing
        self._window = IncrementalEncoder(tokenizer)
        self._middle = IncrementalEncoder(tokenizer, continued=True)
        self._place: _Place | None = None

    def build(self, context: Context, *, healing: bool = True) -> Prompt:
        """The prompt for `context`: at most `budget.ceiling` tokens. `healing` = False switches it off for this one."""
        place = self._place.followed(context) if self._place else None
        if place is not None:
            prefix, typed = self._encode(place, context.before)
        if place is None or self._is_full(prefix, typed):
            place = self._new_place(context)
            prefix, typed = self._encode(place, context.before)
        self._place = place
        if self._layout.family.seeded:
            return self._prompt(place, prefix, typed, healing=healing and self._healing)
        return self._prompt(place, [], prefix, healing=healing and self._healing)

    def _encode(self, place: "_Place", before: str) -> tuple[list[int], list[int]]:
        """Ids up to the anchor and from it on; all in the first where the layout makes one text of both."""
        if not self._layout.family.seeded:
            return self._window.encode(before[place.start :]), []
        return self._window.encode(place.prefix), self._middle.encode(before[place.start + len(place.prefix) :])

    def _is_full(self, prefix: list[int], typed: list[int]) -> bool:
        return len(typed) > self._budget.typed_tokens or len(prefix) + len(typed) > self._budget.prefix_ceiling

    def _prompt(self, place: "_Place", frozen: list[int], growing: list[int], *, healing: bool) -> Prompt:
        keep = healed_length(growing, self._tokenizer) if healing else len(growing)
        forced = growing[keep:]
        tokens = self._layout.assemble(place.others.header, frozen, place.suffix.ids, growing[:keep])
        return Prompt(tokens, self._tokenizer.decode_bytes(forced), forced, place.lookup)

    def _new_place(self, context: Context) -> "_Place":
        start = self._start(context.before)
        anchor = max(start, self._anchor(context.before))
        suffix = self._suffix(context.after)
        others = self._others(context)
        lookup = others.lookup if self._layout.has_suffix else [*others.lookup, *suffix.ids]
        return _Place(start, context.before[start:anchor], suffix, others, lookup)

    def _suffix(self, after: str) -> Suffix | Below:
        if not self._layout.has_below:
            return Suffix.of(after, self._budget.suffix_tokens, self._tokenizer)
        old = self._place.suffix if self._place else None
        if isinstance(old, Below) and old.still_holds(after):
            return old  # also at a place a little higher up: all that follows it keeps its keys and values
        return Below.of(after, min(BELOW_TOKENS, self._budget.suffix_tokens), self._tokenizer)

    def _others(self, context: Context) -> "_Others":
        old = self._place.others if self._place else None
        snippets = _stable_first(context.snippets, old.snippets if old else ())
        if old is not None and (old.snippets, old.path, old.language) == (snippets, context.path, context.language):
            return old
        room = self._budget.path_tokens if self._layout.has_below else self._budget.snippet_tokens
        header = self._layout.header(snippets, context.path, context.language, room)
        lookup = [] if header and not self._layout.has_below else self._snippet_ids(snippets)
        return _Others(snippets, context.path, context.language, header, lookup)

    def _start(self, before: str) -> int:
        """The old window start if the cursor still has enough text before it and not too much, else a new one."""
        old = self._place.start_in(before) if self._place else 0
        if old is not None and len(before) - old <= self._budget.prefix_ceiling * CHARS_PER_TOKEN:
            length = len(self._window.encode(before[old:]))
            if length <= self._budget.prefix_ceiling and (old == 0 or length >= self._budget.prefix_tokens // 2):
                return old
        return window_start(before, self._budget.prefix_tokens, self._tokenizer)

    def _anchor(self, before: str) -> int:
        """The start of the cursor's line; in a line too long for the middle, a little before the cursor."""
        line = before.rfind("\n") + 1
        reach = self._budget.typed_tokens
        return line if len(before) - line <= reach else len(before) - reach // 2

    def _snippet_ids(self, snippets: tuple[Snippet, ...]) -> list[int]:
        ids: list[int] = []
        for snippet in snippets:
            room = self._budget.snippet_tokens - len(ids)
            ids += self._tokenizer.encode(snippet.text[: room * CHARS_PER_TOKEN])[:room]
        return ids


def _stable_first(snippets: tuple[Snippet, ...], old: tuple[Snippet, ...]) -> tuple[Snippet, ...]:
    """Those that were in the last prompt first and in its order, so that they keep their keys and values."""
    order = {snippet.path: n for n, snippet in enumerate(old)}
    return tuple(sorted(snippets, key=lambda snippet: order.get(snippet.path, len(order))))


@dataclass(frozen=True, slots=True)
class _Others:
    """What a prompt has of other files: laid out in `header`, or ids for `lookup` where the layout has no place."""

    snippets: tuple[Snippet, ...]
    path: str
    language: str
    header: Header
    lookup: list[int]


@dataclass(frozen=True, slots=True)
class _Place:
    """What is frozen while somebody works at one place. `prefix` is the text from `start` to the anchor."""

    start: int
    prefix: str
    suffix: Suffix | Below
    others: _Others
    lookup: list[int]

    def followed(self, context: Context) -> "_Place | None":
        """This place where it is now in the text; None if the cursor has left it or its surroundings changed."""
        if not self.suffix.still_holds(context.after):
            return None
        if context.before.startswith(self.prefix, self.start):
            return self
        if len(self.prefix) < _HEAD:  # too short to be sure that another occurrence is the same text
            return None
        start = context.before.rfind(self.prefix)
        return replace(self, start=start) if start >= 0 else None

    def start_in(self, before: str) -> int | None:
        """Where this window starts in `before` now, by the text at its head."""
        head = self.prefix[:_HEAD]
        if self.start == 0 or before.startswith(head, self.start):
            return self.start
        start = before.rfind(head) if len(head) == _HEAD else -1
        return start if start >= 0 else None
