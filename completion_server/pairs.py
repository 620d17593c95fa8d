"""Which models work together: a target, perhaps a draft model, what drafts and how the prompt is laid out.

Pairs have names and stand in TOML files: `pairs.toml` beside this module and one of the user's. A pair that was never
named comes from `--target` and `--draft`. Knows nothing of files of models, devices or how anything is loaded.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar

from completion_server.errors import SettingsError
from completion_server.folders import config_folder, expanded

EMBEDDED = "embedded"
EMBEDDED_DRAFT = "embedded-draft"  # comes with Foretype and drafts for `embedded` alone
GPU_DEFAULT = "qwen-7b-0.5b"
GPU_DEFAULT_BYTES = 20 * 2**30
"""What GPU_DEFAULT wants free: 15.2 GB of bf16 weights, and keys and values of a few 8k-token files (0.6 GB each)."""

N_GRAM = "n-gram"
DRAFTERS = ("tail", N_GRAM, "model")

_T = TypeVar("_T")
_HUB_ID = re.compile(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([\w./-]+))?")


@dataclass(frozen=True, slots=True)
class ModelRef:
    """Names a model. `name` is an id, an absolute path, or one of ours; `revision` only with a Hugging Face id."""

    kind: Literal["embedded", "shipped", "hub", "folder", "gguf"]
    name: str
    revision: str | None = None

    @classmethod
    def parse(cls, text: str, base: Path | None = None) -> "ModelRef":
        """Read what a person wrote. A relative path starts at `base` (default: the working directory).

        Raises SettingsError if it is none of these kinds.
        """
        if text == EMBEDDED:
            return cls("embedded", EMBEDDED)
        if text == EMBEDDED_DRAFT:
            return cls("shipped", EMBEDDED_DRAFT)
        if text.endswith(".gguf"):
            return cls("gguf", _absolute(text, base))
        if text.startswith(("/", "./", "../", "~")) or text in (".", ".."):
            return cls("folder", _absolute(text, base))
        if match := _HUB_ID.fullmatch(text):
            return cls("hub", match[1], match[2])
        raise SettingsError(
            f"{text!r} names no model: write embedded, a Hugging Face id (org/name), "
            "a folder that begins with ./ or /, or a .gguf file"
        )

    def __str__(self) -> str:
        return self.name if self.revision is None else f"{self.name}@{self.revision}"


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and what drafts for it. `draft` is None where no model drafts; `layout` is "auto" or a prompt family.

    `seeded`: what is typed goes behind the middle marker of a layout that has one.
    """

    name: str
    target: ModelRef
    draft: ModelRef | None = None
    drafters: tuple[str, ...] = ("tail", N_GRAM)
    layout: str = "auto"
    seeded: bool = True
    healing: bool = True

    @property
    def models(self) -> tuple[ModelRef, ...]:
        return (self.target,) if self.draft is None else (self.target, self.draft)


def load_pairs() -> dict[str, Pair]:
    """All named pairs, the built-in ones first; a user's pair replaces the built-in one of its name.

    Raises SettingsError that names file, pair and key.
    """
    built_in = files("completion_server").joinpath("pairs.toml").read_text(encoding="utf-8")
    pairs = parse_pairs(built_in, "the built-in pairs.toml", Path.cwd())
    path = user_pairs_file()
    try:
        own = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return pairs
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read as UTF-8 text ({type(error).__name__})") from error
    return pairs | parse_pairs(own, str(path), path.parent)


def user_pairs_file() -> Path:
    return config_folder() / "pairs.toml"


def choose(
    pairs: Mapping[str, Pair],
    pair: str | None = None,
    target: str | None = None,
    draft: str | None = None,
    free_device_bytes: int | None = None,
) -> Pair:
    """The pair that a person asked for: one by name, one made of `target` and `draft`, else the default.

    `draft` beside a name (or alone) exchanges the draft of that pair. `free_device_bytes` is free memory of the CUDA
    device, None where there is none; it only decides the default. Raises SettingsError for an unknown name or for
    `pair` together with `target`.
    """
    if target is not None:
        if pair is not None:
            raise SettingsError("a pair and a target exclude each other: give one of them")
        return _with_draft(Pair(f"{target}+{draft or N_GRAM}", ModelRef.parse(target)), draft or N_GRAM)
    name = pair or default_name(free_device_bytes)
    if name not in pairs:
        raise SettingsError(f"no pair is called {name!r}; there are: {', '.join(pairs)}")
    return pairs[name] if draft is None else _with_draft(replace(pairs[name], name=f"{name}+{draft}"), draft)


def default_name(free_device_bytes: int | None) -> str:
    """The big pair where a CUDA device has room for it, else the one that runs anywhere."""
    return GPU_DEFAULT if (free_device_bytes or 0) >= GPU_DEFAULT_BYTES else EMBEDDED


def parse_pairs(text: str, source: str, base: Path) -> dict[str, Pair]:
    """Read a pairs file. `source` names it in errors, relative paths in it start at `base`."""
    try:
        table = tomllib.loads(text)
    except ValueError as error:  # wrong TOML, or a number without end
        raise SettingsError(f"{source} is not valid TOML: {error}") from error
    except RecursionError:
        raise SettingsError(f"{source} is not valid TOML: it is nested too deeply") from None
    _only(table, ("pair",), source)
    entries = table.get("pair", [])
    if not isinstance(entries, list):
        raise SettingsError(f"{source}: write [[pair]], with two brackets")
    pairs: dict[str, Pair] = {}
    for entry in entries:
        if not isinstance(entry, dict):
            raise SettingsError(f"{source}: every pair is a table: [[pair]]")
        pair = _parse_pair(entry, source, base)
        if pair.name in pairs:
            raise SettingsError(f"{source}: two pairs are called {pair.name!r}")
        pairs[pair.name] = pair
    return pairs


def _parse_pair(entry: Mapping[str, Any], source: str, base: Path) -> Pair:
    name = _typed(entry, "name", str, source)
    if not name:
        raise SettingsError(f"{source}: name must not be empty")
    where = f"{source}, pair {name!r}"
    _only(entry, ("name", "target", "draft", "drafters", "layout", "seeded", "healing"), where)
    target = _typed(entry, "target", str, where)
    draft = _typed(entry, "draft", str, where, N_GRAM)
    try:
        pair = _with_draft(Pair(name, ModelRef.parse(target, base)), draft, base)
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from error
    return replace(
        pair,
        drafters=_parse_drafters(entry, pair, where),
        layout=_typed(entry, "layout", str, where, pair.layout),
        seeded=_typed(entry, "seeded", bool, where, pair.seeded),
        healing=_typed(entry, "healing", bool, where, pair.healing),
    )


def _with_draft(pair: Pair, draft: str, base: Path | None = None) -> Pair:
    """`pair` with another draft; the model drafter comes and goes with it, the others stay as they are."""
    model = None if draft == N_GRAM else ModelRef.parse(draft, base)
    free = tuple(name for name in pair.drafters if name != "model")
    return replace(pair, draft=model, drafters=free if model is None else (*free, "model"))


def _parse_drafters(entry: Mapping[str, Any], pair: Pair, where: str) -> tuple[str, ...]:
    chosen = _typed(entry, "drafters", list, where, list(pair.drafters))
    for name in chosen:
        if name not in DRAFTERS:
            raise SettingsError(f"{where}: {name!r} is no drafter; allowed are {', '.join(DRAFTERS)}")
    if "model" in chosen and pair.draft is None:
        raise SettingsError(f"{where}: the drafter 'model' needs a draft model")
    return tuple(dict.fromkeys(chosen))


def _absolute(text: str, base: Path | None) -> str:
    """Symbolic links stay: a link called model.gguf may point to a file with another name."""
    return os.path.normpath((base or Path.cwd()) / expanded(text))


def _only(table: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in allowed:
            raise SettingsError(f"{where}: unknown key {key!r}; allowed are {', '.join(allowed)}")


def _typed(entry: Mapping[str, Any], key: str, kind: type[_T], where: str, default: _T | None = None) -> _T:
    value = entry.get(key, default)
    if value is None:
        raise SettingsError(f"{where}: the key {key!r} is missing")
    if not isinstance(value, kind):
        raise SettingsError(f"{where}: {key} must be a {kind.__name__}, not {type(value).__name__}")
    return value
