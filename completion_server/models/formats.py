"""What a model weighs in each format, and how fast a pass can be at best: bytes read ÷ measured bandwidth.

At batch 1 every pass reads all weights once, but for the input embedding (a few rows of it); that is its floor.
Counted on an empty copy of the architecture, so that it also holds for checkpoints that are quantized already. Knows
nothing of how a format is computed with (`narrow_weights`, `int8`).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import nn
from transformers import AutoModelForCausalLM, PreTrainedConfig

BYTES: Mapping[str, float] = MappingProxyType(
    {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "int8": 1.0, "fp8": 1.0, "int4": 0.52}
)
"""Bytes per weight of the linear layers in the blocks. int4: groups of 128 with a 16-bit scale and 4-bit zero."""

OFFERED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"cuda": ("bfloat16", "int8", "fp8", "int4"), "cpu": ("float32", "bfloat16", "int8")}
)
_COPIED = {"cuda": 256 << 20, "cpu": 64 << 20}  # bytes; more than the caches hold
_COPIES = 5


@dataclass(frozen=True, slots=True)
class Weights:
    """Numbers of weights: linear layers in the blocks, input embedding, output layer (0 if tied), everything else."""

    linear: int
    embedding: int
    head: int
    other: int

    @property
    def total(self) -> int:
        return self.linear + self.embedding + self.head + self.other

    def held_bytes(self, form: str) -> float:
        """Bytes on the device. Only linear layers in blocks are narrowed; the rest is 16 bits wide, or 32 in fp32."""
        return self.linear * BYTES[form] + (self.total - self.linear) * max(2.0, BYTES[form])

    def read_bytes(self, form: str) -> float:
        """Bytes that a pass reads. An embedding that is the output layer too is read as that."""
        return self.held_bytes(form) - (self.embedding * max(2.0, BYTES[form]) if self.head else 0)


def count(config: PreTrainedConfig) -> Weights:
    """Count the weights of an architecture, without allocating any."""
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    embedding, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    tied = head is embedding or bool(getattr(config.get_text_config(), "tie_word_embeddings", False))
    linear = sum(m.weight.numel() for m in model.modules() if isinstance(m, nn.Linear) and m.weight is not head)
    outer = embedding.numel() + (0 if head is embedding else head.numel())
    other = sum(p.numel() for p in model.parameters()) - linear - outer
    return Weights(linear, embedding.numel(), 0 if tied else head.numel(), other)


def line(weights: Weights, form: str, bandwidth: float) -> str:
    """For a person: "7.6 B bfloat16: 15.2 GB, 14.1 GB read per pass, floor 3.3 ms at the measured 4.3 TB/s"."""
    read = weights.read_bytes(form)
    return (
        f"{_short(weights.total)} {form}: {weights.held_bytes(form) / 1e9:.1f} GB, {read / 1e9:.1f} GB read per pass, "
        f"floor {1e3 * read / bandwidth:.1f} ms at the measured {_speed(bandwidth)}"
    )


def table(config: PreTrainedConfig, device: torch.device, *also: str) -> dict[str, str]:
    """Format → line, for what can be had on the device and for those in `also` that are known. Takes a short copy."""
    weights, bandwidth = count(config), measure_bandwidth(device)
    return {form: line(weights, form, bandwidth) for form in (*OFFERED[device.type], *also) if form in BYTES}


@torch.inference_mode()
def measure_bandwidth(device: torch.device) -> float:
    """Bytes per second of the device's memory, read and written, as the best of a few copies shows it."""
    source = torch.zeros(_COPIED[device.type] // 4, dtype=torch.int32, device=device)
    target = torch.empty_like(source)
    best = float("inf")
    for _ in range(_COPIES):
        _wait(device)
        began = time.perf_counter()
        target.copy_(source)
        _wait(device)
        best = min(best, time.perf_counter() - began)
    return 2 * _COPIED[device.type] / best


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _short(count: int) -> str:
    return f"{count / 1e9:.1f} B" if count >= 0.95e9 else f"{count / 1e6:.0f} M"


def _speed(bandwidth: float) -> str:
    return f"{bandwidth / 1e12:.1f} TB/s" if bandwidth >= 0.95e12 else f"{bandwidth / 1e9:.1f} GB/s"
