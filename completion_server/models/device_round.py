"""A whole round of speculation on the device: k draft steps, one target pass, acceptance; one small copy to the host.

    last two committed tokens ─▶ draft, 2 wide ─▶ d1 ─▶ draft, 1 wide ─▶ d2 … dk
                              last, d1 … dk, padding ─▶ target, canonical width ─▶ argmax ─▶ how many agree
                              ◀─ the new last two tokens and their position stay on the device

All of it is one CUDA graph per KV bucket: the host launches it and reads k + 2 numbers. The draft's first step writes
the last but one token again. Where all drafts were accepted it has not seen that one yet, and where not, the same is
written to the same place: so nothing has to branch. Greedy only: masks of token healing, sampling and stop tokens are
decided on the host, with the logits of `StaticDecoder.forward`.

Rule: accept drafted tokens as long as each is the target's argmax (Leviathan et al., 2023, at temperature 0), which is
`speculative.verify_greedy`. Knows nothing of requests or text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from completion_server.kv.static_memory import StaticMemory
from completion_server.models.decoder import Feed
from completion_server.models.graphs import WARM_UPS, Run
from completion_server.models.pieces import at_least
from completion_server.models.static import StaticDecoder
from completion_server.models.static_pass import PassShape, padding, run_pass

Override = Callable[[Tensor, Tensor], Tensor]
"""Drafted tokens `[k]` and the position of the first → what is verified in their place. For benchmarks."""


@dataclass(frozen=True, slots=True)
class Side:
    """A model and the memory of its rows."""

    decoder: StaticDecoder
    memory: StaticMemory


class DeviceRound:
    """Rounds of `drafted` ≥ 1 tokens for one sequence at a time. `vocab_size` counts the ids that both models know.

    `begin` takes a sequence whose tokens but the last are in both memories. `override` exchanges drafted tokens on the
    device, after the draft's passes have run.
    """

    def __init__(
        self, target: Side, draft: Side, *, drafted: int, vocab_size: int, override: Override | None = None
    ) -> None:
        self._target, self._draft = target, draft
        self._k, self._vocab_size, self._override = drafted, vocab_size, override
        self._width = target.decoder.plan.narrow[-1]
        if not 1 <= drafted < self._width:
            raise ValueError(f"a target pass of {self._width} takes 1 to {self._width - 1} drafted tokens")
        device = target.decoder.device
        self._last_two = torch.zeros(2, dtype=torch.int64, device=device)
        self._position = torch.ones(1, dtype=torch.int64, device=device)  # of the last committed token
        self._runs: dict[int, Run] = {}
        self._slot = self._at = 0
        self._buckets = target.decoder.plan.buckets(min(target.memory.cells, draft.memory.cells))

    def prepare(self) -> None:
        """Record the round at every bucket. Writes into the last positions of place 0."""
        self._target.memory.bring([0], 1)
        self._draft.memory.bring([0], 1)
        for bucket in self._buckets:
            self._last_two.zero_()
            self._position.fill_(max(1, self._target.memory.capacity - (WARM_UPS + 1) * (self._k + 1)))
            self._runs[bucket] = self._target.decoder.graphs.record(self._run_at(bucket))

    def begin(self, slot: int, tokens: Sequence[int]) -> None:
        """Go on behind `tokens` (at least two) of `slot`. Their keys and values are there, but for the last token's."""
        self._slot, self._at = slot, len(tokens) - 1
        self._target.memory.bring([slot], 1)
        self._draft.memory.bring([slot], 1)
        self._set(list(tokens[-2:]))

    @torch.inference_mode()
    def round(self) -> list[int]:
        """Run one round; returns the committed tokens, at least one."""
        at = self._at
        bucket = at_least(self._buckets, at + 1)
        if at + self._k >= bucket or at + self._k >= self._target.memory.capacity:
            return [self._plain()]
        accepted, *best = self._runs.get(bucket, self._run_at(bucket))().tolist()
        self._at += accepted + 1
        self._target.memory.written(self._slot, self._at)
        self._draft.memory.written(self._slot, self._at)
        return best[: accepted + 1]

    def _plain(self) -> int:
        """One token without drafts: a round must not reach over the edge of a bucket (see `pieces`)."""
        target, draft, at = self._target, self._draft, self._at
        last_two = self._last_two.tolist()
        draft.decoder.forward(draft.memory, [Feed(self._slot, at - 1, last_two, 0)])
        (logits,) = target.decoder.forward(target.memory, [Feed(self._slot, at, last_two[1:], 1)])
        token = int(logits[0, : self._vocab_size].argmax())
        self._at += 1
        self._set([last_two[1], token])
        return token

    def _set(self, last_two: list[int]) -> None:
        self._last_two.copy_(torch.tensor(last_two))
        self._position.fill_(self._at)

    def _run_at(self, bucket: int) -> Run:
        width, k = self._width, self._k
        spare = padding(self._target.memory, PassShape(1, width, bucket))[:, k + 1 :]
        behind = torch.arange(k + 1, device=self._position.device)

        def run() -> Tensor:
            drafted = self._drafts(bucket)
            if self._override is not None:
                drafted = self._override(drafted, self._position + 1)
            fed = torch.cat([self._last_two[1:], drafted])
            positions = self._position + behind
            inputs = torch.cat([torch.stack([fed, positions, positions]), spare], dim=1)
            logits = run_pass(self._target.decoder.model, self._target.memory, PassShape(1, width, bucket), inputs)
            best = logits[: k + 1, : self._vocab_size].argmax(dim=-1)
            accepted = (drafted == best[:k]).long().cumprod(0).sum(0, keepdim=True)
            self._last_two.copy_(torch.cat([self._last_two[1:], best]).index_select(0, accepted + behind[:2]))
            self._position += accepted + 1
            return torch.cat([accepted, best])

        return run

    def _drafts(self, bucket: int) -> Tensor:
        """k greedy tokens of the draft, `[k]`. In place 0 the number of a cell is the position."""
        ids = self._last_two
        positions = torch.cat([self._position - 1, self._position])
        drafted = []
        for _ in range(self._k):
            inputs = torch.stack([ids, positions, positions])
            shape = PassShape(1, len(ids), bucket, logits=False)
            logits = run_pass(self._draft.decoder.model, self._draft.memory, shape, inputs)
            ids = logits[:, : self._vocab_size].argmax(dim=-1)
            positions = positions[-1:] + 1
            drafted.append(ids)
        return torch.cat(drafted)
