"""`transformers` on the same weights: `generate`, plain and assisted, at the same forced acceptance.

Its best is taken: the prompt's cache is kept (a copy of it made before the clock starts), the stock attention, the
number of assistant tokens that does best, and of two lengths only the difference counts, so that the draft's prefill,
which it repeats in every call, is left out. Random weights have near ties that another kernel decides otherwise, so
a logits processor makes the target choose the known text; the assistant's passes run and its candidates are exchanged
afterwards, with the same chance as for ours.
"""

import copy
import inspect
from typing import Any, cast

import torch
from torch import Tensor
from transformers import LogitsProcessor, LogitsProcessorList, PreTrainedModel

from bench.gpu.rounds import ACCEPTANCES
from bench.gpu.stage import Stage
from bench.percentiles import median, ratio

ASSISTANT_TOKENS = (5, 8)
SURE = 1e4


class Text(LogitsProcessor):
    """Makes the model choose the known token at every position."""

    def __init__(self, text: Tensor) -> None:
        self._text = text

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        scores[:, self._text[input_ids.shape[1]]] += SURE
        return scores


class Exchanged:
    """A candidate generator whose candidates are exchanged after its passes have run; everything else is its own."""

    def __init__(self, inner: Any, text: Tensor, coins: Tensor, ids: int) -> None:
        self._inner, self._text, self._coins, self._ids = inner, text, coins, ids
        self.drafted = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def get_candidates(self, input_ids: Tensor, *args: Any, **options: Any) -> tuple[Tensor, Tensor | None]:
        found, logits = self._inner.get_candidates(input_ids, *args, **options)
        start, stop = input_ids.shape[1], found.shape[1]
        right = self._text[start:stop]
        found = found.clone()
        found[0, start:] = torch.where(self._coins[start:stop], right, (right + 1) % self._ids)
        return found, logits


class Peer:
    """One target with one assistant, a prompt and the text behind it."""

    def __init__(self, stage: Stage) -> None:
        sizes = stage.sizes
        self._stage = stage
        self._target = cast(Any, stage.target)  # transformers' types do not say what generation is made of
        self._draft = cast(Any, stage.draft)
        for model in (self._target, self._draft):
            model.set_attn_implementation("sdpa")
        tokens = stage.tokens(sizes.prompt + 2 * sizes.decoded + 64)
        self._text = torch.tensor(tokens, device=stage.device)
        self._coins = torch.zeros(len(tokens), dtype=torch.bool, device=stage.device)
        self._prompt = self._text[None, : sizes.prompt]
        self._argument = _cache_argument(self._target)
        self._cache = getattr(self._target(self._prompt[:, :-1], use_cache=True), self._argument)
        self._plain_generator = self._target._get_candidate_generator
        self._target._get_candidate_generator = self._exchanged

    def toss(self, acceptance: float) -> None:
        generator = torch.Generator().manual_seed(0)
        self._coins.copy_(torch.rand(len(self._coins), generator=generator) < acceptance)

    def first_token_ms(self) -> float:
        return self._generate_ms(1)

    def tokens_per_s(self, assistant_tokens: int = 0) -> float:
        """The speed between a short and a long run."""
        options: dict[str, Any] = {}
        if assistant_tokens:
            settings = self._draft.generation_config
            settings.num_assistant_tokens = assistant_tokens
            settings.num_assistant_tokens_schedule = "constant"
            settings.assistant_confidence_threshold = 0.0
            options["assistant_model"] = self._draft
        short, long = 4, 4 + self._stage.sizes.decoded // 2
        self._generate_ms(short, **options)
        pairs = [(self._generate_ms(short, **options), self._generate_ms(long, **options)) for _ in range(2)]
        took = min(max(after - before, 1e-3) for before, after in pairs)
        return 1e3 * (long - short) / took

    def _exchanged(self, *args: Any, **options: Any) -> Exchanged:
        inner = self._plain_generator(*args, **options)
        return Exchanged(inner, self._text, self._coins, self._stage.sizes.real_ids)

    def _generate_ms(self, count: int, **options: Any) -> float:
        cache = copy.deepcopy(self._cache)
        call = {
            self._argument: cache,
            "attention_mask": torch.ones_like(self._prompt),
            "max_new_tokens": count,
            "min_new_tokens": count,
            "do_sample": False,
            "pad_token_id": 0,
            "logits_processor": LogitsProcessorList([Text(self._text)]),
            **options,
        }
        outputs: list[Tensor] = []
        took = self._stage.ms(lambda: outputs.append(self._target.generate(self._prompt, **call)))
        expected = self._text[: outputs[0].shape[1]]
        if not torch.equal(outputs[0][0], expected):
            raise RuntimeError("transformers decoded another text than it was made to")
        return took


@torch.inference_mode()
def peers(stage: Stage) -> dict[str, Any]:
    """Tokens per second of plain and of assisted generation at each forced acceptance."""
    peer = Peer(stage)
    found: dict[str, Any] = {
        "first_token_ms": median([peer.first_token_ms() for _ in range(5)]),
        "plain_tokens_per_s": round(peer.tokens_per_s(), 1),
    }
    for acceptance in stage.within(ACCEPTANCES[::-1]):
        peer.toss(acceptance)
        speeds = {count: peer.tokens_per_s(count) for count in ASSISTANT_TOKENS}
        best = max(speeds, key=speeds.__getitem__)
        found[f"acceptance {acceptance}"] = {
            "assisted_tokens_per_s": round(speeds[best], 1),
            "assistant_tokens": best,
            "times_plain": ratio(speeds[best], found["plain_tokens_per_s"]),
        }
    return found


def _cache_argument(model: PreTrainedModel) -> str:
    """`cache` or, before transformers 5.19 or so, `past_key_values`."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
