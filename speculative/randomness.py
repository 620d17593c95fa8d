"""The two random decisions of speculative sampling, behind one interface.

Everything random in this library is either "accept with this probability" or "draw from these probabilities". A test
can therefore walk through every path with its exact probability, on the real code.
"""

import math
from typing import Protocol

import torch
from torch import Tensor

_REFILL = 64  # uniforms made at once; one call per number would cost more than the number


class Randomness(Protocol):
    """Where decisions come from: `SeededRandomness`, or a test that enumerates them."""

    def accept(self, probability: float) -> bool:
        """True with this probability (0..1)."""

    def draw(self, probs: Tensor) -> int:
        """An index of `probs` `[V]` with chance proportional to its value; never one whose value is 0."""


class SeededRandomness:
    """Repeatable decisions, the same on every device: all numbers are made on the CPU, in order.

    `stream` separates users of one seed, so that what a drafter consumes does not change what the target draws.
    """

    def __init__(self, seed: int, stream: int = 0) -> None:
        self._generator = torch.Generator().manual_seed((2 * seed + stream) % 2**63)
        self._uniforms: list[float] = []

    def accept(self, probability: float) -> bool:
        return self._uniform() < probability

    def draw(self, probs: Tensor) -> int:
        # MPS has no float64, and a float32 sum over a large vocabulary would shift probabilities visibly.
        cumulative = (probs.cpu() if probs.device.type == "mps" else probs).double().cumsum(0)
        total = float(cumulative[-1])
        # Below the total even after rounding: the first entry above it then always has weight of its own.
        threshold = min(self._uniform() * total, math.nextafter(total, 0.0))
        return int(torch.searchsorted(cumulative, threshold, right=True))

    def _uniform(self) -> float:
        """The next number in [0, 1), with 53 random bits."""
        if not self._uniforms:
            self._uniforms = torch.rand(_REFILL, dtype=torch.float64, generator=self._generator).tolist()[::-1]
        return self._uniforms.pop()
