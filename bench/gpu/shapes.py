"""Models with the shapes of real ones and random weights, made on the device in seconds: speed does not ask for sense.

The figures are those of the published configurations of Qwen2.5-Coder. All sizes get the padded vocabulary of the
largest, because `transformers` refuses a draft whose padding differs. Knows nothing of what is measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel, Qwen2Config


@dataclass(frozen=True, slots=True)
class Shape:
    """One model. `tied`: the output layer is the embedding."""

    name: str
    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    tied: bool

    def config(self, vocabulary: int, positions: int) -> Qwen2Config:
        return Qwen2Config(
            vocab_size=vocabulary,
            hidden_size=self.hidden,
            intermediate_size=self.inner,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            num_key_value_heads=self.kv_heads,
            max_position_embeddings=positions,
            tie_word_embeddings=self.tied,
            bos_token_id=None,
            eos_token_id=None,
            pad_token_id=None,
        )


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large everything is: `REAL`, or `TINY` for a dry run on a CPU."""

    target: Shape
    drafts: Mapping[str, Shape]
    vocabulary: int
    real_ids: int
    contexts: tuple[int, ...]  # tokens before the measured ones
    prompt: int  # tokens of the context for rounds, lines and peers
    first_bucket: int
    chunks: tuple[int, ...]
    cold: tuple[int, ...]
    decoded: int  # tokens per decoding run
    line: int
    repeats: int
    samples: int


REAL = Sizes(
    target=Shape("7b", 3584, 18_944, 28, 28, 4, tied=False),
    drafts=MappingProxyType(
        {
            "0.5b": Shape("0.5b", 896, 4864, 24, 14, 2, tied=True),
            "1.5b": Shape("1.5b", 1536, 8960, 28, 12, 2, tied=True),
        }
    ),
    vocabulary=152_064,
    real_ids=151_665,
    contexts=(1024, 4096, 8192),
    prompt=4096,
    first_bucket=1024,
    chunks=(128, 256, 512, 1024),
    cold=(1024, 4096),
    decoded=128,
    line=20,
    repeats=15,
    samples=40,
)
TINY = Sizes(
    target=Shape("7b", 64, 128, 2, 4, 2, tied=False),
    drafts=MappingProxyType(
        {"0.5b": Shape("0.5b", 32, 64, 1, 4, 2, tied=True), "1.5b": Shape("1.5b", 48, 64, 1, 4, 2, tied=True)}
    ),
    vocabulary=512,
    real_ids=400,
    contexts=(64, 256),
    prompt=64,
    first_bucket=64,
    chunks=(32, 64),
    cold=(64,),
    decoded=16,
    line=6,
    repeats=2,
    samples=2,
)


def make(shape: Shape, sizes: Sizes, device: torch.device, dtype: torch.dtype, seed: int) -> PreTrainedModel:
    """A model of that shape with weights that `transformers` draws, on the device."""
    torch.manual_seed(seed)
    config = shape.config(sizes.vocabulary, max(sizes.contexts) * 2)
    with device:
        model: PreTrainedModel = AutoModelForCausalLM.from_config(config, dtype=dtype)  # type: ignore[no-untyped-call]
    model.eval()  # type: ignore[no-untyped-call]
    return model
