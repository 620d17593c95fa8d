"""Loads a draft that goes on from the target's last hidden state, and runs its steps.

What is in its folder: `config.json`, `model.safetensors` (int8 rows with scales) and the map of its vocabulary.
Embeddings and the rows of the output layer are the target's. The arithmetic is that of `speculative.distill`, which
trained it; on a CPU its matrices are int8 as the target's are. Knows nothing of slots, requests or drafting.
"""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import PreTrainedModel

from completion_server.errors import PairMismatch, UnsupportedModel
from completion_server.models import int8, vocabulary
from completion_server.models.device import Arithmetic
from completion_server.models.tensor_files import Safetensors
from speculative.distill import Shape, StateDraft, artefact

WEIGHTS = "model.safetensors"


class StateDraftModel:
    """Scores the tokens `output_ids` `[V']` (int64, ascending) for what follows a token behind a state."""

    def __init__(self, draft: StateDraft, head: nn.Linear, embeddings: Tensor, output_ids: Tensor) -> None:
        self._network = nn.ModuleDict({"draft": draft, "head": head})
        self._embeddings = embeddings
        self.output_ids = output_ids

    def quantize(self) -> None:
        """Multiply in int8 from now on."""
        int8.quantize(self._network)

    @torch.inference_mode()
    def step(self, token: int, state: Tensor) -> tuple[Tensor, Tensor]:
        """The predicted state `[H]` behind `token`, from the `state` `[H]` before it, and its logits `[V']`."""
        predicted = self._network["draft"](self._embeddings[token][None], state[None])
        return predicted[0], self._network["head"](predicted)[0]


def is_state_draft(folder: Path) -> bool:
    """Whether the model in `folder` is one of these."""
    return _configuration(folder).get("model_type") == artefact.MODEL_TYPE


def load(folder: Path, target: PreTrainedModel, target_head: Tensor, arithmetic: Arithmetic) -> StateDraftModel:
    """Load the draft in `folder` for `target`, whose output layer is `target_head` `[V, H]`.

    Raises UnsupportedModel where the folder is not whole, PairMismatch where the draft was made for another target.
    """
    configuration = _configuration(folder)
    try:
        shape = Shape(**{name: configuration[name] for name in ("hidden", "intermediate", "norm_eps")})
        draft = StateDraft(shape, configuration["blocks"])
        draft.load_state_dict(artefact.weights(Safetensors().load(folder / WEIGHTS)))
    except (KeyError, TypeError, RuntimeError, OSError, SafetensorError) as error:
        raise UnsupportedModel(f"the draft in {folder.name} is not whole; distill or copy it anew") from error
    embeddings: Tensor = target.get_input_embeddings().weight.detach()  # type: ignore[operator]
    ids = vocabulary.read(folder)
    if ids is None:
        raise UnsupportedModel(f"the draft in {folder.name} lacks its {vocabulary.FILE}; distill or copy it anew")
    if shape.hidden != embeddings.shape[1] or int(ids[-1]) >= len(target_head):
        raise PairMismatch(f"the draft in {folder.name} was made for {configuration.get('target')}; choose that target")
    draft.to(embeddings).eval()
    ids = ids.to(embeddings.device)
    head = nn.Linear(shape.hidden, len(ids), bias=False, device="meta")
    head.weight = nn.Parameter(target_head[ids].to(embeddings), requires_grad=False)
    model = StateDraftModel(draft, head, embeddings, ids)
    if arithmetic.int8:
        model.quantize()
    return model


def _configuration(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
