"""A trained draft as the tensors and the configuration that are shipped: small, and read by any safetensors library.

Matrices are int8 codes `[out, in]` with one float32 scale per row, `name` and `name_scale`; norms stay float32.
Embeddings and head are not in it, they are the target's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from speculative.distill.state_draft import StateDraft

MODEL_TYPE = "foretype-state-draft"
_LEVELS = 127


def tensors(draft: StateDraft) -> dict[str, Tensor]:
    """What goes into `model.safetensors`."""
    found: dict[str, Tensor] = {}
    for name, weight in draft.state_dict().items():
        weight = weight.detach().float().cpu()
        if weight.dim() == 1:
            found[name] = weight
            continue
        scale = weight.abs().amax(dim=1).clamp(min=torch.finfo(torch.float32).tiny) / _LEVELS
        found[name] = torch.round(weight / scale[:, None]).to(torch.int8)
        found[f"{name}_scale"] = scale
    return found


def configuration(draft: StateDraft, vocabulary: int, target: str, acceptance: Sequence[float]) -> dict[str, Any]:
    """What goes into `config.json`.

    `vocabulary` counts the tokens that the draft can say, `acceptance` is how often its first, second … is right.
    """
    return {
        "model_type": MODEL_TYPE,
        "target": target,
        "vocabulary": vocabulary,
        "blocks": len(draft.blocks),
        "acceptance": [round(share, 4) for share in acceptance],
        **asdict(draft.shape),
    }


def weights(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Matrices and norms in float32, from what `tensors` gave: a state of `StateDraft`."""
    return {
        name: stored[name].float() * stored[f"{name}_scale"][:, None] if f"{name}_scale" in stored else stored[name]
        for name in stored
        if not name.endswith("_scale")
    }
