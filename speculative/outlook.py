"""Whether one token more is worth what it costs, seen from the middle of a draft.

Everything is weighed at one rate of exchange, the tokens that a millisecond yields in the long run: a token is drafted
if its chance of being committed is more than its place in the pass costs at that rate, and the model is asked if it is
expected to add more than its step costs. What maximises gain − rate · cost in each round maximises gain ÷ cost over
many (the renewal-reward theorem; Ross, Stochastic Processes, 1996, section 3.6).
"""

from collections.abc import Callable
from dataclasses import dataclass

from speculative.costs import PassCosts
from speculative.draft import Mark, Steps

_LEADS = 2.0  # tokens that a right one is worth: itself, and what may then follow in the same draft


@dataclass(frozen=True, slots=True)
class Outlook:
    """One pass, which feeds `tail` prompt tokens as well.

    `rate` is in tokens per millisecond, `purse_ms` is what may be lost, `chance` what the policy thinks of a mark.
    """

    costs: PassCosts
    tail: int
    rate: float
    purse_ms: float
    chance: Callable[[Mark], float]

    def pays(self, survives: float, k: int, taken: Steps) -> bool:
        """Whether the k-th token, committed with chance `survives`, is worth its place, after the steps `taken`."""
        return survives > self.rate * self._place_ms(k) and self._affords(k, taken)

    def asks(self, survives: float, gain: float, k: int, taken: Steps, more: int, *, new: bool) -> bool:
        """Whether `more` steps pay that make the k-th token right more often by `gain`, if those before it are.

        `new`: without the model there would be no k-th token, so that its place must be paid as well.
        """
        ms = self.costs.draft(taken.drafter, more) + (self._place_ms(k) if new else 0.0)
        affordable = self._affords(k, Steps(taken.drafter, taken.number + more))
        return affordable and _LEADS * survives * gain > self.rate * ms

    def _place_ms(self, k: int) -> float:
        """What k tokens add to the pass, for each of them: where shapes are fixed, most places cost nothing more."""
        return self._wider_ms(k) / k

    def _affords(self, k: int, taken: Steps) -> bool:
        return self._wider_ms(k) + self.costs.draft(*taken) <= self.purse_ms

    def _wider_ms(self, k: int) -> float:
        return self.costs.target(1 + self.tail + k) - self.costs.target(1 + self.tail)
