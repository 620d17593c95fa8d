"""What an engine process can be told: one frozen dataclass, filled from four layers.

In rising priority: defaults, the table `[engine]` of the user's config.toml, environment variables `FORETYPE_<KEY>`,
the command line. The standard library is all it needs. Knows nothing of what the values do.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from completion_server.errors import SettingsError
from completion_server.folders import config_folder
from completion_server.pairs import N_GRAM, ModelRef

Dtype = Literal["auto", "float32", "bfloat16", "float16", "float64", "int8", "fp8"]
KvDtype = Literal["auto", "int8"]
Switch = Literal["auto", "on", "off"]
LogLevel = Literal["debug", "info", "warning", "error"]

MOST_BYTES = 2**50
MOST_SECONDS = 10 * 365 * 24 * 3600
"""Ten years: what a queue or a lock can wait for ends somewhere above, and differs by platform."""

ENVIRONMENT_ONLY = frozenset({"FORETYPE_CACHE_DIR", "FORETYPE_DEBUG", "FORETYPE_RUNTIME_DIR", "FORETYPE_STATE_DIR"})
"""Variables with our prefix that belong to other modules, so that every other one can be called a mistake."""


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """Either `bytes`, or a `share` (0..1) of the device memory that is free after the models are loaded."""

    bytes: int | None = None
    share: float | None = None

    @classmethod
    def parse(cls, text: str) -> "MemoryBudget":
        """Read "2GiB", "512 MiB", "1500000000" (bytes), "0.5" or "50%". Raises ValueError."""
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%|B|KiB|MiB|GiB|)\s*", text)
        if match is None:
            raise ValueError(text)
        number, unit = float(match[1]), match[2]
        if number > MOST_BYTES:
            raise ValueError(text)
        if unit == "%" or (not unit and number <= 1):
            share = number / 100 if unit else number
            if not 0 < share <= 1:
                raise ValueError(text)
            return cls(share=share)
        size = int(number * {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit])
        if not 0 < size <= MOST_BYTES:
            raise ValueError(text)
        return cls(bytes=size)

    def resolve(self, free_bytes: int) -> int:
        """The budget in bytes on a device with `free_bytes` free; never more than that."""
        wanted = self.bytes if self.bytes is not None else int(free_bytes * (self.share or 0))
        return min(wanted, free_bytes)


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Everything that is fixed when an engine starts. `pair`, `target` and `draft` go to `pairs.choose`."""

    pair: str | None = None
    target: str | None = None
    draft: str | None = None
    device: str = "auto"  # auto, cpu, cuda or cuda:N
    dtype: Dtype = "auto"
    kv_dtype: KvDtype = "auto"  # keys and values as wide as activations, or in 8 bits: room for twice the documents
    static_passes: Switch = "auto"  # fixed shapes, on a GPU recorded as CUDA graphs; auto: on a GPU only
    compiled_blocks: bool = False  # fewer, larger kernels in passes of fixed shape; takes a minute or more to load
    context_tokens: int = 4096  # prompt and suggestion together; a model with fewer positions lowers it
    chunk_tokens: int = 0  # a prefill looks for cancels between two chunks of this many tokens; 0: by device
    kv_budget: MemoryBudget = field(default_factory=lambda: MemoryBudget(share=0.5))
    slots: int = 8  # documents whose keys and values stay; the budget may allow fewer
    max_queue: int = 64  # requests that may wait; one more is refused at once
    threads: int = 0  # of torch on CPU; 0 leaves the choice to torch
    unload_after_s: float = 600.0  # idle seconds until the models are unloaded; 0 never
    exit_after_s: float = 1800.0  # idle seconds until the process ends; 0 never
    log_level: LogLevel = "info"
    drafting: bool = True  # False: the target alone, same text
    idle_continuation: bool = True  # work out what follows a suggestion while it is read
    numbers: bool = True  # keep numbers, never text, on this machine: see docs/numbers.md
    numbers_days: int = 90
    metrics_port: int = 0  # serve Prometheus metrics on this port of loopback; 0: nowhere


def load(command_line: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> EngineSettings:
    """Settings of this user and this call. In `command_line` None means "not given".

    Raises SettingsError that names where a value stands, its key and what is allowed.
    """
    path = config_folder() / "config.toml"
    given = {key: value for key, value in (command_line or {}).items() if value is not None}
    return merge(
        (str(path), read_file(path)),
        ("the environment", read_environment(os.environ if environ is None else environ)),
        ("the command line", given),
    )


def merge(*layers: tuple[str, Mapping[str, Any]]) -> EngineSettings:
    """Lay layers (where from, values) over the defaults; later ones win.

    A layer that names a pair or a target forgets what lower layers said about either and about the draft: who asks for
    `--target X` does not want the pair of the file.
    """
    values: dict[str, Any] = {}
    for source, layer in layers:
        if "pair" in layer or "target" in layer:
            for key in ("pair", "target", "draft"):
                values.pop(key, None)
        for key, value in layer.items():
            values[key] = _checked(key, value, source)
    return EngineSettings(**values)


def read_file(path: Path) -> dict[str, Any]:
    """The table `[engine]` of a TOML file, unchecked; empty if there is no file."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:  # of the second kind are wrong UTF-8, wrong TOML, and numbers without end
        raise SettingsError(f"{path} cannot be read as TOML: {error}") from error
    except RecursionError:
        raise SettingsError(f"{path} cannot be read as TOML: it is nested too deeply") from None
    for key in table:
        if key != "engine":
            raise SettingsError(f"{path}: unknown table or key {key!r}; settings stand in the table [engine]")
    engine = table.get("engine", {})
    if not isinstance(engine, dict):
        raise SettingsError(f"{path}: engine must be a table: [engine]")
    return {key: _beside(path, key, value) for key, value in engine.items()}


def read_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """`FORETYPE_CONTEXT_TOKENS=2048` as `{"context_tokens": "2048"}`; empty values count as not given."""
    return {
        name.removeprefix("FORETYPE_").lower(): value
        for name, value in environ.items()
        if name.startswith("FORETYPE_") and value and name not in ENVIRONMENT_ONLY
    }


def _beside(path: Path, key: str, value: Any) -> Any:
    """Relative model paths in a file start where the file is: an engine's working directory is nobody's choice."""
    if key not in ("target", "draft") or not isinstance(value, str) or value == N_GRAM:
        return value
    try:
        return str(ModelRef.parse(value, path.parent))
    except SettingsError as error:
        raise SettingsError(f"{path}: {key}: {error}") from error


def _checked(key: str, value: Any, source: str) -> Any:
    check = _CHECKS.get(key)
    if check is None:
        raise SettingsError(f"{source}: unknown setting {key!r}; there are: {', '.join(_CHECKS)}")
    read, allowed = check
    try:
        return read(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise SettingsError(f"{source}: {key} cannot be {_shown(value)}; allowed: {allowed}") from error


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of more than 4300 digits
        return "a number of thousands of digits"
    return text if len(text) <= 80 else f"{text[:77]}..."


# Each reader takes a TOML value or text (environment, command line) and raises ValueError, TypeError or OverflowError.


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError
    return value


def _one_of(kind: Any) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if value not in get_args(kind):
            raise ValueError(value)
        return value

    return read


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool | float) or not least <= int(value) <= most:
            raise ValueError(value)
        return int(value)

    return read


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not 0 <= float(value) <= MOST_SECONDS:
        raise ValueError(value)
    return float(value)


_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def _yes_or_no(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.lower() not in _WORDS:
        raise ValueError(value)
    return _WORDS[value.lower()]


def _device(value: Any) -> str:
    if not re.fullmatch(r"auto|cpu|cuda(:[0-9]{1,3})?", value):
        raise ValueError(value)
    return _text(value)


def _budget(value: Any) -> MemoryBudget:
    if isinstance(value, MemoryBudget):
        return value
    if isinstance(value, bool):
        raise TypeError
    return MemoryBudget.parse(str(value))


def _names(kind: Any) -> str:
    return ", ".join(get_args(kind))


_CHECKS: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "pair": (_text, "the name of a pair, see `foretype pairs`"),
    "target": (_text, "embedded, a Hugging Face id, a folder or a .gguf file"),
    "draft": (_text, "n-gram, embedded-draft, a Hugging Face id, a folder or a .gguf file"),
    "device": (_device, "auto, cpu, cuda, cuda:N"),
    "dtype": (_one_of(Dtype), _names(Dtype)),
    "kv_dtype": (_one_of(KvDtype), _names(KvDtype)),
    "static_passes": (_one_of(Switch), _names(Switch)),
    "compiled_blocks": (_yes_or_no, "true or false"),
    "context_tokens": (_whole(128, 2**20), "a whole number from 128 to 1048576"),
    "chunk_tokens": (_whole(0, 2**20), "a whole number up to 1048576; 0 chooses by device"),
    "kv_budget": (_budget, 'a size ("2GiB") or a share of free memory ("0.5", "50%")'),
    "slots": (_whole(1, 1024), "a whole number from 1 to 1024"),
    "max_queue": (_whole(1, 65_536), "a whole number from 1 to 65536"),
    "threads": (_whole(0, 1024), "a whole number up to 1024; 0 leaves it to torch"),
    "unload_after_s": (_seconds, f"seconds, at most {MOST_SECONDS} (ten years); 0 never"),
    "exit_after_s": (_seconds, f"seconds, at most {MOST_SECONDS} (ten years); 0 never"),
    "log_level": (_one_of(LogLevel), _names(LogLevel)),
    "drafting": (_yes_or_no, "true or false"),
    "idle_continuation": (_yes_or_no, "true or false"),
    "numbers": (_yes_or_no, "true or false"),
    "numbers_days": (_whole(1, 3_650), "a whole number from 1 to 3650"),
    "metrics_port": (_whole(0, 65_535), "a port up to 65535; 0: none"),
}
