"""Chooses who drafts and how many tokens, round by round.

Two questions, answered apart:

*What pays best?* Let a_j be the running chance that the j-th drafted token is accepted when those before it were: of
all tokens with its mark, whichever drafter began the draft and wherever in it they stood. A draft of k tokens is
expected to gain 1 + Σ_{i≤k} Π_{j≤i} a_j tokens and costs target(1 + k) + k · draft step. The choice is the offer and k
with the most tokens per millisecond; k = 0 is one of them. In a pass that must feed a tail of the prompt anyway the
tail is paid for either way, so only what the drafts *add* to that pass counts.

Where a model advises (`advised`), a draft is made token by token instead: `outlook` gives what that is weighed with,
and the same purse pays.

*What can we afford?* Estimates are wrong at first and text changes, so there is a purse of milliseconds. Accepted
tokens pay in the passes that they saved; drafts take out what they cost. Every token settled pays in 2 % of a plain
pass on top, so that a drafter which failed is tried again now and then. A draft is only made if the purse can pay for
it even when nothing is accepted. The purse is never below 0, so decoding takes at most 1.02 times what it takes without
drafts, plus the purse at the start once: that is how speculation is never slower than 0.97x of none, on any text.

The statistics live across requests, one policy per pair of models; they fade by 2 % a round, back towards a prior. Same
observations, same choices. Knows no tokens.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from speculative.costs import PassCosts
from speculative.draft import Mark, Steps
from speculative.outlook import Outlook

DEFAULT_PRIORS: Mapping[str, float] = {"opening": 0.9, "tail": 0.8, "n-gram": 0.5, "model": 0.7}


@dataclass(frozen=True, slots=True)
class Offer:
    """`drafter` could draft as many tokens as there are marks."""

    drafter: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Draft `k` tokens with `drafter`; nothing if k is 0."""

    drafter: str
    k: int


NO_CHOICE = Choice("", 0)


@dataclass(frozen=True, slots=True)
class Round:
    """How a round went: `marks` are those of the drafted tokens.

    `chosen` tokens were settled, each of which costs a pass without drafts: `accepted` and the target's own, or just
    `accepted` where the last of them was a stop token. `tail` and `length` are what `choose` was given, `steps` what
    was spent on models. `opinions` are marks of what a model said and whether it was right, drafted or not, as far as
    the target has said which.
    """

    drafter: str
    marks: tuple[Mark, ...]
    accepted: int
    chosen: int
    tail: int = 0
    length: int = 0
    steps: Steps = Steps()  # noqa: RUF009 (immutable)
    opinions: tuple[tuple[Mark, bool], ...] = ()


class Policy(Protocol):
    def choose(self, offers: Sequence[Offer], tail: int, length: int = 0) -> Choice:
        """Pick among `offers` (each has something available) for a pass that feeds `tail` prompt tokens as well.

        `length` counts the tokens of the sequence so far.
        """

    def outlook(self, tail: int, length: int = 0) -> Outlook | None:
        """What single tokens of such a pass are weighed with; None where `choose` alone decides."""

    def observe(self, round_: Round) -> None:
        """Learn from a round, also from one without drafts."""


@dataclass(frozen=True, slots=True)
class FixedPolicy:
    """Always k tokens of the first offer; with k = 0 the target decodes alone."""

    k: int

    def choose(self, offers: Sequence[Offer], tail: int, length: int = 0) -> Choice:  # noqa: ARG002
        return Choice(offers[0].drafter, min(self.k, len(offers[0].marks))) if offers and self.k else NO_CHOICE

    def outlook(self, tail: int, length: int = 0) -> Outlook | None:  # noqa: ARG002
        return None

    def observe(self, round_: Round) -> None:
        """Nothing to learn."""


class AdaptivePolicy:
    """The policy of the module docstring.

    `priors` are acceptance chances by drafter before anything was seen (0.5 for others), worth `prior_weight`
    observations. `fade` is what a round leaves of older observations. The purse earns `eagerness` of a plain pass per
    token, starts with the cost of `start_passes` and holds at most that of `purse_passes`. `costs` may be
    replaced when new measurements are there.
    """

    def __init__(
        self,
        costs: PassCosts,
        *,
        priors: Mapping[str, float] = DEFAULT_PRIORS,
        prior_weight: float = 8.0,
        fade: float = 0.98,
        eagerness: float = 0.02,
        start_passes: float = 3.0,
        purse_passes: float = 8.0,
    ) -> None:
        self.costs = costs
        self._priors = dict(priors)
        self._prior_weight = prior_weight
        self._fade = fade
        self._eagerness = eagerness
        self._purse_passes = purse_passes
        self._purse_ms = start_passes * costs.target(1)
        self._rounds = 0
        self._gained, self._spent_ms = 1.0, costs.target(1)  # faded sums: the rate of exchange
        self._records: dict[tuple[str, int], _Record] = {}

    @property
    def purse_ms(self) -> float:
        """Milliseconds that may be lost on drafts."""
        return self._purse_ms

    def choose(self, offers: Sequence[Offer], tail: int = 0, length: int = 0) -> Choice:
        costs = self.costs.behind(length)
        plain = costs.target(1)
        best, best_rate = NO_CHOICE, 1 / plain
        for offer in offers:
            expected = survives = 1.0
            for k, chance in enumerate(self.acceptance(offer.marks), start=1):
                survives *= chance
                expected += survives
                extra = _wider_ms(costs, k, tail) + costs.draft(offer.drafter, k)
                rate = expected / (plain + extra)
                if rate > best_rate and extra <= self._purse_ms:
                    best, best_rate = Choice(offer.drafter, k), rate
        return best

    def observe(self, round_: Round) -> None:
        costs = self.costs.behind(round_.length)
        plain = costs.target(1)
        self._rounds += 1
        earned = plain * (round_.chosen - 1 + self._eagerness * round_.chosen)
        extra = _wider_ms(costs, len(round_.marks), round_.tail) + costs.draft(*round_.steps)
        earned -= extra
        self._gained = self._fade * self._gained + round_.chosen
        self._spent_ms = self._fade * self._spent_ms + plain + extra
        for position, mark in enumerate(round_.marks[: round_.accepted + 1]):  # those behind were never judged
            self._count(mark, accepted=position < round_.accepted)
        for mark, right in round_.opinions:
            self._count(mark, accepted=right)
        self._purse_ms = min(max(self._purse_ms + earned, 0.0), self._purse_passes * plain)

    def outlook(self, tail: int, length: int = 0) -> Outlook:
        rate = self._gained / self._spent_ms
        return Outlook(self.costs.behind(length), tail, rate, self._purse_ms, self._chance)

    def acceptance(self, marks: Sequence[Mark]) -> Iterator[float]:
        """The chance of each token that it is accepted if those before it were: what was seen, pulled to a guess.

        The guess is the mark's own, or else what was found for the token before: a drafter that fails early is not
        trusted at positions that it never reached. The first is pulled to the drafter's prior.
        """
        before = ""
        chance = 0.0
        for mark in marks:
            if mark.chance is not None:
                chance = mark.chance
            elif mark.drafter != before:
                chance = self._priors.get(mark.drafter, 0.5)
            before = mark.drafter
            record = self._records.get((mark.drafter, mark.kind))
            if record is not None:
                record.fade(self._fade, self._rounds)
                chance = (record.accepted + self._prior_weight * chance) / (record.reached + self._prior_weight)
            yield chance

    def _chance(self, mark: Mark) -> float:
        return next(self.acceptance((mark,)))

    def _count(self, mark: Mark, *, accepted: bool) -> None:
        record = self._records.setdefault((mark.drafter, mark.kind), _Record())
        record.fade(self._fade, self._rounds)
        record.add(accepted=accepted)


def _wider_ms(costs: PassCosts, k: int, tail: int) -> float:
    """What k drafted tokens add to the cost of a pass."""
    return costs.target(1 + tail + k) - costs.target(1 + tail)


class _Record:
    """Faded counts of one kind of token: how often a draft was right up to it, and how often it was right itself."""

    def __init__(self) -> None:
        self.reached = 0.0
        self.accepted = 0.0
        self._round = 0

    def fade(self, factor: float, now: int) -> None:
        left = factor ** (now - self._round)
        self.reached *= left
        self.accepted *= left
        self._round = now

    def add(self, *, accepted: bool) -> None:
        self.reached += 1
        self.accepted += accepted
