"""One pass of fixed shape as a function of tensors on the device: nothing in it depends on a value the host knows.

That is what a CUDA graph may record, alone (`static`) or as a step of something longer (`device_round`). Knows nothing
of feeds or graphs.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedModel

from completion_server.kv.static_memory import StaticMemory
from completion_server.models.static_attention import StaticBatch


@dataclass(frozen=True, slots=True)
class PassShape:
    """`rows` rows of `width` tokens that read the first `bucket` cells of their places.

    With `logits` every token has its logits computed; without, which is for parts of prompts, the last one alone.
    """

    rows: int
    width: int
    bucket: int
    logits: bool = True

    @property
    def tokens(self) -> int:
        return self.rows * self.width


@torch.inference_mode()
def run_pass(model: PreTrainedModel, memory: StaticMemory, shape: PassShape, inputs: Tensor) -> Tensor:
    """Logits `[tokens, V]` (or `[1, V]`); keys and values are written.

    `inputs` is int64 `[3, tokens]` on the device: token ids, positions, cells (`StaticMemory.base` + position).
    """
    ids, positions, cells = inputs
    output = model(
        input_ids=ids[None],
        position_ids=positions[None],
        use_cache=False,
        logits_to_keep=0 if shape.logits else 1,
        ragged=StaticBatch(memory, shape.rows, shape.bucket, positions, cells),
    )
    logits: Tensor = output.logits[0]
    return logits


def padding(memory: StaticMemory, shape: PassShape) -> Tensor:
    """Inputs of a pass in which nothing is real: every token writes to the scratch cell of its row's place."""
    scratch = torch.tensor([memory.base(row) + memory.scratch for row in range(shape.rows)], device=memory.device)
    inputs = torch.zeros(3, shape.tokens, dtype=torch.int64, device=memory.device)
    inputs[2] = scratch.repeat_interleave(shape.width)
    return inputs
