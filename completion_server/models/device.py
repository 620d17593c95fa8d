"""Which device and arithmetic to compute in. Knows nothing of models."""

from dataclasses import dataclass

import torch

from completion_server.errors import DeviceError, SettingsError
from completion_server.models import int8
from completion_server.models.narrow_weights import Form


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`dtype` is that of activations, keys and values. With `int8` linear layers multiply in int8, see `int8`.

    `narrow` is how a GPU holds the weights of linear layers if not in `dtype`, see `narrow_weights`.
    """

    name: str
    dtype: torch.dtype
    int8: bool = False
    narrow: Form | None = None


FLOAT64 = Arithmetic("float64", torch.float64)
FLOAT32 = Arithmetic("float32", torch.float32)
BFLOAT16 = Arithmetic("bfloat16", torch.bfloat16)
FLOAT16 = Arithmetic("float16", torch.float16)
INT8 = Arithmetic("int8", torch.float32, int8=True)
GPU_INT8 = Arithmetic("int8", torch.bfloat16, narrow="int8")
GPU_FP8 = Arithmetic("fp8", torch.bfloat16, narrow="fp8")

_FIRST_WITH_FP8 = (9, 0)  # with scales per row and channel
_BY_NAME = {arithmetic.name: arithmetic for arithmetic in (FLOAT64, FLOAT32, BFLOAT16, FLOAT16, INT8)}
_ON_GPU = {arithmetic.name: arithmetic for arithmetic in (GPU_INT8, GPU_FP8)}


def choose_device(wanted: str) -> torch.device:
    """`auto`, `cpu`, `cuda` or `cuda:N` → a device that is there.

    Raises DeviceError where a GPU was asked for by name and none can be used, SettingsError for any other word.
    """
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wanted)
    except RuntimeError as error:
        raise SettingsError(f"device is {wanted!r}; use auto, cpu, cuda or cuda:N") from error
    if device.type not in ("cpu", "cuda"):
        raise SettingsError(f"device is {wanted!r}; use auto, cpu, cuda or cuda:N")
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise DeviceError("device is cuda but torch sees no GPU here; use --device cpu, or install a CUDA torch")
        if device.index is not None and device.index >= torch.cuda.device_count():
            raise DeviceError(f"device is {wanted} but there are only {torch.cuda.device_count()} GPUs")
    return device


def choose_arithmetic(wanted: str, device: torch.device) -> Arithmetic:
    """`auto` → bf16 on a GPU, int8 on a CPU that multiplies it in hardware, else fp32; any other name → that one.

    Raises SettingsError for an unknown name, for fp8 on a CPU and for int8 or fp8 on a GPU that cannot multiply it.
    """
    if wanted == "auto":
        if device.type == "cuda":
            return BFLOAT16
        return INT8 if int8.is_fast_here() else FLOAT32
    if wanted not in _BY_NAME and wanted not in _ON_GPU:
        raise SettingsError(f"dtype is {wanted!r}; use auto, {', '.join({**_BY_NAME, **_ON_GPU})}")
    if device.type == "cuda" and wanted in _ON_GPU:
        if wanted == GPU_FP8.name and torch.cuda.get_device_capability(device) < _FIRST_WITH_FP8:
            raise SettingsError("dtype fp8 needs a GPU of compute capability 9.0; use bfloat16 or int8")
        return _ON_GPU[wanted]
    if wanted not in _BY_NAME:
        raise SettingsError("dtype fp8 is for GPUs; use auto on a CPU")
    return _BY_NAME[wanted]


def free_memory(device: torch.device) -> int:
    """Bytes that can still be taken on the device (main memory for a CPU)."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123
            kib = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
        return kib * 1024
    except (OSError, StopIteration):
        return 4 << 30  # no /proc (macOS): assume little rather than much
