"""Drafts what a continuation is expected to begin with.

For token healing: the prompt was cut back by a few tokens, and the target must spell their bytes again. The tokens cut
off are the likeliest way to do so, and drafting them lets the first pass reach new text.
"""

from collections.abc import Sequence

from speculative.draft import NO_DRAFT, Draft, DraftRequest


class OpeningDrafter:
    """Proposes `tokens` as the first of the continuation, as far as it has not begun differently."""

    name = "opening"
    free = True

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens = tuple(tokens)

    def propose(self, request: DraftRequest) -> Draft:
        done = len(request.tokens) - request.prompt_length
        begun = tuple(request.tokens[request.prompt_length :]) if done < len(self._tokens) else ()
        if done >= len(self._tokens) or begun != self._tokens[:done]:
            return NO_DRAFT
        return Draft(self._tokens[done : done + request.k], self.name)
