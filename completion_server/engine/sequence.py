"""One request at work on its slot: what it feeds into the next pass and what it makes of the logits.

*Prefill*: all of the prompt but what fits into a round is fed in chunks, without asking for logits. *Rounds*: what is
left of the prompt (or the last committed token) goes through the target together with drafted tokens; the accepted ones
are committed and their text is scanned for the suggestion's end. Knows nothing of other sequences, clients or sockets,
and runs no pass of the target itself.
"""

from collections.abc import Sequence as Tokens
from dataclasses import dataclass

from torch import Tensor

from completion_server.ending import Ending, RawText
from completion_server.engine.draft_row import DraftRow
from completion_server.engine.scores import Scores
from completion_server.engine.state_row import StateRow
from completion_server.kv.slots import Lease, Slot
from completion_server.models.decoder import Feed
from completion_server.prefix import common_prefix
from completion_server.prompts import Prompt
from completion_server.protocol import FinishReason, TokenScore
from completion_server.tokenization import StreamDecoder
from speculative import LENGTH, NO_DRAFT, STOPPED, Committed, Generation

MAX_DRAFT = 15  # with the last committed token a pass of 16


@dataclass(frozen=True, slots=True)
class Turn:
    """A pass that gave tokens: how many were fed, and what became of its draft, which `drafter` began ("" without)."""

    width: int
    drafter: str
    drafted: int
    accepted: int


class Sequence:
    """Decodes `prompt`, while it sits on a slot.

    `generation` is None for a warm-up, which is finished when prompt and draft are prefilled. It may leave its slot
    between two passes and go on from another: what it has committed stays.
    """

    def __init__(
        self,
        prompt: Prompt,
        lease: Lease,
        draft_row: DraftRow | StateRow | None,
        generation: Generation | None,
        text: StreamDecoder,
        ending: Ending | RawText,
        *,
        chunk: int,
    ) -> None:
        """`draft_row` is None where no model drafts; `chunk` is the most prompt tokens of one pass."""
        self.prompt = prompt
        self.lease = lease  # the first one
        self.generation = generation
        self.finish: FinishReason | None = None
        self.fed_tokens = 0  # through the target, prompt and drafts
        self.prefill_passes = 0
        self.turn: Turn | None = None  # what the last pass was; None if it only fed
        self._slot: Slot | None = lease.slot
        self._draft_row = draft_row
        self._text = text
        self._ending = ending
        self._scores = Scores()
        self._chunk = chunk
        self._reached = lease.cached  # tokens of the prompt that were valid at some time
        self._feed: Feed | None = None
        self._draft = NO_DRAFT  # in `_feed`

    # -- its slot --------------------------------------------------------------------------------------------------

    @property
    def slot(self) -> Slot | None:
        """None while it has left its slot to another."""
        return self._slot

    def leave(self) -> Slot | None:
        """Give the slot up, for a while or for good; returns the one that it had."""
        slot, self._slot = self._slot, None
        return slot

    def enter(self, lease: Lease) -> None:
        """Go on, on another slot."""
        self._slot = lease.slot
        if self._draft_row is not None:
            self._draft_row.slot = lease.slot

    # -- what it has -----------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The suggestion so far, up to where it ends; grows only at its end."""
        return self._ending.text

    @property
    def scores(self) -> tuple[TokenScore, ...]:
        """Of `text`."""
        return self._scores.within(len(self.text))

    @property
    def tokens(self) -> Tokens[int]:
        """Prompt and committed tokens."""
        return self.prompt.tokens if self.generation is None else self.generation.tokens

    @property
    def computed(self) -> int:
        """Prompt tokens that went through the target for this request, each counted once."""
        return self._reached - self.lease.cached

    @property
    def draft_fed_tokens(self) -> int:
        return self._draft_row.fed_tokens if self._draft_row else 0

    @property
    def warmed(self) -> bool:
        """Whether it is a warm-up that has nothing left to feed."""
        return self.generation is None and self._slot is not None and not self.pending()

    # -- its part of a pass ----------------------------------------------------------------------------------------

    def pending(self) -> int:
        """Tokens that target or draft lack before anything new can be drafted; 0: a warm-up that is done."""
        left = len(self.tokens) - len(self._seat().target)
        return max(left, self._draft_left())

    def feed(self, others: int = 0, room: int = MAX_DRAFT) -> Feed | None:
        """What the next pass of the target takes from this sequence: a chunk of the prompt, or a round with drafts.

        `others` tokens of other sequences are in that pass, and at most `room` are to be drafted. May run passes of
        the draft; None if it spent its turn on feeding a long prompt to the draft.
        """
        self._feed = self._prefill()
        if self._feed is None and not self._prefill_draft():
            self._feed = self._round(others, room)
        return self._feed

    def take(self, logits: Tensor) -> None:
        """The pass has run: `logits` `[feed.logits, width]`. Sets `finish` at the end of the suggestion.

        Afterwards the row holds only tokens of the sequence: rejected drafts are rolled back.
        """
        feed, row = self._feed, self._seat().target
        if feed is None:
            raise ValueError("take needs a feed before it")
        self._feed = self.turn = None
        self.fed_tokens += len(feed.tokens)
        if not feed.logits or self.generation is None:
            row.append(feed.tokens)
            self.prefill_passes += 1
        else:
            committed = self.generation.commit(logits)
            row.append(feed.tokens[: common_prefix(feed.tokens, self.generation.tokens[feed.start :])])
            self.turn = Turn(len(feed.tokens), self._draft.drafter, len(self._draft.tokens), committed.accepted)
            self._write(committed)
        self._reached = max(self._reached, min(len(row), len(self.prompt.tokens)))

    def _write(self, committed: Committed) -> None:
        """Add what was committed to the text, and see whether it ends there."""
        for token, logprob in zip(committed.tokens, committed.logprobs, strict=True):
            text = self._text.feed([token])
            self._scores.add(text, logprob, waits=self._text.waits)
            self._ending.feed(text)
        if committed.finished is not None:
            self._ending.finish(_FINISH[committed.finished])
        self.finish = self._ending.finished

    def _prefill(self) -> Feed | None:
        """The next chunk, None when what is left belongs into a round (or, warming, nothing is left)."""
        slot = self._seat()
        done = len(slot.target)
        left = len(self.tokens) - done
        if left <= (self._chunk if self.generation is not None else 0):
            return None
        return Feed(slot.index, done, self.tokens[done : done + self._chunk], logits=0)

    def _draft_left(self) -> int:
        """Tokens that the draft lacks, 0 where a round can feed them.

        The first tokens of a suggestion do not wait for the draft: it begins after the target's first round.
        """
        if self._draft_row is None or (self.generation is not None and not self.generation.counters.passes):
            return 0
        left = len(self.tokens) - self._draft_row.sync(self.tokens)
        return left if left > (self._chunk if self.generation is not None else 1) else 0

    def _prefill_draft(self) -> bool:
        """Run one pass of the draft over the part of the sequence that it lacks; False if a round can begin."""
        left = self._draft_left()
        if self._draft_row is None or not left:
            return False
        start = len(self.tokens) - left
        self._draft_row.extend(self.tokens[start : start + self._chunk])
        return True

    def _round(self, others: int, room: int) -> Feed:
        if self.generation is None:
            raise ValueError("a warm-up that is done feeds nothing")
        slot = self._seat()
        start = len(slot.target)
        pending = self.generation.tokens[start:]
        left = slot.target.capacity - len(self.generation.tokens)
        # What others feed is paid for whatever is drafted here, just like this sequence's own tail: the policy weighs
        # only what drafts add to the pass.
        self._draft = draft = self.generation.propose(min(MAX_DRAFT, left, room), tail=len(pending) - 1 + others)
        return Feed(slot.index, start, [*pending, *draft.tokens], logits=1 + len(draft.tokens))

    def _seat(self) -> Slot:
        if self._slot is None:
            raise ValueError("a sequence without a slot takes no part in a pass")
        return self._slot


_FINISH: dict[str, FinishReason] = {STOPPED: "end-of-text", LENGTH: "length"}
