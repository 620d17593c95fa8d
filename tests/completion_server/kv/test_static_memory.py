"""Slots that move to the places a captured pass reads: nothing gets lost, whatever is brought where."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from completion_server.kv.memory import KvShape
from completion_server.kv.static_memory import StaticMemory, cells_for, quantize

SHAPE = KvShape(layers=2, kv_heads=2, head_dim=4)
CPU = torch.device("cpu")


def memory(slots: int = 3, **options: Any) -> StaticMemory:
    return StaticMemory(SHAPE, slots, 20, torch.float64, CPU, **options)


def fill(held: StaticMemory, slot: int, value: float, length: int) -> None:
    """Write `value` at the first positions of a slot, wherever it lies."""
    (place,) = held.bring([slot], held.places)
    cells = torch.arange(length) + held.base(place)
    new = torch.full((2, length, 4), value, dtype=torch.float64)
    for layer in range(2):
        held.write(layer, cells, new, -new)
    held.written(slot, length)


def test_cells_leave_room_for_scratch() -> None:
    assert cells_for(20) == 32
    assert cells_for(31) == 32
    assert cells_for(32) == 64
    assert cells_for(255) == 256
    assert cells_for(256) == 512


def test_a_slot_is_moved_to_where_it_is_wanted_and_the_other_makes_room() -> None:
    held = memory()
    for slot in range(3):
        fill(held, slot, float(slot + 1), 5)
    assert held.bring([2], 1) == [0]
    assert held.block(2)[0, 0, 1, 4, 3] == 3.0
    assert held.block(0)[1, 1, 0, 0, 0] == -1.0
    assert held.read(0, 0, rows=1, length=5)[0].unique().tolist() == [3.0]


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True), max_size=12))
def test_whatever_is_brought_every_slot_keeps_its_contents(calls: list[list[int]]) -> None:
    held = memory(slots=4)
    for slot in range(4):
        fill(held, slot, float(slot + 1), 3 + slot)
    for slots in calls:
        rows = 4 if len(slots) == 3 else len(slots)
        places = held.bring(slots, rows)
        assert sorted(set(places)) == sorted(places)
        assert max(places) < rows
        for slot, place in zip(slots, places, strict=True):
            keys, _ = held.read(1, 0, rows, 3 + slot)
            assert keys.view(rows, 2, -1)[place].unique().tolist() == [slot + 1.0]
    for slot in range(4):
        assert held.block(slot)[:, 0, :, : 3 + slot].unique().tolist() == [slot + 1.0]


def test_copies_are_exact_and_only_as_long_as_asked_for() -> None:
    held = memory()
    fill(held, 0, 7.0, 6)
    held.copy(0, 1, 4)
    assert held.block(1)[0, 0, 0, :, 0].tolist() == [7.0] * 4 + [0.0] * 16


def test_poison_is_finite_and_spares_what_is_valid() -> None:
    held = memory()
    fill(held, 1, 1.0, 3)
    held.poison(1, 3)
    keys = held.block(1)[0, 0, 0, :, 0]
    assert keys[:3].tolist() == [1.0] * 3
    assert (keys[3:] > 1000).all()
    assert held.data.isfinite().all()


def test_eight_bits_take_less_and_stay_close() -> None:
    rows = torch.randn(50, 64, dtype=torch.float32, generator=torch.Generator().manual_seed(0))
    codes, scale = quantize(rows)
    assert codes.dtype == torch.int8
    assert ((codes * scale[:, None] - rows).abs() <= 0.5001 * scale[:, None]).all()
    wide, narrow = (StaticMemory(KvShape(2, 2, 128), 1, 64, torch.bfloat16, CPU, eight_bit=e) for e in (False, True))
    assert narrow.allocated_bytes < 0.51 * wide.allocated_bytes
    with pytest.raises(ValueError, match="eight bits"):
        narrow.block(0)


def test_rows_of_zeros_survive_quantization() -> None:
    codes, scale = quantize(torch.zeros(2, 4, dtype=torch.bfloat16))
    assert not codes.any()
    assert scale.isfinite().all()
