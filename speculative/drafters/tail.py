"""Drafts the rest of the previous suggestion.

One key ago the target itself verified these tokens. If the user typed what was suggested, most of them are right
again. The drafter holds one token list, prompt and continuation of an earlier request, and finds the place in it that
the new context has reached.
"""

from collections.abc import Sequence

from speculative.draft import NO_DRAFT, Draft, DraftRequest, Mark
from speculative.prefix import common_prefix

MAX_MATCH = 8  # more context than this tells the policy nothing new
REACH = 64  # how far from the same index a place is looked for: keeps the search short in a long file


class TailDrafter:
    """Proposes what followed in `previous`: prompt and generated tokens of an earlier request for the document."""

    name = "tail"
    free = True

    def __init__(self, previous: Sequence[int] = ()) -> None:
        self._previous = list(previous)

    def remember(self, tokens: Sequence[int]) -> None:
        """Replace what the drafter holds, at the end of a request."""
        self._previous = list(tokens)

    def propose(self, request: DraftRequest) -> Draft:
        place, match = align(request.tokens, self._previous)
        tokens = tuple(self._previous[place : place + request.k]) if match else ()
        # The first token decides: if it is right the text has not changed its way, and the others mostly are too.
        marks = tuple(
            Mark(self.name, match if i == 0 else MAX_MATCH + min(match + i, MAX_MATCH)) for i in range(len(tokens))
        )
        return Draft(tokens, self.name, marks=marks) if tokens else NO_DRAFT


def align(context: Sequence[int], previous: Sequence[int]) -> tuple[int, int]:
    """The index into `previous` where `context` would go on, and how many tokens before it match (0: no place).

    If `context` is the head of `previous` that is its length. Otherwise the two part somewhere, often because a token
    was typed in pieces and encoded anew; then the last tokens of `context` are looked for behind the place where they
    part and within `REACH` of the same index: the longest match wins, among equals the one that moves the text least.
    """
    parted = common_prefix(context, previous)
    if parted == len(context):
        return parted, min(parted, MAX_MATCH)
    best = (0, 0, 0)  # match, −distance, place: compared in this order
    nearest, farthest = max(parted + 1, len(context) - REACH), min(len(previous), len(context) + REACH + 1)
    for place in range(nearest, farthest):
        if previous[place - 1] == context[-1]:
            match = _match_back(context, previous, place)
            best = max(best, (match, -abs(place - len(context)), place))
    return best[2], best[0]


def _match_back(context: Sequence[int], previous: Sequence[int], place: int) -> int:
    match = 0
    while match < min(MAX_MATCH, place, len(context)) and previous[place - 1 - match] == context[-1 - match]:
        match += 1
    return match
