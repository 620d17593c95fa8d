"""Others that decode the same weights: transformers' `generate`, and a llama.cpp server named by its URL.

Each is given its best case: the cache of the prompt is kept from the key before, all but the last token. Knows nothing
of our engine but where the weights lie.
"""

import copy
import json
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from transformers import AutoTokenizer

from bench.percentiles import median
from bench.stock import cache_argument, cache_of, load_stock, pair_of
from completion_server import pull
from completion_server.errors import SettingsError
from completion_server.models.state_draft import is_state_draft
from completion_server.settings import EngineSettings

LOOKUP_TOKENS = 3


class Peer(Protocol):
    def decode(self, prompt: str, count: int) -> list[int]:
        """Decode `count` tokens behind `prompt`, whose cache is warm, and write down how long it took."""

    def first(self, prompt: str) -> None:
        """The first token behind `prompt`, which ends inside a line and whose cache is warm."""

    def cold(self, text: str, tokens: int) -> None:
        """The first token behind the first `tokens` tokens of `text`, nothing cached."""

    def encode(self, text: str) -> list[int]: ...

    def summary(self) -> dict[str, Any]:
        """What `Clock.summary` gives, and by which mode."""


@dataclass
class Clock:
    """Totals of one way of decoding. Times of first tokens: behind whole lines, inside a line, nothing cached."""

    tokens: int = 0
    seconds: float = 0.0
    warm_ttft_ms: list[float] = field(default_factory=list)
    inside_line_ttft_ms: list[float] = field(default_factory=list)
    cold_ttft_ms: list[float] = field(default_factory=list)

    @property
    def tokens_per_s(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0

    def add(self, tokens: int, seconds: float) -> None:
        self.tokens += tokens
        self.seconds += seconds

    def summary(self) -> dict[str, Any]:
        return {
            "tokens_per_s": round(self.tokens_per_s, 2),
            "warm_ttft_ms": median(self.warm_ttft_ms),
            "inside_line_ttft_ms": median(self.inside_line_ttft_ms),
            "cold_ttft_ms": median(self.cold_ttft_ms),
        }


def make_peer(name: str, settings: EngineSettings, threads: int) -> Peer:
    """`transformers` on the target of the pair in `settings` with so many threads, or the server at a URL.

    Raises SettingsError.
    """
    if name == "transformers":
        return TransformersPeer(settings, threads)
    if name.startswith(("http://127.0.0.1", "http://localhost", "http://[::1]")):
        return LlamaServerPeer(name.rstrip("/"))
    raise SettingsError(f"{name!r} is no peer: give transformers, or the URL of a llama.cpp server on this machine")


class TransformersPeer:
    """`generate` in fp32: plain, with prompt lookup, and assisted by a draft that transformers knows."""

    def __init__(self, settings: EngineSettings, threads: int) -> None:
        pair = pair_of(settings)
        folder = pull.locate(pair.target)
        self._model: Any = load_stock(folder)
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._threads = threads
        self._modes: dict[str, dict[str, Any]] = {
            "plain": {},
            "prompt-lookup": {"prompt_lookup_num_tokens": LOOKUP_TOKENS},
        }
        draft = None if pair.draft is None else pull.locate(pair.draft)
        if draft is not None and not is_state_draft(draft):
            self._modes["assisted"] = {"assistant_model": load_stock(draft)}
        self._clocks = {mode: Clock() for mode in self._modes}

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False).input_ids
        return ids

    @torch.inference_mode()
    def decode(self, prompt: str, count: int) -> list[int]:
        ids = self.encode(prompt)
        cache = self._cache(ids[:-1])
        outputs = {}
        for mode, options in self._modes.items():
            clock = self._clocks[mode]
            _, first = self._generate(ids, 1, cache, options)
            clock.warm_ttft_ms.append(1e3 * first)
            outputs[mode], seconds = self._generate(ids, count, cache, options)
            clock.add(len(outputs[mode]), seconds)
        return outputs["plain"]

    @torch.inference_mode()
    def first(self, prompt: str) -> None:
        ids = self.encode(prompt)
        cache = self._cache(ids[:-1])
        for mode, options in self._modes.items():
            _, seconds = self._generate(ids, 1, cache, options)
            self._clocks[mode].inside_line_ttft_ms.append(1e3 * seconds)

    @torch.inference_mode()
    def cold(self, text: str, tokens: int) -> None:
        _, seconds = self._generate(self.encode(text)[:tokens], 1, None, {})
        for clock in self._clocks.values():
            clock.cold_ttft_ms.append(1e3 * seconds)

    def summary(self) -> dict[str, Any]:
        best = max(self._clocks, key=lambda mode: self._clocks[mode].tokens_per_s)
        by_mode = {mode: round(clock.tokens_per_s, 2) for mode, clock in self._clocks.items()}
        return {**self._clocks[best].summary(), "mode": best, "tokens_per_s_by_mode": by_mode}

    def _cache(self, ids: Sequence[int]) -> Any:
        torch.set_num_threads(self._threads)  # our passes set their own
        return cache_of(self._model(torch.tensor([ids]), use_cache=True))

    def _generate(self, ids: Sequence[int], count: int, cache: Any, options: dict[str, Any]) -> tuple[list[int], float]:
        """Token ids and seconds. The cache is copied before the clock starts: `generate` writes into it."""
        if cache is not None:
            options = {**options, cache_argument(self._model): copy.deepcopy(cache)}
        torch.set_num_threads(self._threads)
        prompt = torch.tensor([ids])
        began = time.perf_counter()
        output = self._model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=count,
            min_new_tokens=count,
            do_sample=False,
            pad_token_id=0,
            **options,
        )
        return output[0, len(ids) :].tolist(), time.perf_counter() - began


class LlamaServerPeer:
    """A llama.cpp server: `/tokenize`, and `/completion` with `cache_prompt` on token ids.

    `ignore_eos` makes it decode as many tokens as it is asked for; the ids that it returns are what is counted.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._clock = Clock()

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._post("/tokenize", {"content": text, "add_special": False})["tokens"]
        return ids

    def decode(self, prompt: str, count: int) -> list[int]:
        ids = self.encode(prompt)
        self._clock.warm_ttft_ms.append(self._warm_first(ids))
        tokens, seconds = self._complete(ids, count)
        self._clock.add(len(tokens), seconds)
        return tokens

    def first(self, prompt: str) -> None:
        self._clock.inside_line_ttft_ms.append(self._warm_first(self.encode(prompt)))

    def cold(self, text: str, tokens: int) -> None:
        _, seconds = self._complete(self.encode(text)[:tokens], 1, cache_prompt=False)
        self._clock.cold_ttft_ms.append(1e3 * seconds)

    def summary(self) -> dict[str, Any]:
        return self._clock.summary()

    def _warm_first(self, ids: list[int]) -> float:
        self._complete(ids, 1)
        _, seconds = self._complete(ids, 1)
        return 1e3 * seconds

    def _complete(self, ids: list[int], count: int, *, cache_prompt: bool = True) -> tuple[list[int], float]:
        """Token ids and seconds."""
        body = {
            "prompt": ids,
            "n_predict": count,
            "temperature": 0.0,
            "cache_prompt": cache_prompt,
            "ignore_eos": True,
            "return_tokens": True,
        }
        began = time.perf_counter()
        reply = self._post("/completion", body)
        return reply["tokens"], time.perf_counter() - began

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(  # noqa: S310 (http to this machine, checked by `make_peer`)
            self._url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=300) as reply:  # noqa: S310
            return json.load(reply)
