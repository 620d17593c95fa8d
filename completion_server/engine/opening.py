"""From a request to a sequence on a slot: the prompt, the drafters, the place where keys and values go.

Decides nothing about whose turn it is and runs no pass.
"""

from collections.abc import Sequence as Tokens

from completion_server.ending import Ending, RawText, ending_of
from completion_server.engine.documents import DocumentState
from completion_server.engine.draft_row import DraftRow
from completion_server.engine.job import Job
from completion_server.engine.pair import LoadedPair
from completion_server.engine.sequence import Sequence
from completion_server.engine.state_row import StateRow
from completion_server.errors import RequestError
from completion_server.kv.slots import Lease
from completion_server.prompts import Prompt
from completion_server.protocol import Complete, Decoding
from completion_server.tokenization import StreamDecoder
from speculative import FixedPolicy, Generation, ModelDrafter, PrefixConstraint, Sampling, SamplingError


class Opening:
    """Opens the sequences of one pair. `chunk` is the most prompt tokens that one pass takes."""

    def __init__(self, pair: LoadedPair, chunk: int) -> None:
        self._pair = pair
        self._chunk = chunk

    def prompt(self, job: Job, document: DocumentState) -> Prompt:
        """What `job` goes on from."""
        return document.build(job.request.context, healing=_healing(job))

    def sequence(self, job: Job, document: DocumentState, prompt: Prompt, *, branch: bool = False) -> Sequence:
        """A sequence for `job`, on a free slot; check that there is one. Raises RequestError for absurd sampling.

        No model drafts for a `branch`, which shares its prompt: behind drafts that are no draws a sampled text depends
        on its seed alone.
        """
        pair = self._pair
        sampling = _sampling(job.request.decoding) if isinstance(job.request, Complete) else Sampling()
        draft = None if branch else pair.draft
        lease = self._lease(job.key, prompt.tokens)
        try:
            draft_row = draft.row(lease.slot) if draft else None
            generation = self._generation(job, prompt, document, draft_row, sampling)
            text = StreamDecoder(pair.text, skip=len(prompt.forced))
            return Sequence(prompt, lease, draft_row, generation, text, _ending(job), chunk=self._chunk)
        except Exception:
            pair.slots.release(lease.slot)
            raise

    def again(self, job: Job, sequence: Sequence) -> None:
        """Give a sequence that has left its slot a free one."""
        sequence.enter(self._lease(job.key, sequence.tokens))

    def _lease(self, owner: int, tokens: Tokens[int]) -> Lease:
        pair = self._pair
        lease = pair.slots.acquire(owner, tokens)
        if lease.copy_from is not None:
            pair.memory.copy(lease.copy_from, lease.slot.index, lease.cached)
            if pair.draft is not None:
                pair.draft.copy(lease.copy_from, lease.slot.index, lease.draft_cached)
        return lease

    def _generation(
        self,
        job: Job,
        prompt: Prompt,
        document: DocumentState,
        draft_row: DraftRow | StateRow | None,
        sampling: Sampling,
    ) -> Generation | None:
        pair, request = self._pair, job.request
        if not isinstance(request, Complete):
            return None
        drafting = request.decoding.drafting
        drafters = document.drafters(prompt) if drafting else []
        if drafting and draft_row is not None and pair.draft is not None:
            drafter = ModelDrafter(
                draft_row,
                pair.draft.vocab_size,
                output_ids=pair.draft.output_ids,
                chunk=self._chunk,
                expected=pair.draft.expected,
            )
            drafters.append(drafter)
        healed = len(prompt.forced)  # each forced byte may cost a token on top of what was asked for
        return Generation(
            prompt.tokens,
            max_new_tokens=min(request.limits.max_tokens + healed, pair.context_tokens - len(prompt.tokens)),
            stop_ids=pair.layout.stop_ids,
            vocab_size=pair.vocab_size,
            policy=pair.policy if drafting else FixedPolicy(0),
            drafters=drafters,
            sampling=sampling,
            constraint=PrefixConstraint(pair.token_bytes, prompt.forced) if prompt.forced else None,
            seed=request.decoding.seed,
            cancelled=lambda: job.cancelled is not None,
        )


def _healing(job: Job) -> bool:
    return not isinstance(job.request, Complete) or job.request.decoding.healing


def _ending(job: Job) -> Ending | RawText:
    return ending_of(job.request) if isinstance(job.request, Complete) else RawText()


def _sampling(decoding: Decoding) -> Sampling:
    try:
        return Sampling(decoding.temperature, decoding.top_k, decoding.top_p)
    except SamplingError as error:
        raise RequestError(str(error)) from error
