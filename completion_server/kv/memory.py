"""The tensors that hold keys and values: one block per slot, preallocated, written in place.

Layout of a slot's block: `[layers, 2, kv_heads, positions, head_dim]`, so that attention reads one contiguous run per
head. A block is allocated when its slot is first used and lives until the pair is unloaded: nothing is copied when a
sequence grows. Knows nothing of tokens: `slots` says which positions are valid.

Where a draft model reads the target's last hidden states, they are kept beside the keys and values and are valid for
the same positions.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

# Attention may read a little behind the end, and hides it, so that its products have few shapes: `attention.attend`.
GRAIN = 64
SHORTEST_SUM = 384


def padded(positions: int) -> int:
    """`positions` rounded up to whole grains."""
    return -(-positions // GRAIN) * GRAIN


def allocated(capacity: int) -> int:
    """Positions that a slot of `capacity` tokens takes."""
    return max(SHORTEST_SUM, padded(capacity))


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
    """Keys and values of `slots` sequences of up to `capacity` tokens; hidden states too if `state_width` is not 0."""

    def __init__(
        self,
        shape: KvShape,
        slots: int,
        capacity: int,
        dtype: torch.dtype,
        device: torch.device,
        *,
        state_width: int = 0,
    ) -> None:
        self.shape = shape
        self.capacity = capacity
        self.dtype = dtype
        self.device = device
        self.state_width = state_width
        self._positions = allocated(capacity)
        self._blocks: list[Tensor | None] = [None] * slots
        self._states: list[Tensor | None] = [None] * slots

    def block(self, slot: int) -> Tensor:
        """The slot's block, `[layers, 2, kv_heads, positions, head_dim]`: whatever was written last."""
        block = self._blocks[slot]
        if block is None:
            shape = self.shape
            size = (shape.layers, 2, shape.kv_heads, self._positions, shape.head_dim)
            block = torch.empty(size, dtype=self.dtype, device=self.device)
            self._blocks[slot] = block
        return block

    def states(self, slot: int) -> Tensor:
        """The slot's hidden states, `[positions, state_width]`: whatever was written last."""
        states = self._states[slot]
        if states is None:
            states = torch.empty(self._positions, self.state_width, dtype=self.dtype, device=self.device)
            self._states[slot] = states
        return states

    @torch.inference_mode()
    def copy(self, source: int, target: int, length: int) -> None:
        """Copy the first `length` positions of one slot into another. Same positions, so the copy is exact."""
        if length:
            self.block(target)[:, :, :, :length].copy_(self.block(source)[:, :, :, :length])
            if self.state_width:
                self.states(target)[:length].copy_(self.states(source)[:length])

    @torch.inference_mode()
    def poison(self, slot: int, start: int) -> None:
        """Fill the positions from `start` on with NaN: tests use it to show that stale entries are never read."""
        self.block(slot)[:, :, :, start:].fill_(float("nan"))
        if self.state_width:
            self.states(slot)[start:].fill_(float("nan"))

    @property
    def allocated_bytes(self) -> int:
        tensors = [*self._blocks, *self._states]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors if tensor is not None)

    @property
    def slot_bytes(self) -> int:
        per_position = self.shape.position_bytes(self.dtype) + self.state_width * self.dtype.itemsize
        return per_position * self._positions
