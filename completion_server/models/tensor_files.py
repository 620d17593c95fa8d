"""Named tensors in safetensors files. Implements `speculative.distill.TensorFiles`."""

from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor


class Safetensors:
    def save(self, path: Path, tensors: Mapping[str, Tensor]) -> None:
        """Write `tensors`; whole, or not at all."""
        draft = path.with_suffix(".new")
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, draft)
        draft.replace(path)

    def load(self, path: Path) -> dict[str, Tensor]:
        return load_file(path)
