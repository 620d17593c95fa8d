"""What a model will need of memory, estimated from its folder before anything of it is loaded."""

from dataclasses import dataclass
from math import prod
from pathlib import Path

from safetensors import safe_open
from transformers import AutoConfig

from completion_server.models.device import Arithmetic
from completion_server.models.state_draft import is_state_draft

_PEAK = 1.25  # while a model is loaded parts of it are there twice: as they were read, and as they are computed with


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes: of all weights at the peak of loading, and of keys and values for each token of context."""

    weights: int
    position: int


def footprint(folder: Path, arithmetic: Arithmetic) -> Footprint:
    """Of the model in `folder`. A checkpoint that is quantized already counts by its files."""
    files = sorted(folder.glob("*.safetensors"))
    if is_state_draft(folder):
        return Footprint(int(_PEAK * sum(map(_elements, files)) * arithmetic.dtype.itemsize), 0)
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    if getattr(config, "quantization_config", None):
        weights = sum(file.stat().st_size for file in files)
    else:
        weights = sum(map(_elements, files)) * arithmetic.dtype.itemsize
    text = config.get_text_config()
    heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    width = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    return Footprint(int(_PEAK * weights), 2 * text.num_hidden_layers * heads * width * arithmetic.dtype.itemsize)


def _elements(file: Path) -> int:
    with safe_open(file, framework="pt") as tensors:
        return sum(prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118
