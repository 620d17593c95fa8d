"""Drafts with a small language model, token by token."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from speculative.draft import NO_DRAFT, Draft, DraftRequest, Steps
from speculative.sampling import distribution, restrict


class DraftModel(Protocol):
    """One row of a causal language model that remembers what it was fed."""

    def sync(self, tokens: Sequence[int]) -> int:
        """Roll the row back to the longest prefix that it shares with `tokens`, and return how long that is.

        Never all of them: the last token is always fed again, because its logits are needed.
        """

    def extend(self, tokens: Sequence[int]) -> Tensor:
        """Feed `tokens` (at least one) and return the logits `[V]` behind the last."""


class ModelDrafter:
    """Proposes what a draft model says, greedily or sampled as the request asks.

    `vocab_size` counts the real ids of the draft model; logits behind them are padding. `output_ids` (int64 `[V']`,
    strictly ascending) says which token each row of a reduced output layer stands for; without it row i is token i.
    Drafted tokens and their `probs` `[k, V]` are in the target's ids either way, with 0 for what the draft cannot say.
    Where the constraint allows nothing that it can say, the draft ends.

    `expected` is how often its first, second … token in a row is right, as far as that is known beforehand.

    A long context is fed in chunks of `chunk` tokens, and `cancelled` is asked before every pass: then what is there
    already is returned.
    """

    free = False

    def __init__(
        self,
        model: DraftModel,
        vocab_size: int,
        *,
        output_ids: Tensor | None = None,
        name: str = "model",
        chunk: int = 256,
        expected: Sequence[float] = (0.7,),
    ) -> None:
        self.name = name
        self.expected = tuple(expected)
        self._model = model
        self._vocab_size = vocab_size
        self._output_ids = output_ids
        self._chunk = chunk

    def propose(self, request: DraftRequest) -> Draft:
        size = self._size(request.vocab_size)
        generated = list(request.tokens[request.prompt_length :])
        drafted: list[int] = []
        probs: list[Tensor] = []
        # The row still holds what it drafted last time. Where all of that was accepted, its own last token and the
        # target's are missing: this is where it is fed two tokens.
        feed: Sequence[int] = request.tokens[self._model.sync(request.tokens) :]
        while len(drafted) < request.k:
            allowed = request.constraint.allowed(generated + drafted) if request.constraint else None
            rows = None if allowed is None else self._rows(allowed, size)
            if rows is not None and rows.numel() == 0:
                break
            logits = self._feed(feed, request)
            if logits is None:
                break
            logits = logits[:size]
            if request.sampling.greedy:
                row = int(restrict(logits, rows).argmax())
            else:
                chances = distribution(logits, request.sampling, rows)
                row = request.randomness.draw(chances)
                probs.append(self._by_token(chances, request.vocab_size))
            drafted.append(row if self._output_ids is None else int(self._output_ids[row]))
            if drafted[-1] in request.stop_ids:
                break
            feed = drafted[-1:]
        if not drafted:
            return NO_DRAFT
        steps = Steps(self.name, len(drafted))
        return Draft(tuple(drafted), self.name, torch.stack(probs) if probs else None, steps=steps)

    def consult(self, request: DraftRequest) -> "Consultation":
        """For single tokens behind `request.tokens` and whatever is drafted then."""
        return Consultation(self, self._model.sync(request.tokens), request)

    def say(self, feed: Sequence[int], request: DraftRequest, drafted: Sequence[int]) -> tuple[int, float] | None:
        """Feed `feed`, the last of `drafted` among them: the likeliest token that may follow, and its probability.

        None where nothing may that the model can say, or the request was cancelled.
        """
        size = self._size(request.vocab_size)
        allowed = request.allowed(drafted)
        rows = None if allowed is None else self._rows(allowed, size)
        if rows is not None and rows.numel() == 0:
            return None
        logits = self._feed(feed, request)
        if logits is None:
            return None
        p, row = restrict(logits[:size], rows).softmax(-1).max(-1)
        return int(row) if self._output_ids is None else int(self._output_ids[row]), float(p)

    def _size(self, vocab_size: int) -> int:
        """How many rows stand for tokens that the target may emit: the first ones, because the ids ascend."""
        if self._output_ids is None:
            return min(self._vocab_size, vocab_size)
        return int(torch.searchsorted(self._output_ids, vocab_size))

    def _rows(self, allowed: Tensor, size: int) -> Tensor:
        """The rows of `allowed` tokens."""
        if self._output_ids is None:
            return allowed[(allowed >= 0) & (allowed < size)]
        return torch.isin(self._output_ids[:size], allowed.to(self._output_ids.device)).nonzero().flatten()

    def _by_token(self, chances: Tensor, vocab_size: int) -> Tensor:
        """Probabilities by row as probabilities by token."""
        if self._output_ids is None:
            return chances
        return chances.new_zeros(vocab_size).index_copy(0, self._output_ids[: len(chances)], chances)

    def _feed(self, tokens: Sequence[int], request: DraftRequest) -> Tensor | None:
        """Logits `[V]` behind the last of `tokens`, or `None` if the request was cancelled on the way."""
        logits = None
        for start in range(0, len(tokens), self._chunk):
            if request.cancelled():
                return None
            logits = self._model.extend(tokens[start : start + self._chunk])
        return logits


class Consultation:
    """Asks a model for one token now and then, while somebody else drafts. It is fed what was drafted in between."""

    def __init__(self, drafter: ModelDrafter, fed: int, request: DraftRequest) -> None:
        self._drafter = drafter
        self._fed = fed
        self._request = request

    def missing(self, drafted: Sequence[int]) -> int:
        """Steps that it takes to be asked behind `drafted`: tokens it was not fed, not counting the prompt's."""
        return len(drafted) + 1 - max(0, self._fed - len(self._request.tokens) + 1)

    def ask(self, drafted: Sequence[int]) -> tuple[int, float] | None:
        """The token behind `drafted` and its probability; None as in `ModelDrafter.say`."""
        tokens = self._request.tokens
        feed = [*tokens[self._fed :], *drafted[max(0, self._fed - len(tokens)) :]]
        said = self._drafter.say(feed, self._request, drafted)
        self._fed += len(feed)
        return said
