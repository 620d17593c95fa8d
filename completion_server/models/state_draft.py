"""Loads a draft that goes on from the target's last hidden state, and runs its steps.

What is in its folder: `config.json`, `model.safetensors` (int8 rows with scales) and the map of its vocabulary.
Embeddings and the rows of the output layer are the target's. The arithmetic is that of `speculative.distill`, which
trained it; on a CPU its matrices are int8 as the target's are. Knows nothing of slots, requests or drafting.
"""

import json
import time
from collections.abc import Sequence
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
from completion_server.models.threads import ThreadChoice
from speculative.distill import Shape, StateDraft, artefact

WEIGHTS = "model.safetensors"
UNKNOWN = (0.5,)  # how often a draft is right whose folder does not say


class StateDraftModel:
    """Scores the tokens `output_ids` `[V']` (int64, ascending) for what follows a token behind a state."""

    def __init__(
        self,
        draft: StateDraft,
        head: nn.Linear,
        embeddings: Tensor,
        output_ids: Tensor,
        expected: Sequence[float] = UNKNOWN,
    ) -> None:
        """`expected` is how often its first, second … token in a row is right."""
        self.expected = tuple(expected)
        self._network = nn.ModuleDict({"draft": draft, "head": head})
        self._embeddings = embeddings
        self.output_ids = output_ids
        self.threads: ThreadChoice | None = None  # None: torch's own choice

    @property
    def state_bytes(self) -> int:
        """Bytes of the target's state at one position."""
        return self._embeddings.shape[1] * self._embeddings.element_size()

    def quantize(self) -> None:
        """Multiply in int8 from now on."""
        int8.quantize(self._network)

    @torch.inference_mode()
    def advance(self, token: int, state: Tensor) -> Tensor:
        """The predicted state `[H]` behind `token`, from the `state` `[H]` before it: half of what a step costs."""
        predicted: Tensor = self._network["draft"](self._embeddings[token][None], state[None])
        return predicted[0]

    @torch.inference_mode()
    def step(self, token: int, state: Tensor) -> tuple[Tensor, Tensor]:
        """The predicted state `[H]` behind `token`, from the `state` `[H]` before it, and its logits `[V']`."""
        threads, began = self.threads, time.perf_counter()
        count = threads.count(1) if threads else 0
        if count:
            torch.set_num_threads(count)
        predicted = self._network["draft"](self._embeddings[token][None], state[None])
        logits = self._network["head"](predicted)
        if threads:
            threads.observe(1, count, 1e3 * (time.perf_counter() - began))
        return predicted[0], logits[0]


def is_state_draft(folder: Path) -> bool:
    """Whether the model in `folder` is one of these."""
    return _configuration(folder).get("model_type") == artefact.MODEL_TYPE


def load(folder: Path, target: PreTrainedModel, target_folder: Path, arithmetic: Arithmetic) -> StateDraftModel:
    """Load the draft in `folder` for `target`, which was loaded from `target_folder`.

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
    if shape.hidden != embeddings.shape[1] or int(ids[-1]) >= len(embeddings):
        raise PairMismatch(f"the draft in {folder.name} was made for {configuration.get('target')}; choose that target")
    draft.to(embeddings).eval()
    ids = ids.to(embeddings.device)
    head = nn.Linear(shape.hidden, len(ids), bias=False, device="meta")
    rows = vocabulary.output_rows(target, target_folder)
    head.weight = nn.Parameter(rows.to(embeddings)[ids], requires_grad=False)
    model = StateDraftModel(draft, head, embeddings, ids, configuration.get("acceptance") or UNKNOWN)
    if arithmetic.int8:
        model.quantize()
    return model


def _configuration(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
