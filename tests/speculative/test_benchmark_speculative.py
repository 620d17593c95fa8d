"""What a round costs on the host, beside the pass of the target."""

import torch

from speculative import FixedPolicy, Generation, NgramDrafter, PassCosts, Sampling, SeededRandomness, distribution
from speculative.draft import by_position
from speculative.policy import AdaptivePolicy, Offer
from speculative.verify import verify_greedy, verify_sampled

VOCAB = 32_000
TEXT = [(i * i + i // 7) % 997 for i in range(3_000)]


def test_ngram_lookup(benchmark):
    drafter = NgramDrafter()
    generation = Generation(
        TEXT, max_new_tokens=99, stop_ids=frozenset(), vocab_size=997, policy=FixedPolicy(8), drafters=[drafter]
    )
    assert benchmark(generation.propose, 8).tokens


def test_verify_greedy(benchmark):
    logits = torch.zeros(9, VOCAB)
    logits[:, 5] = 1
    assert benchmark(verify_greedy, logits, (5,) * 8).accepted == 8


def test_verify_sampled(benchmark):
    p = distribution(torch.zeros(5, VOCAB), Sampling(1.0))
    assert benchmark(verify_sampled, p, (1, 2, 3, 4), p[:4], SeededRandomness(0)).accepted == 4


def test_choose(benchmark):
    policy = AdaptivePolicy(PassCosts({1: 32.0, 8: 48.0, 16: 53.0}))
    assert benchmark(policy.choose, [Offer(name, by_position(name, 15)) for name in ("tail", "n-gram", "model")], 0).k
