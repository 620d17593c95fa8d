"""Drafts with a small language model, token by token."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from speculative.draft import NO_DRAFT, Draft, DraftRequest
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

    `vocab_size` counts the real ids of the draft model; logits behind them are padding. A long context is fed in
    chunks of `chunk` tokens, and `cancelled` is asked before every pass: then what is there already is returned.
    """

    free = False

    def __init__(self, model: DraftModel, vocab_size: int, *, name: str = "model", chunk: int = 256) -> None:
        self.name = name
        self._model = model
        self._vocab_size = vocab_size
        self._chunk = chunk

    def propose(self, request: DraftRequest) -> Draft:
        generated = list(request.tokens[request.prompt_length :])
        drafted: list[int] = []
        probs: list[Tensor] = []
        # The row still holds what it drafted last time. Where all of that was accepted, its own last token and the
        # target's are missing: this is where it is fed two tokens.
        feed: Sequence[int] = request.tokens[self._model.sync(request.tokens) :]
        while len(drafted) < request.k:
            logits = self._feed(feed, request)
            if logits is None:
                break
            logits = logits[: min(self._vocab_size, request.vocab_size)]
            allowed = request.constraint.allowed(generated + drafted) if request.constraint else None
            if request.sampling.greedy:
                token = int(restrict(logits, allowed).argmax())
            else:
                probs.append(distribution(logits, request.sampling, allowed))
                token = request.randomness.draw(probs[-1])
            drafted.append(token)
            if token in request.stop_ids:
                break
            feed = (token,)
        if not drafted:
            return NO_DRAFT
        return Draft(tuple(drafted), self.name, torch.stack(probs) if probs else None)

    def _feed(self, tokens: Sequence[int], request: DraftRequest) -> Tensor | None:
        """Logits `[V]` behind the last of `tokens`, or `None` if the request was cancelled on the way."""
        logits = None
        for start in range(0, len(tokens), self._chunk):
            if request.cancelled():
                return None
            logits = self._model.extend(tokens[start : start + self._chunk])
        return logits
