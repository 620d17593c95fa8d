"""Decoder blocks compiled by torch, so that their many small operations become few kernels.

A stock block is about fifty kernels, most of them a microsecond or two of norms, rotations and additions; inside a
CUDA graph that is as long as reading the weights takes. Compiled are the blocks alone, each with a break at attention,
which is ours (`static_attention`) and differs by layer: so all blocks share what is compiled for one. It is compiled
for each shape that a pass has, while passes are prepared. Knows nothing of what a block computes.
"""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from transformers import AttentionInterface, PreTrainedModel

from completion_server.models import static_attention

SHAPES = 64  # as many shapes as there may be passes of; by itself torch gives up after 8


def compile_blocks(model: PreTrainedModel, backend: str = "inductor") -> None:
    """Have every block compiled when it is first called with a shape."""
    limits: Any = importlib.import_module("torch._dynamo.config")  # a second to load, for those who compile
    limits.recompile_limit = max(SHAPES, limits.recompile_limit)
    unseen = torch.compiler.disable(static_attention.static_attention)  # type: ignore[no-untyped-call]
    AttentionInterface.register(static_attention.NAME, unseen)
    for block in blocks(model):
        block.compile(dynamic=False, backend=backend)


def restore_blocks(model: PreTrainedModel) -> None:
    """Let the blocks run as they are again."""
    static_attention.register()
    for block in blocks(model):
        block._compiled_call_impl = None


@contextmanager
def compiled(model: PreTrainedModel, backend: str = "inductor") -> Iterator[None]:
    """For measurements: compiled inside, as it was outside."""
    compile_blocks(model, backend)
    try:
        yield
    finally:
        restore_blocks(model)


def blocks(model: PreTrainedModel) -> list[nn.Module]:
    """The modules that hold one attention each and stand behind one another."""
    lists: list[Any] = [m for m in model.modules() if isinstance(m, nn.ModuleList)]
    return list(max(lists, key=len, default=[]))
