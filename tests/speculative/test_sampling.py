import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from speculative.sampling import Sampling, SamplingError, distribution, restrict


def by_hand(logits: list[float], temperature: float, top_k: int = 0, top_p: float = 1.0) -> list[float]:
    """Temperature, top-k, top-p in plain Python."""
    kept = set(range(len(logits)))
    if top_k:
        smallest = sorted(logits, reverse=True)[:top_k][-1]
        kept = {i for i in kept if logits[i] >= smallest}
    weights = [math.exp((x - max(logits)) / temperature) if i in kept else 0.0 for i, x in enumerate(logits)]
    probs = [w / sum(weights) for w in weights]
    nucleus, reached = set(), 0.0
    for i in sorted(kept, key=lambda i: (-probs[i], i)):
        if reached >= top_p:
            break
        nucleus.add(i)
        reached += probs[i]
    left = sum(probs[i] for i in nucleus)
    return [probs[i] / left if i in nucleus else 0.0 for i in range(len(probs))]


@pytest.mark.parametrize(
    "bad",
    [
        {"temperature": -0.1},
        {"temperature": math.inf},
        {"temperature": math.nan},
        {"top_k": -1},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"top_p": math.nan},
    ],
)
def test_values_out_of_range_are_refused(bad):
    with pytest.raises(SamplingError):
        Sampling(**bad)


def test_temperature_halves_the_logits():
    probs = distribution(torch.tensor([0.0, math.log(9)], dtype=torch.float64), Sampling(temperature=2.0))
    assert probs.tolist() == pytest.approx([0.25, 0.75])  # weights 1 and sqrt(9)


def test_top_k_keeps_ties_and_renormalises():
    logits = torch.tensor([2.0, 1.0, 1.0, 0.0]).log()
    assert distribution(logits, Sampling(1.0, top_k=2)).tolist() == pytest.approx([0.5, 0.25, 0.25, 0.0])


def test_top_p_keeps_the_token_that_crosses_it():
    logits = torch.tensor([0.1, 0.5, 0.4]).log()
    assert distribution(logits, Sampling(1.0, top_p=0.6)).tolist() == pytest.approx([0.0, 5 / 9, 4 / 9])
    assert distribution(logits, Sampling(1.0, top_p=0.01)).tolist() == pytest.approx([0.0, 1.0, 0.0])


def test_among_equals_top_p_keeps_the_lower_ids():
    probs = distribution(torch.zeros(4_096, dtype=torch.float64), Sampling(1.0, top_p=0.25))
    assert probs.nonzero().flatten().tolist() == list(range(1_024))


def test_top_p_counts_what_top_k_left():
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()
    # After top-k 2 the first token has 4/7 = 0.571 and alone reaches 0.55; over all four it would not.
    assert distribution(logits, Sampling(1.0, top_k=2, top_p=0.55)).tolist() == pytest.approx([1.0, 0.0, 0.0, 0.0])


def test_greedy_is_the_first_argmax_even_of_infinite_logits():
    logits = torch.tensor([[1.0, 3.0, 3.0], [math.inf, 0.0, 0.0]])
    assert distribution(logits, Sampling()).tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]


def test_extreme_logits_do_not_overflow():
    logits = torch.tensor([3e38, 0.0, -3e38])
    assert distribution(logits, Sampling(temperature=0.001)).tolist() == [1.0, 0.0, 0.0]


def test_half_precision_is_widened():
    assert distribution(torch.zeros(4, dtype=torch.bfloat16), Sampling(1.0)).dtype == torch.float32
    assert distribution(torch.zeros(4, dtype=torch.bfloat16), Sampling()).dtype == torch.float32


def test_only_allowed_ids_have_weight_and_strangers_are_ignored():
    allowed = torch.tensor([0, 2, 99, -1])
    probs = distribution(torch.zeros(2, 4), Sampling(1.0), allowed)
    assert probs.tolist() == [[0.5, 0.0, 0.5, 0.0]] * 2
    assert distribution(torch.tensor([0.0, 9.0, 1.0]), Sampling(), allowed).argmax() == 2


def test_a_mask_without_ids_does_not_block():
    logits = torch.arange(3.0)
    assert torch.equal(restrict(logits, torch.tensor([7])), logits)


@given(
    st.lists(st.integers(-6, 6), min_size=2, max_size=8),
    st.floats(0.2, 3.0),
    st.integers(0, 9),
    st.sampled_from([0.05, 0.333, 0.71, 0.95, 1.0]),
)
def test_it_equals_plain_arithmetic(logits, temperature, top_k, top_p):
    actual = distribution(torch.tensor(logits, dtype=torch.float64), Sampling(temperature, top_k, top_p))
    assert actual.tolist() == pytest.approx(by_hand(list(map(float, logits)), temperature, top_k, top_p))
