"""What one generation cost and what its drafts gained."""

from collections import Counter
from dataclasses import dataclass, field

from speculative.draft import Draft


@dataclass(slots=True)
class Counters:
    """Totals by drafter, and by drafter and position within the draft (from 0).

    A token counts for the drafter that its mark names, also where another one began the draft.

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
        for position, mark in enumerate(draft.marks):
            self.drafted[mark.drafter] += 1
            self.drafted_at[mark.drafter, position] += 1
            if position < accepted:
                self.accepted[mark.drafter] += 1
                self.accepted_at[mark.drafter, position] += 1
