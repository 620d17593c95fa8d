"""The tokens that a draft with a reduced output layer can say: `vocabulary.safetensors` beside its weights.

Most of a small model's time goes into its output layer, and most of a vocabulary is never drafted. Such a draft reads
every token of the target but scores only some: row i of its output layer is token `ids[i]` of the target. The file
holds one int64 tensor `ids`. Knows nothing of drafting.
"""

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import PreTrainedModel

from completion_server.errors import PairMismatch

FILE = "vocabulary.safetensors"
_KEY = "ids"


def read(folder: Path) -> Tensor | None:
    """The ids `[V']`, int64 and ascending; None where the draft scores the whole vocabulary.

    Raises PairMismatch if the file is not what it should be.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        ids = load_file(path)[_KEY]
    except (SafetensorError, OSError, KeyError) as error:
        raise PairMismatch(f"{FILE} in {folder.name} holds no {_KEY!r}; distill or copy the draft anew") from error
    if ids.dtype != torch.int64 or ids.dim() != 1 or len(ids) == 0:
        raise PairMismatch(f"{_KEY} in {FILE} of {folder.name} must be a list of int64, not {_shape(ids)}")
    if ids[0] < 0 or not bool((ids[1:] > ids[:-1]).all()):
        raise PairMismatch(f"{_KEY} in {FILE} of {folder.name} must ascend from 0 or more, each id once")
    return ids


def write(folder: Path, ids: Tensor) -> None:
    """Write `ids` (int64 `[V']`, ascending) beside the weights."""
    save_file({_KEY: ids.contiguous()}, folder / FILE)


def check(ids: Tensor, target_size: int) -> None:
    """Each of `ids` must be a token of the target, which has `target_size`. Raises PairMismatch."""
    if int(ids[-1]) >= target_size:
        raise PairMismatch(
            f"the draft's {FILE} names token {int(ids[-1])}, but the target has {target_size}; "
            "choose the draft that was made for this target"
        )


def fit_output(model: PreTrainedModel, folder: Path, ids: Tensor) -> None:
    """Give `model`, loaded from `folder`, an output layer with the rows of `ids`.

    The folder may hold just these rows, or one for every token, perhaps shared with the input: then they are chosen.
    Raises PairMismatch where it has neither.
    """
    head: nn.Linear = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    name = next(name for name, module in model.named_modules() if module is head)
    reduced = nn.Linear(head.in_features, len(ids), bias=head.bias is not None, device="meta")
    for part, loaded in head.named_parameters():
        rows = _stored(folder, f"{name}.{part}")
        rows = loaded.detach() if rows is None else rows.to(loaded)
        if len(rows) != len(ids):
            if int(ids[-1]) >= len(rows):
                raise PairMismatch(f"the draft's output layer has {len(rows)} rows, but {FILE} names {len(ids)} tokens")
            rows = rows[ids.to(rows.device)]
        setattr(reduced, part, nn.Parameter(rows, requires_grad=False))
    model.set_output_embeddings(reduced)  # type: ignore[no-untyped-call]


def output_rows(model: PreTrainedModel, folder: Path) -> Tensor:
    """The weights `[V, H]` of the output layer of `model`, from its `folder` if the layer was exchanged since."""
    head = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    if isinstance(head, nn.Linear):
        return head.weight.detach()
    name = next(name for name, module in model.named_modules() if module is head)
    rows = _stored(folder, f"{name}.weight")
    if rows is None:  # input and output share their weights
        rows = model.get_input_embeddings().weight.detach()  # type: ignore[operator]
    return rows


def _stored(folder: Path, name: str) -> Tensor | None:
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            if name in file.keys():  # noqa: SIM118 (not a dict)
                found: Tensor = file.get_tensor(name)
                return found
    return None


def _shape(ids: Tensor) -> str:
    return f"{str(ids.dtype).removeprefix('torch.')} {list(ids.shape)}"
