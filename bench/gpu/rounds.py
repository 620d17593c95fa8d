"""Parts about decoding: rounds of draft and verification at a forced acceptance, the first token, a line of 20.

Random models agree with nobody, so the acceptance is forced: when the draft's passes have run, its tokens are
exchanged on the device for the target's own next ones, each with the chance that is asked for, else for wrong ones. The
target's own are known from a plain run, which is also what every other run must repeat token for token.
"""

from typing import Any

import torch
from torch import Tensor

from bench.gpu.stage import ONE_BUCKET, Stage
from bench.percentiles import median, ratio, summary
from completion_server.models.decoder import Feed
from completion_server.models.device_round import DeviceRound, Side
from completion_server.models.pieces import Plan

ACCEPTANCES = (0.6, 0.7, 0.8, 0.9)
DRAFTED = (3, 5, 7, 11, 15)
TAIL = 3  # tokens that a key leaves to be computed
LINE_ACCEPTANCE = 0.8
_SLACK = 32


class Forced:
    """The target's text, plainly decoded behind a random prompt, and coins that say which drafted tokens are right."""

    def __init__(self, stage: Stage) -> None:
        sizes = stage.sizes
        self.stage = stage
        self.prompt = stage.tokens(sizes.prompt)
        capacity = sizes.prompt + sizes.decoded + _SLACK
        target = stage.decoder(stage.target, Plan((16,), (256,), (1,), ONE_BUCKET))
        draft = stage.decoder(stage.draft, Plan((1, 2, 16), (256,), (1,), ONE_BUCKET))
        self.target, self.draft = (Side(decoder, decoder.memory(1, capacity)) for decoder in (target, draft))
        for side in (self.target, self.draft):
            side.decoder.prepare(side.memory)
            side.decoder.forward(side.memory, [Feed(0, 0, self.prompt[:-1], 0)])
        self.truth: list[int] = []
        self.plain_ms = stage.ms(self._decode_plainly)
        text = [*self.prompt, *self.truth, *[0] * (2 * _SLACK)]
        self._text = torch.tensor(text, device=stage.device)
        self._coins = torch.zeros(len(text), dtype=torch.bool, device=stage.device)

    def toss(self, acceptance: float, seed: int = 0) -> None:
        """Decide anew, for every position, whether a token drafted there will be right."""
        generator = torch.Generator().manual_seed(seed)
        self._coins.copy_(torch.rand(len(self._coins), generator=generator) < acceptance)

    def override(self, drafted: Tensor, position: Tensor) -> Tensor:
        places = position + torch.arange(len(drafted), device=drafted.device)
        right = self._text.index_select(0, places)
        return torch.where(self._coins.index_select(0, places), right, (right + 1) % self.stage.sizes.real_ids)

    def rounds(self, drafted: int) -> DeviceRound:
        made = DeviceRound(
            self.target,
            self.draft,
            drafted=drafted,
            vocab_size=self.stage.sizes.real_ids,
            override=self.override,
        )
        made.prepare()
        return made

    def _decode_plainly(self) -> None:
        token = self.prompt[-1]
        for at in range(len(self.prompt) - 1, len(self.prompt) - 1 + self.stage.sizes.decoded):
            (logits,) = self.target.decoder.forward(self.target.memory, [Feed(0, at, [token], 1)])
            token = int(logits[0, : self.stage.sizes.real_ids].argmax())
            self.truth.append(token)


def rounds(stage: Stage) -> dict[str, Any]:
    """Tokens per second at each forced acceptance and number of drafted tokens, and whether the text is the same."""
    forced = Forced(stage)
    count = len(forced.truth) - max(DRAFTED) - 1
    plain = 1e3 * len(forced.truth) / forced.plain_ms
    found: dict[str, Any] = {"plain_tokens_per_s": round(plain, 1)}
    for drafted in stage.within(DRAFTED):
        made = forced.rounds(drafted)
        by_acceptance: dict[str, Any] = {}
        for acceptance in stage.within(ACCEPTANCES):
            forced.toss(acceptance)
            text, passes, took = _decode(stage, forced, made, max(1, count))
            speed = 1e3 * len(text) / took
            by_acceptance[f"acceptance {acceptance}"] = {
                "tokens_per_s": round(speed, 1),
                "times_plain": ratio(speed, plain),
                "tokens_per_round": ratio(len(text), passes),
                "round_ms": round(took / passes, 3),
                "same_text": text == forced.truth[: len(text)],
            }
        found[f"drafted {drafted}"] = by_acceptance
    return found


def _decode(stage: Stage, forced: Forced, made: DeviceRound, count: int) -> tuple[list[int], int, float]:
    """Tokens, rounds and milliseconds of decoding at least `count` tokens behind the prompt."""
    text: list[int] = []
    passes = 0

    def decode() -> None:
        nonlocal passes
        made.begin(0, forced.prompt)
        while len(text) < count:
            text.extend(made.round())
            passes += 1

    took = stage.ms(decode)
    return text, passes, took


def line(stage: Stage) -> dict[str, Any]:
    """A warm key: the first token, and a line of tokens at an acceptance of 0.8, from the key to the last token."""
    forced = Forced(stage)
    prompt, length = forced.prompt, stage.sizes.line
    found: dict[str, Any] = {"tokens": length, "acceptance": LINE_ACCEPTANCE}
    for drafted in stage.within((7, 5, 11)):
        made = forced.rounds(drafted)
        first_ms, line_ms, same = [], [], True
        for sample in stage.within(range(stage.sizes.samples)):
            forced.toss(LINE_ACCEPTANCE, seed=sample)
            text: list[int] = []

            def first(text: list[int] = text) -> None:
                feed = Feed(0, len(prompt) - TAIL, prompt[-TAIL:], 1)
                (logits,) = forced.target.decoder.forward(forced.target.memory, [feed])
                text.append(int(logits[0, : stage.sizes.real_ids].argmax()))

            def rest(text: list[int] = text, made: DeviceRound = made) -> None:
                forced.draft.decoder.forward(forced.draft.memory, [Feed(0, len(prompt) - TAIL, prompt[-TAIL:], 0)])
                made.begin(0, [*prompt, *text])
                while len(text) < length:
                    text.extend(made.round())

            first_ms.append(stage.ms(first))
            line_ms.append(first_ms[-1] + stage.ms(rest))
            same = same and text[:length] == forced.truth[:length]
        found[f"drafted {drafted}"] = {
            "first_token_ms": summary(first_ms),
            "line_ms": summary(line_ms),
            "same_text": same,
            "samples": len(line_ms),
        }
    return found


def step(stage: Stage) -> dict[str, Any]:
    """A round taken apart: what the drafts cost on top of the target's pass, per drafted token."""
    forced = Forced(stage)
    took: dict[int, float] = {}
    for drafted in stage.within((1, 8, 15)):
        made = forced.rounds(drafted)
        made.begin(0, forced.prompt)
        samples = []
        for _ in range(stage.sizes.repeats):
            made.begin(0, forced.prompt)
            samples.append(stage.ms(made.round))
        took[drafted] = median(samples) or 0.0
    found: dict[str, Any] = {f"round_ms of {drafted} drafted": ms for drafted, ms in took.items()}
    if len(took) > 1:
        least, most = min(took), max(took)
        found["draft_step_ms"] = round((took[most] - took[least]) / (most - least), 4)
    return found
