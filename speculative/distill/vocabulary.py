"""Which tokens the draft can say: a small output layer costs little, and rare tokens are the target's business."""

import torch
from torch import Tensor


def frequent(tokens: Tensor, own: Tensor, size: int, vocab_size: int) -> Tensor:
    """Ids of the `size` most frequent tokens, int64, strictly ascending.

    `tokens` are those of the data, `own` what the target continued itself, which counts four times: that is what a
    draft must guess. Equally frequent tokens: the lower id, which byte-pair encoders gave to the more frequent one.
    """
    counts = torch.bincount(tokens.flatten().long(), minlength=vocab_size)
    counts += 4 * torch.bincount(own.flatten().long(), minlength=vocab_size)
    chosen = torch.sort(counts, descending=True, stable=True).indices[: min(size, vocab_size)]
    return chosen.sort().values


def coverage(ids: Tensor, tokens: Tensor) -> float:
    """Share of `tokens` that are among `ids`."""
    return torch.isin(tokens.flatten().long(), ids).float().mean().item()
