"""Tokens going in and coming out of a draft: the target's embeddings, and the rows of its head that the draft has."""

from dataclasses import dataclass

from torch import Tensor

from speculative.distill.target import Target


@dataclass(frozen=True, slots=True)
class Words:
    """`ids` `[V']` int64, strictly ascending: the tokens that the rows of `head` `[V', H]` stand for.

    `embeddings` `[V, H]` are those of all tokens. None of it is trained.
    """

    ids: Tensor
    head: Tensor
    embeddings: Tensor

    @classmethod
    def of(cls, target: Target, ids: Tensor) -> "Words":
        ids = ids.to(target.device)
        return cls(ids, target.head[ids].float(), target.embeddings.float())
