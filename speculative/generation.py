"""One sequence being decoded: what to feed next, and what becomes of the logits.

`propose` gives the tokens to send through the target behind the last committed one; `commit` takes the logits and says
what was gained. In between somebody runs the target, for this sequence alone (`decode.generate`) or for many at once.
The state is plain Python lists: to cancel, stop calling. Knows no text, no device and no KV memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from speculative.advised import Behind, advised
from speculative.constraint import Constraint, constrain
from speculative.counters import Counters
from speculative.draft import NO_DRAFT, Draft, Drafter, DraftRequest, by_position
from speculative.drafters.model import ModelDrafter
from speculative.policy import Offer, Policy, Round
from speculative.randomness import Randomness, SeededRandomness
from speculative.sampling import Sampling, chosen_logprobs, distribution
from speculative.verify import Verdict, verify_greedy, verify_sampled

_AHEAD = 4  # tokens that are looked up at a time behind one of a model
STOPPED = "stop-token"
LENGTH = "length"


class GenerationError(ValueError):
    """A generation that was set up or used in a way that makes no sense."""


@dataclass(frozen=True, slots=True)
class Committed:
    """What a pass gained. `accepted` counts drafted tokens that the target agreed with, a final stop token included.

    `tokens` never hold a stop token, so they may be empty. `finished` is `STOPPED`, `LENGTH`, or `None` as long as
    there is more to come. `logprobs` are the natural log-probabilities of `tokens` under the target and the constraint,
    at temperature 1.
    """

    tokens: tuple[int, ...]
    accepted: int
    finished: str | None
    logprobs: tuple[float, ...]


class Generation:
    """A sequence from its prompt to its end.

    Drafters are preferred in the order given where the policy is indifferent; without any this is plain decoding. The
    text is the target's under `constraint` whatever the drafters do: the same tokens when greedy, the same
    distribution when sampled. `vocab_size` counts the real ids; logits from there on are padding and never chosen.
    For a `seed` and the same drafts a run repeats itself; `randomness` replaces the seeded source.
    Raises `GenerationError` for an empty prompt, no token to generate, or drafters that share a name.
    """

    def __init__(
        self,
        prompt: Sequence[int],
        *,
        max_new_tokens: int,
        stop_ids: frozenset[int],
        vocab_size: int,
        policy: Policy,
        drafters: Sequence[Drafter] = (),
        sampling: Sampling = Sampling(),  # noqa: B008 (frozen)
        constraint: Constraint | None = None,
        seed: int = 0,
        randomness: Randomness | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        if not prompt:
            raise GenerationError("a prompt needs at least one token")
        if max_new_tokens < 1:
            raise GenerationError(f"max_new_tokens must be at least 1, not {max_new_tokens}")
        if len({drafter.name for drafter in drafters}) < len(drafters):
            raise GenerationError("two drafters have the same name")
        self.counters = Counters()
        self._tokens = list(prompt)
        self._prompt_length = len(prompt)
        self._max_new_tokens = max_new_tokens
        self._stop_ids = stop_ids
        self._vocab_size = vocab_size
        self._policy = policy
        self._drafters = tuple(drafters)
        self._sampling = sampling
        self._constraint = constraint
        self._randomness = randomness or SeededRandomness(seed)
        self._draft_randomness = randomness or SeededRandomness(seed, stream=1)
        self._cancelled = cancelled
        self._finished: str | None = None
        self._pending: tuple[Draft, int] | None = None  # the draft in flight and its tail

    @property
    def tokens(self) -> Sequence[int]:
        """Prompt and committed tokens: the live list, to read.

        After a commit the target's row is right for all of them but the last, which it has yet to be fed (where the
        row holds it already, feeding it again is harmless): roll back to `len(tokens) - 1`.
        """
        return self._tokens

    @property
    def generated(self) -> Sequence[int]:
        return self._tokens[self._prompt_length :]

    @property
    def finished(self) -> str | None:
        """Why it ended: `STOPPED`, `LENGTH`, or what was given to `finish`; `None` while it runs."""
        return self._finished

    @property
    def remaining(self) -> int:
        """How many tokens may still be committed."""
        return self._prompt_length + self._max_new_tokens - len(self._tokens)

    def propose(self, budget: int, tail: int = 0) -> Draft:
        """The draft for the next pass, at most `budget` tokens. Feed it behind the last of `tokens`.

        `tail` counts the tokens before that last one which the pass has to feed as well. One place is left for the
        token that the target adds, so drafts never pass `max_new_tokens`. In the first pass only free drafters are
        heard: what costs time comes after the first tokens are out. Raises `GenerationError` when finished.
        """
        self._must_run()
        draft = self._draft(min(budget, self.remaining - 1), tail)
        self._pending = draft, tail
        return draft

    def commit(self, logits: Tensor) -> Committed:
        """Verify the proposed draft by the target's `logits` `[1 + k, V]` and append what is right.

        Row 0 is behind the last of `tokens`, row i behind the i-th drafted token. Raises `GenerationError` if nothing
        was proposed or the shape is another.
        """
        self._must_run()
        if self._pending is None:
            raise GenerationError("commit needs a propose before it")
        draft, tail = self._pending
        if logits.dim() != 2 or len(logits) != 1 + len(draft.tokens) or logits.shape[1] < self._vocab_size:
            raise GenerationError(
                f"logits must be [{1 + len(draft.tokens)}, >= {self._vocab_size}], not {list(logits.shape)}"
            )
        self._pending = None
        masked = constrain(logits[:, : self._vocab_size], self._constraint, self.generated, draft.tokens)
        verdict = self._verify(masked, draft)
        tokens, stopped = self._until_stop(verdict.tokens)
        accepted = verdict.accepted  # a draft ends with its first stop token, so none of these is behind one
        chosen = len(tokens) + stopped  # each would have been a pass of the target alone
        length = len(self._tokens)
        self._tokens += tokens
        self.counters.add(draft, accepted)
        judged = tuple(
            (opinion.mark, opinion.token == verdict.tokens[opinion.position])
            for opinion in draft.opinions
            if opinion.position <= accepted
        )
        self._policy.observe(Round(draft.drafter, draft.marks, accepted, chosen, tail, length, draft.steps, judged))
        self._finished = STOPPED if stopped else LENGTH if self.remaining == 0 else None
        return Committed(tokens, accepted, self._finished, chosen_logprobs(masked, tokens))

    def finish(self, reason: str, keep: int | None = None) -> None:
        """End it from outside (the text ended here). `keep` is how many generated tokens stay, by default all."""
        if keep is not None:
            if not 0 <= keep <= len(self.generated):
                raise GenerationError(f"cannot keep {keep} of {len(self.generated)} generated tokens")
            del self._tokens[self._prompt_length + keep :]
        self._finished = reason
        self._pending = None

    def _draft(self, limit: int, tail: int) -> Draft:
        if limit < 1 or not self._drafters:
            return NO_DRAFT
        by_name = {drafter.name: drafter for drafter in self._drafters}
        drafts: dict[str, Draft] = {}
        offers: list[Offer] = []
        model = self._adviser()
        outlook = None if model is None else self._policy.outlook(tail, len(self._tokens))
        for name, drafter in by_name.items():
            if drafter.free:
                draft = drafts[name] = self._longest(self._ask(drafter, limit), limit)
                if draft.tokens:
                    offers.append(Offer(name, draft.marks))
            elif self.counters.passes > 0 and outlook is None:
                offers.append(Offer(name, by_position(name, limit)))
        choice = self._policy.choose(offers, tail, len(self._tokens))
        if model is not None and outlook is not None:
            first = choice.drafter or (offers[0].drafter if offers else "")
            return advised(model, self._request(limit), drafts.get(first, NO_DRAFT), self._guesses(limit), outlook)
        if choice.k == 0:
            return NO_DRAFT
        if choice.drafter in drafts:
            return drafts[choice.drafter].head(choice.k)
        return self._ask(by_name[choice.drafter], choice.k)

    def _adviser(self) -> ModelDrafter | None:
        """The model that single tokens of this round may be asked of."""
        if self.counters.passes == 0 or not self._sampling.greedy:
            return None
        return next((drafter for drafter in self._drafters if isinstance(drafter, ModelDrafter)), None)

    def _guesses(self, limit: int) -> Behind:
        """What the first free drafter that knows any puts behind drafted tokens."""

        def behind(drafted: Sequence[int]) -> Draft:
            k = min(_AHEAD, limit - len(drafted))
            found = (self._ask(drafter, k, drafted) for drafter in self._drafters if drafter.free)
            return next((draft for draft in found if draft.tokens), NO_DRAFT)

        return behind

    def _longest(self, draft: Draft, limit: int) -> Draft:
        """The draft with what other free drafters put behind it, up to `limit` tokens: the first that knows more.

        What was cut off the prompt or is left of a suggestion is often short; the file may know what follows on it.
        """
        name = draft.drafter
        while 0 < len(draft.tokens) < limit and draft.probs is None and draft.tokens[-1] not in self._stop_ids:
            others = (drafter for drafter in self._drafters if drafter.free and drafter.name != name)
            asked = (self._ask(drafter, limit - len(draft.tokens), draft.tokens) for drafter in others)
            more = next((found for found in asked if found.tokens and found.probs is None), None)
            if more is None:
                break
            draft, name = draft.then(more), more.drafter
        return draft

    def _ask(self, drafter: Drafter, k: int, behind: Sequence[int] = ()) -> Draft:
        """At most k usable tokens to follow the committed ones and `behind`."""
        return self._usable(drafter.propose(self._request(k, behind)), k, behind)

    def _usable(self, draft: Draft, limit: int, behind: Sequence[int]) -> Draft:
        """The head of the draft that can be of use.

        It ends with the first stop token, and a deterministic draft before the first token that cannot be chosen. A
        sampled one must not be cut for such a token: leaving out what was drawn would change the distribution.
        """
        draft = draft.head(limit)
        so_far = [*self.generated, *behind]
        for i, token in enumerate(draft.tokens):
            if draft.probs is None and not self._possible(token, so_far):
                return draft.head(i)
            if token in self._stop_ids:
                return draft.head(i + 1)
            so_far.append(token)
        return draft

    def _possible(self, token: int, so_far: Sequence[int]) -> bool:
        if not 0 <= token < self._vocab_size:
            return False
        allowed = self._constraint.allowed(so_far) if self._constraint else None
        return allowed is None or bool((allowed == token).any())

    def _request(self, k: int, behind: Sequence[int] = ()) -> DraftRequest:
        return DraftRequest(
            tokens=[*self._tokens, *behind] if behind else self._tokens,
            prompt_length=self._prompt_length,
            k=k,
            vocab_size=self._vocab_size,
            sampling=self._sampling,
            stop_ids=self._stop_ids,
            constraint=self._constraint,
            randomness=self._draft_randomness,
            cancelled=self._cancelled,
        )

    def _verify(self, logits: Tensor, draft: Draft) -> Verdict:
        if self._sampling.greedy:
            return verify_greedy(logits, draft.tokens)
        return verify_sampled(distribution(logits, self._sampling), draft.tokens, draft.probs, self._randomness)

    def _until_stop(self, tokens: Sequence[int]) -> tuple[tuple[int, ...], bool]:
        for i, token in enumerate(tokens):
            if token in self._stop_ids:
                return tuple(tokens[:i]), True
        return tuple(tokens), False

    def _must_run(self) -> None:
        if self._finished is not None:
            raise GenerationError(f"this generation is finished ({self._finished})")
