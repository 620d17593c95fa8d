"""While the engine is idle: what follows if the suggestion that was just shown is accepted whole.

The same sequence is decoded a little further, and the document remembers it: the next request drafts it, and the
suggestion behind an accepted one takes a pass or two. It replies to nobody, owns no slot and evicts none. Any request
ends the idle time after the pass in flight; then the slot's books are as if nothing had run, and only the drafts of
that document are richer.

On a CPU it starts after a pause, and reaches less far: while someone types, the next key comes sooner than that, so it
neither delays a key by a pass nor costs battery; it runs when someone reads what is shown. Knows nothing of clients'
connections or time (`Engine` asks the clock).
"""

import logging
from dataclasses import dataclass, replace

from completion_server.engine.documents import DocumentState
from completion_server.engine.pair import LoadedPair
from completion_server.engine.sequence import Sequence
from completion_server.errors import type_and_place
from completion_server.kv.slots import Slot
from completion_server.models.decoder import Feed
from completion_server.prefix import common_prefix
from speculative import STOPPED, FixedPolicy, Generation

log = logging.getLogger(__name__)

MAX_DRAFT = 3  # free drafts only; fixed, so that the policy's purse and statistics are left to requests


@dataclass(frozen=True, slots=True)
class Reach:
    """How far to continue: at most `tokens`, or `lines` whole lines behind what was shown; after `pause_s` idle."""

    tokens: int = 48
    lines: int = 2
    pause_s: float = 0.0


class Continuation:
    """One suggestion, decoded further on the slot where its keys and values are parked."""

    def __init__(
        self, pair: LoadedPair, reach: Reach, place: tuple[int, str], document: DocumentState, sequence: Sequence
    ) -> None:
        """`sequence` has ended and is about to leave its slot. Raises ValueError where there is no room to go on."""
        tokens = list(sequence.tokens)
        most = min(reach.tokens, pair.context_tokens - len(tokens))
        if sequence.slot is None or most < 1:
            raise ValueError("there is nothing to continue")
        self.place = place  # client and document
        self._pair = pair
        self._lines = reach.lines
        self._document = document
        self._slot: Slot = sequence.slot
        self._parked = len(self._slot.target)
        prompt = replace(sequence.prompt, tokens=tokens, forced=b"", forced_tokens=[])
        self._generation = Generation(
            tokens,
            max_new_tokens=most,
            stop_ids=pair.layout.stop_ids,
            vocab_size=pair.vocab_size,
            policy=FixedPolicy(MAX_DRAFT),
            drafters=document.drafters(prompt),
        )

    @property
    def possible(self) -> bool:
        """Whether the slot is still as this suggestion left it."""
        held = self._slot.target.tokens
        return self._slot.owner is None and len(held) >= self._parked and held == self._generation.tokens[: len(held)]

    def advance(self) -> bool:
        """One pass of the target; False when the end is reached."""
        row = self._slot.target
        start, tokens = len(row), self._generation.tokens
        draft = self._generation.propose(min(MAX_DRAFT, row.capacity - len(tokens)))
        fed = [*tokens[start:], *draft.tokens]
        (logits,) = self._pair.target.forward(
            self._pair.memory, [Feed(self._slot.index, start, fed, logits=1 + len(draft.tokens))]
        )
        committed = self._generation.commit(logits)
        row.append(fed[: common_prefix(fed, self._generation.tokens[start:])])
        self._document.remember(list(self._generation.tokens))
        written = self._pair.text.decode_bytes(self._generation.generated)
        return committed.finished is None and written.count(b"\n") <= self._lines  # the first ends the line shown

    def rest(self) -> None:
        """Leave the slot's books as they were found; `advance` may go on from here."""
        self._slot.target.rollback(min(self._parked, len(self._slot.target)))


class Continuations:
    """What could be continued, one per document; the newest runs first. No more than there are slots."""

    def __init__(self, pair: LoadedPair, reach: Reach | None) -> None:
        """With `reach` None nothing is ever continued."""
        self.reach = reach
        self._pair = pair
        self._waiting: list[Continuation] = []

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def offer(self, place: tuple[int, str], document: DocumentState, sequence: Sequence) -> None:
        """The suggestion of `sequence` was shown; call before it leaves its slot."""
        ended = sequence.generation is None or sequence.generation.finished == STOPPED
        if self.reach is None or ended or not sequence.text or sequence.finish == "loop":
            return
        self.forget(*place)
        try:
            self._waiting.append(Continuation(self._pair, self.reach, place, document, sequence))
        except ValueError:
            return
        del self._waiting[: -len(self._pair.slots.slots)]

    def forget(self, client: int, document: str | None = None) -> None:
        """The document (None: every one of the client) was typed in or closed."""
        self.rest()
        self._waiting = [
            other
            for other in self._waiting
            if other.place[0] != client or (document is not None and other.place[1] != document)
        ]

    def rest(self) -> None:
        """A request is there: leave the slots as they were found, and those that others have used since alone."""
        if self._waiting and self._waiting[-1].possible:
            self._waiting[-1].rest()

    def advance(self) -> None:
        """Run one pass, if there is anything to continue."""
        while self._waiting and not self._waiting[-1].possible:
            self._waiting.pop()
        if not self._waiting:
            return
        newest = self._waiting[-1]
        try:
            goes_on = newest.advance()
        except Exception as error:  # nobody waits for it
            log.error("continuing a suggestion failed: %s", type_and_place(error))
            goes_on = False
        if not goes_on:
            newest.rest()
            self._waiting.pop()
