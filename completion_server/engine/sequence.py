"""One request at work on its slot: what it feeds into the next pass and what it makes of the logits.

*Prefill*: all of the prompt but what fits into a round is fed in chunks, without asking for logits. *Rounds*: what is
left of the prompt (or the last committed token) goes through the target together with drafted tokens; the accepted ones
are committed and their text is scanned for the suggestion's end. Knows nothing of other sequences, clients or sockets,
and runs no pass of the target itself.
"""

from collections.abc import Sequence as Tokens

from torch import Tensor

from completion_server.ending import Ending
from completion_server.engine.draft_row import DraftRow
from completion_server.kv.slots import Lease
from completion_server.models.decoder import Feed
from completion_server.prefix import common_prefix
from completion_server.prompts import Prompt
from completion_server.protocol import FinishReason
from completion_server.tokenization import StreamDecoder
from speculative import LENGTH, STOPPED, Generation

MAX_DRAFT = 15  # with the last committed token a pass of 16


class Sequence:
    """Decodes `prompt` on a leased slot.

    `generation` is None for a warm-up, which is finished when prompt and draft are prefilled. `draft_row` is None
    where no model drafts.
    """

    def __init__(
        self,
        prompt: Prompt,
        lease: Lease,
        draft_row: DraftRow | None,
        generation: Generation | None,
        text: StreamDecoder,
        ending: Ending,
    ) -> None:
        self.prompt = prompt
        self.lease = lease
        self.generation = generation
        self.finish: FinishReason | None = None
        self.fed_tokens = 0  # through the target, prompt and drafts
        self.prefill_passes = 0
        self._row = lease.slot.target
        self._draft_row = draft_row
        self._text = text
        self._ending = ending
        self._fed: list[int] = []

    @property
    def text(self) -> str:
        """The suggestion so far, up to where it ends; grows only at its end."""
        return self._ending.text

    @property
    def tokens(self) -> Tokens[int]:
        """Prompt and committed tokens."""
        return self.prompt.tokens if self.generation is None else self.generation.tokens

    @property
    def computed(self) -> int:
        """Prompt tokens that went through the target for this request."""
        return max(0, min(len(self._row), len(self.prompt.tokens)) - self.lease.cached)

    def prefill(self, chunk: int) -> Feed | None:
        """The next chunk of the prompt, None when what is left belongs into a round (or, warming, nothing is left)."""
        done = len(self._row)
        left = len(self.prompt.tokens) - done
        if left <= (chunk if self.generation is not None else 0):
            return None
        return Feed(self.lease.slot.index, done, self.prompt.tokens[done : done + chunk], logits=0)

    def prefilled(self, feed: Feed) -> None:
        """The pass that `prefill` asked for has run."""
        self._row.append(feed.tokens)
        self.fed_tokens += len(feed.tokens)
        self.prefill_passes += 1

    def prefill_draft(self, chunk: int) -> bool:
        """Run one pass of the draft over the part of the sequence that it lacks; False if there is nothing to run.

        The first tokens of a suggestion do not wait for this: it begins after the target's first round.
        """
        if self._draft_row is None or (self.generation is not None and not self.generation.counters.passes):
            return False
        tokens = self.tokens
        left = len(tokens) - self._draft_row.sync(tokens)
        if left <= (chunk if self.generation is not None else 1):
            return False
        self._draft_row.extend(tokens[len(tokens) - left : len(tokens) - left + chunk])
        return True

    def propose(self) -> Feed:
        """What the next round feeds: tokens without keys and values, then drafted ones. May run passes of the draft."""
        if self.generation is None:
            raise ValueError("a warm-up has no rounds")
        start = len(self._row)
        pending = self.generation.tokens[start:]
        room = self._row.capacity - len(self.generation.tokens)
        draft = self.generation.propose(min(MAX_DRAFT, room), tail=len(pending) - 1)
        self._fed = [*pending, *draft.tokens]
        return Feed(self.lease.slot.index, start, self._fed, logits=1 + len(draft.tokens))

    def commit(self, logits: Tensor) -> None:
        """Take the logits of the pass that `propose` asked for, `[1 + k, width]`. Sets `finish` at the end.

        Afterwards the row holds only tokens of the sequence: rejected drafts are rolled back.
        """
        if self.generation is None:
            raise ValueError("a warm-up has no rounds")
        committed = self.generation.commit(logits)
        start = len(self._row)
        self._row.append(self._fed[: common_prefix(self._fed, self.generation.tokens[start:])])
        self.fed_tokens += len(self._fed)
        self._ending.feed(self._text.feed(committed.tokens))
        if committed.finished is not None:
            self._ending.finish(_FINISH[committed.finished])
        self.finish = self._ending.finished


_FINISH: dict[str, FinishReason] = {STOPPED: "end-of-text", LENGTH: "length"}
