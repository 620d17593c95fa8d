"""The suggestions of one request that asks for alternatives: what was found, what is to be tried, the one reply.

First comes the usual suggestion. The others are *branches*: samples from the same prompt, each with a seed of its own.
Too alike ones are dropped, and once all have come as many again are tried as are missing. So what is found depends on
the seed alone, not on which branch was faster. Knows nothing of slots, passes or turns.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from completion_server.engine.job import CancelReason, Job
from completion_server.protocol import Alternative, Cancelled, Complete, DraftCount, Error, Result, Usage, Warmed

TEMPERATURE = 0.8  # of the branches of a greedy request; a sampled one keeps its own
TOP_P = 0.95
TRIES = 2  # for each alternative that is asked for

LastReply = Result | Warmed | Cancelled | Error


class Choices:
    """Of `request`, which is that of `job`."""

    def __init__(self, job: Job, request: Complete) -> None:
        self.job = job
        self._request = request
        self._first: Result | None = None
        self._started = 0  # branches, numbered from 1
        self._running = 0
        self._found: dict[int, Alternative] = {}
        self._usages: list[Usage] = []  # of branches
        self._over = False

    @property
    def cancelled(self) -> CancelReason | None:
        """Why whatever still runs for the request is to stop."""
        return self.job.cancelled or ("superseded" if self._over else None)

    def due(self) -> list[tuple[int, Complete]]:
        """Numbers and requests of the branches to start now. Ask when the prompt is computed and after each `take`."""
        if self._running or self._over or (self._started and self._first is None):
            return []
        wanted = self._request.alternatives - 1
        count = min(wanted - len(self._distinct()), TRIES * wanted - self._started)
        numbers = range(self._started + 1, self._started + count + 1)
        self._started += len(numbers)
        self._running = len(numbers)
        return [(number, self._branch(number)) for number in numbers]

    def take(self, branch: int | None, message: LastReply) -> LastReply | None:
        """The suggestion itself (`branch` None) or a branch has ended so; returns the reply of the whole request.

        None while more is to come or the reply was given. A branch that fails is only missing.
        """
        if self._over:
            return None
        if branch is not None:
            self._running -= 1
            if isinstance(message, Result | Cancelled):
                self._usages.append(message.usage)
            if isinstance(message, Result):
                self._found[branch] = Alternative(message.text, message.finish, message.scores)
        elif not isinstance(message, Result):
            self._over = True
            return message
        else:
            self._first = message
        return self._reply()

    def _branch(self, number: int) -> Complete:
        decoding = replace(self._request.decoding, seed=self._request.decoding.seed + number)
        if decoding.temperature == 0:
            decoding = replace(decoding, temperature=TEMPERATURE, top_p=TOP_P)
        return replace(self._request, decoding=decoding, stream=False, alternatives=1)

    def _reply(self) -> Result | Cancelled | None:
        if self._first is None or self._running:
            return None
        distinct = self._distinct()
        wanted = self._request.alternatives - 1
        if self.job.cancelled is not None:
            self._over = True
            return Cancelled(self._request.id, self.job.cancelled, _together(self._first.usage, self._usages))
        if len(distinct) < wanted and self._started < TRIES * wanted:
            return None
        self._over = True
        return replace(self._first, usage=_together(self._first.usage, self._usages), alternatives=tuple(distinct))

    def _distinct(self) -> list[Alternative]:
        """What was found, in the order of seeds, without what says the same as one before it."""
        seen = {_first_line(self._first.text)} if self._first is not None else set()
        distinct = []
        for number in sorted(self._found):
            line = _first_line(self._found[number].text)
            if line and line not in seen:
                seen.add(line)
                distinct.append(self._found[number])
        return distinct


def _first_line(text: str) -> str:
    """The first line that is not blank, without its white space."""
    return "".join(text.strip().partition("\n")[0].split())


def _together(first: Usage, branches: Iterable[Usage]) -> Usage:
    """`first`, whose prompt the branches share, with what they cost on top."""
    every = [first, *branches]
    drafted: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    for usage in every:
        drafted.update(usage.drafted_by)
        accepted.update(usage.accepted_by)
    return replace(
        first,
        completion_tokens=sum(usage.completion_tokens for usage in every),
        drafted_tokens=drafted.total(),
        accepted_tokens=accepted.total(),
        drafted_by=dict(drafted),
        accepted_by=dict(accepted),
        target_passes=sum(usage.target_passes for usage in every),
        drafts=_drafts(every),
        prefill_passes=sum(usage.prefill_passes for usage in every),
        e2e_ms=max(usage.e2e_ms for usage in every),
    )


def _drafts(usages: Iterable[Usage]) -> tuple[DraftCount, ...]:
    drafted: Counter[tuple[str, int]] = Counter()
    accepted: Counter[tuple[str, int]] = Counter()
    for count in (count for usage in usages for count in usage.drafts):
        drafted[count.drafter, count.position] += count.drafted
        accepted[count.drafter, count.position] += count.accepted
    return tuple(DraftCount(*key, drafted[key], accepted[key]) for key in sorted(drafted))
