"""What one generation cost and what its drafts gained."""

from collections import Counter
from dataclasses import dataclass, field

from speculative.draft import Draft


@dataclass(slots=True)
class Counters:
    """Totals by drafter, and by drafter and position within the draft (from 0).

    A drafted stop token that the target agreed with counts as accepted: it saved a pass.
    """

    passes: int = 0
    drafted: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    drafted_at: Counter[tuple[str, int]] = field(default_factory=Counter)
    accepted_at: Counter[tuple[str, int]] = field(default_factory=Counter)

    def add(self, draft: Draft, accepted: int) -> None:
        """Count one target pass."""
        self.passes += 1
        if not draft.tokens:
            return
        self.drafted[draft.drafter] += len(draft.tokens)
        self.accepted[draft.drafter] += accepted
        self.drafted_at.update((draft.drafter, position) for position in range(len(draft.tokens)))
        self.accepted_at.update((draft.drafter, position) for position in range(accepted))
