import torch

from completion_server.kv.memory import KvMemory, KvShape

SHAPE = KvShape(layers=2, kv_heads=3, head_dim=4)


def make(slots: int = 2) -> KvMemory:
    return KvMemory(SHAPE, slots, capacity=5, dtype=torch.float32, device=torch.device("cpu"))


def test_bytes_are_counted_by_hand() -> None:
    memory = make()
    assert SHAPE.position_bytes(torch.float32) == 2 * 2 * 3 * 4 * 4  # keys and values, layers, heads, dim, bytes
    assert memory.slot_bytes == 192 * 384  # room for the shortest product of attention
    assert memory.allocated_bytes == 0
    memory.block(0)
    assert memory.allocated_bytes == memory.slot_bytes


def test_a_block_stays_where_it_is() -> None:
    memory = make()
    assert memory.block(1).data_ptr() == memory.block(1).data_ptr()


def test_copy_takes_the_head_and_nothing_else() -> None:
    memory = make()
    memory.block(0).fill_(1.0)
    memory.block(1).fill_(2.0)
    memory.copy(0, 1, 3)
    assert torch.equal(memory.block(1)[:, :, :, :3], torch.full((2, 2, 3, 3, 4), 1.0))
    assert torch.equal(memory.block(1)[:, :, :, 3:], torch.full((2, 2, 3, 381, 4), 2.0))


def test_hidden_states_go_where_keys_and_values_go() -> None:
    memory = KvMemory(SHAPE, 2, capacity=400, dtype=torch.float32, device=torch.device("cpu"), state_width=7)
    assert memory.slot_bytes == (192 + 7 * 4) * 448  # whole grains of 64
    memory.block(0).fill_(1.0)
    memory.states(0).fill_(3.0)
    memory.states(1).fill_(4.0)
    memory.copy(0, 1, 2)
    assert memory.states(1)[:, 0].tolist() == [3.0, 3.0] + [4.0] * 446
    assert memory.allocated_bytes == 2 * memory.slot_bytes
    memory.poison(1, 1)
    assert memory.states(1)[0, 0] == 3.0
    assert memory.states(1)[1:].isnan().all()
