import torch

from speculative.distill.chains import draw
from speculative.distill.recording import Recording


def test_chains_are_consecutive_and_states_begin_one_position_before(recording: Recording) -> None:
    chains = draw(recording, torch.arange(16), 10, 3, own=0.5, generator=torch.Generator().manual_seed(0))
    assert chains.tokens.shape == (160, 3)
    assert chains.states.shape == (160, 4, 16)
    for index in range(0, 160, 7):
        tokens, states = recording.tokens[index // 10].long(), recording.states[index // 10]
        assert any(
            torch.equal(tokens[p : p + 3], chains.tokens[index])
            and torch.equal(states[p - 1 : p + 3], chains.states[index])
            for p in range(1, 18)
        )


def test_so_many_begin_where_the_target_wrote_itself(recording: Recording) -> None:
    recording.tokens[:] = torch.arange(20, dtype=torch.int32)  # a token says where it stands
    chains = draw(recording, torch.arange(16), 20, 2, own=0.25, generator=torch.Generator().manual_seed(0))
    starts = chains.tokens[:, 0].view(16, 20)
    own, given = starts[:, :5], starts[:, 5:]
    assert set(own.flatten().tolist()) == set(range(12, 19)), "12 tokens were given; a chain of 2 ends with token 19"
    assert set(given.flatten().tolist()) == set(range(1, 12)), "before token 0 there is no state"
