"""Which device and number format to compute in. Knows nothing of models."""

import torch

from completion_server.errors import DeviceError, SettingsError

_DTYPES = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


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


def choose_dtype(wanted: str, device: torch.device) -> torch.dtype:
    """`auto` → bf16 on a GPU, fp32 on a CPU; else the dtype of that name. Raises SettingsError for any other word."""
    if wanted == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    if wanted not in _DTYPES:
        raise SettingsError(f"dtype is {wanted!r}; use auto, {', '.join(_DTYPES)}")
    return _DTYPES[wanted]


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
