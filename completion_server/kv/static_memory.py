"""Keys and values of all slots in one allocation, at addresses that a captured pass can know.

A CUDA graph reads and writes at fixed addresses, so a pass over R rows always works on the first R *places*, and a
slot that is to take part is moved there first. The other way, to hand the pass slot numbers and gather, would copy
every row's keys and values in every pass: for a 7B model at 4,096 tokens that is 0.24 GB read and written again beside
15 GB of weights, about 3 % of each pass, where a move costs the same once and only when another document begins. One
place more than there are slots keeps the moves to two copies.

Masked entries get the weight 0, and 0 · NaN is NaN, so memory begins as zeros and what is stale must be finite.
With `eight_bit` keys and values are int8 with one scale per token and head ("vector-wise", Dettmers et al., LLM.int8(),
2022): half the bytes of bf16. Knows nothing of models or graphs.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch import Tensor

from completion_server.kv.memory import KvMemory, KvShape

GRAIN = 256  # cells of a place come in multiples of this, so that long contexts can be summed up in equal parts
SMALL_GRAIN = 32
GARBAGE = 1e4
LEVELS = 127


class StaticMemory(KvMemory):
    """`[layers, 2, places, kv_heads, cells, head_dim]`. The last cell of a place is scratch: padding writes there."""

    def __init__(
        self,
        shape: KvShape,
        slots: int,
        capacity: int,
        dtype: torch.dtype,
        device: torch.device,
        *,
        eight_bit: bool = False,
    ) -> None:
        super().__init__(shape, slots, capacity, dtype, device)
        self.places = slots + 1
        self.cells = cells_for(capacity)
        size = (shape.layers, 2, self.places, shape.kv_heads, self.cells)
        self.data = torch.zeros(*size, shape.head_dim, dtype=torch.int8 if eight_bit else dtype, device=device)
        self.scales = torch.zeros(size, dtype=dtype, device=device) if eight_bit else None
        self.prepared: dict[Hashable, Any] = {}  # passes that were made for these addresses; they go with the memory
        self._head_offsets = torch.arange(shape.kv_heads, device=device) * self.cells
        self._place_of = list(range(slots))
        self._slot_at: list[int | None] = [*range(slots), None]
        self._lengths = [0] * slots

    @property
    def scratch(self) -> int:
        """The cell that padding is written to; never read, for it lies behind every length."""
        return self.cells - 1

    def base(self, place: int) -> int:
        """The number of the first cell of a place, as `write` counts them."""
        return place * self.shape.kv_heads * self.cells

    def bring(self, slots: Sequence[int], rows: int) -> list[int]:
        """Move `slots` into the first `rows` places, if they are elsewhere, and return the place of each."""
        for slot in slots:
            if self._place_of[slot] >= rows:
                self._move(slot, self._vacate(rows, slots))
        return [self._place_of[slot] for slot in slots]

    def written(self, slot: int, length: int) -> None:
        """The first `length` positions of the slot count now; whatever lies behind them need not be moved."""
        self._lengths[slot] = length

    def write(self, layer: int, cells: Tensor, key: Tensor, value: Tensor) -> None:
        """Store `key` and `value` `[kv_heads, T, head_dim]` at `cells` `[T]` (`base` + position), on the device."""
        index = (cells[:, None] + self._head_offsets).reshape(-1)
        for part, new in enumerate((key, value)):
            rows = new.transpose(0, 1).reshape(-1, self.shape.head_dim)
            if self.scales is None:
                self.data[layer, part].view(-1, self.shape.head_dim).index_copy_(0, index, rows)
            else:
                codes, scale = quantize(rows)
                self.data[layer, part].view(-1, self.shape.head_dim).index_copy_(0, index, codes)
                self.scales[layer, part].view(-1).index_copy_(0, index, scale)

    def read(self, layer: int, part: int, rows: int, length: int) -> tuple[Tensor, Tensor | None]:
        """Keys (`part` 0) or values (1) of the first rows, `[rows · kv_heads, length, head_dim]`, a view.

        In eight bits these are codes; the scales `[rows · kv_heads, 1, length]` come with them.
        """
        held = self.data[layer, part, :rows, :, :length].flatten(0, 1)
        if self.scales is None:
            return held, None
        return held, self.scales[layer, part, :rows, :, :length].flatten(0, 1).unsqueeze(1)

    # -- what every KV memory can do -------------------------------------------------------------------------------

    def block(self, slot: int) -> Tensor:
        """The slot's block as it lies here. It is elsewhere after the slot was moved."""
        if self.scales is not None:
            raise ValueError("a memory of eight bits holds no plain keys and values")
        return self.data[:, :, self._place_of[slot], :, : self.capacity]

    @torch.inference_mode()
    def copy(self, source: int, target: int, length: int) -> None:
        self._copy(self._place_of[source], self._place_of[target], length)
        self._lengths[target] = length

    @torch.inference_mode()
    def poison(self, slot: int, start: int) -> None:
        """Fill the positions from `start` on, scratch included, with large numbers (not NaN, see above)."""
        place = self._place_of[slot]
        self.data[:, :, place, :, start:].fill_(LEVELS if self.scales is not None else GARBAGE)
        if self.scales is not None:
            self.scales[:, :, place, :, start:].fill_(GARBAGE)

    @property
    def allocated_bytes(self) -> int:
        return sum(part.numel() * part.element_size() for part in (self.data, self.scales) if part is not None)

    @property
    def slot_bytes(self) -> int:
        return self.allocated_bytes // self.places

    # -- moving ----------------------------------------------------------------------------------------------------

    def _vacate(self, rows: int, staying: Sequence[int]) -> int:
        """A place among the first `rows` that holds nothing any more."""
        place = next(p for p in range(rows) if self._slot_at[p] is None or self._slot_at[p] not in staying)
        other = self._slot_at[place]
        if other is not None:
            self._move(other, self._slot_at.index(None))
        return place

    def _move(self, slot: int, place: int) -> None:
        old = self._place_of[slot]
        self._copy(old, place, self._lengths[slot])
        self._slot_at[old], self._slot_at[place] = None, slot
        self._place_of[slot] = place

    def _copy(self, old: int, new: int, length: int) -> None:
        if length and old != new:
            self.data[:, :, new, :, :length].copy_(self.data[:, :, old, :, :length])
            if self.scales is not None:
                self.scales[:, :, new, :, :length].copy_(self.scales[:, :, old, :, :length])


def cells_for(capacity: int) -> int:
    """Cells of a place for `capacity` tokens: one more for scratch, rounded up."""
    grain = GRAIN if capacity >= GRAIN else SMALL_GRAIN
    return -(-(capacity + 1) // grain) * grain


def quantize(rows: Tensor) -> tuple[Tensor, Tensor]:
    """int8 codes `[N, d]` and scales `[N]`, so that codes · scale ≈ `rows`, off by at most half a scale."""
    least = torch.finfo(rows.dtype).tiny
    scale = rows.abs().amax(dim=1).div(LEVELS).clamp(min=least)
    codes = rows.div(scale[:, None]).round_().clamp_(-LEVELS, LEVELS).to(torch.int8)
    return codes, scale
