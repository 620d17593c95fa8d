"""The tensors that hold keys and values: one block per slot, preallocated, written in place.

Layout of a slot's block: `[layers, 2, kv_heads, capacity, head_dim]`, so that attention reads one contiguous run per
head. A block is allocated when its slot is first used and lives until the pair is unloaded: nothing is copied when a
sequence grows. Knows nothing of tokens: `slots` says which positions are valid.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class KvShape:
    """What one position of one sequence needs."""

    layers: int
    kv_heads: int
    head_dim: int

    def position_bytes(self, dtype: torch.dtype) -> int:
        """Bytes of the keys and values of one token over all layers."""
        return 2 * self.layers * self.kv_heads * self.head_dim * dtype.itemsize


class KvMemory:
    """Keys and values of `slots` sequences of up to `capacity` tokens."""

    def __init__(self, shape: KvShape, slots: int, capacity: int, dtype: torch.dtype, device: torch.device) -> None:
        self.shape = shape
        self.capacity = capacity
        self.dtype = dtype
        self.device = device
        self._blocks: list[Tensor | None] = [None] * slots

    def block(self, slot: int) -> Tensor:
        """The slot's block, `[layers, 2, kv_heads, capacity, head_dim]`; its contents are whatever was written last."""
        block = self._blocks[slot]
        if block is None:
            shape = self.shape
            size = (shape.layers, 2, shape.kv_heads, self.capacity, shape.head_dim)
            block = torch.empty(size, dtype=self.dtype, device=self.device)
            self._blocks[slot] = block
        return block

    @torch.inference_mode()
    def copy(self, source: int, target: int, length: int) -> None:
        """Copy the first `length` positions of one slot into another. Same positions, so the copy is exact."""
        if length:
            self.block(target)[:, :, :, :length].copy_(self.block(source)[:, :, :, :length])

    @torch.inference_mode()
    def poison(self, slot: int, start: int) -> None:
        """Fill the positions from `start` on with NaN: tests use it to show that stale entries are never read."""
        self.block(slot)[:, :, :, start:].fill_(float("nan"))

    @property
    def allocated_bytes(self) -> int:
        return sum(b.numel() * b.element_size() for b in self._blocks if b is not None)

    @property
    def slot_bytes(self) -> int:
        return self.shape.position_bytes(self.dtype) * self.capacity
