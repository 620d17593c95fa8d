"""The settings that an editor sends, as nested frozen dataclasses.

A bad option gives its default and one sentence for a person; nothing here raises. Knows nothing of LSP.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from completion_server.protocol import MAX_NEW_TOKENS, Limits
from lsp.globs import parse_glob


@dataclass(frozen=True)
class EngineSettings:
    start: bool = True  # start an engine if none runs


@dataclass(frozen=True)
class Settings:
    enabled: bool = True
    pair: str | None = None  # None: the engine's own choice
    max_lines: int = Limits().max_lines
    max_tokens: int = Limits().max_tokens
    drafting: bool = True  # False: the target model alone, same text
    languages_off: tuple[str, ...] = ()  # LSP language ids
    folders_off: tuple[str, ...] = ()  # paths
    exclude: tuple[str, ...] = ()  # see `globs`
    min_confidence: float = 0.001  # see `confidence`; 0 shows everything
    snippets: bool = True  # of other files of the workspace in the prompt
    stream: bool = False  # the client takes `foretype/grow`
    events: bool = True  # count what becomes of suggestions
    trace: bool = False  # send `foretype/trace` before each answer
    status: bool = False  # send `foretype/status`
    engine: EngineSettings = field(default_factory=EngineSettings)


_RANGES = {"max_lines": (1, 200), "max_tokens": (1, MAX_NEW_TOKENS), "min_confidence": (0, 1)}


def read_settings(options: object) -> tuple[Settings, list[str]]:
    """Settings from `initializationOptions`, and what is wrong with them, one sentence each."""
    problems: list[str] = []
    if options is None:
        return Settings(), problems
    settings: Settings = _read(Settings, options, "", problems)
    problems += _unusable_globs(settings.exclude)
    return settings, problems


def _read(kind: Any, options: object, prefix: str, problems: list[str]) -> Any:
    if not isinstance(options, Mapping):
        problems.append(f"Setting {prefix.rstrip('.') or 'foretype'} must be an object; using the defaults.")
        return kind()
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    known = {item.name for item in fields(kind)}
    problems.extend(f"Unknown setting {prefix}{name}." for name in options if name not in known)
    for name in known & set(options):
        value, hint = options[name], hints[name]
        if is_dataclass(hint):
            values[name] = _read(hint, value, f"{prefix}{name}.", problems)
            continue
        problem = _problem(name, value, hint)
        if problem:
            problems.append(f"Setting {prefix}{name} {problem}; using the default.")
        else:
            values[name] = tuple(value) if get_origin(hint) is tuple else value
    return kind(**values)


def _problem(name: str, value: object, hint: Any) -> str | None:
    if get_origin(hint) is tuple:
        good = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
        return None if good else "must be a list of strings"
    if hint is bool:
        return None if isinstance(value, bool) else "must be true or false"
    if hint in (int, float):
        low, high = _RANGES[name]
        good = isinstance(value, int | hint) and not isinstance(value, bool) and low <= value <= high
        kind = "a whole number" if hint is int else "a number"
        return None if good else f"must be {kind} from {low} to {high}"
    if value is None and type(None) in get_args(hint):
        return None
    return None if isinstance(value, str) and value else "must be a name"


def _unusable_globs(patterns: Sequence[str]) -> Iterator[str]:
    """They stay among the settings: the others must go on to protect what they protect."""
    for number, pattern in enumerate(patterns, start=1):
        try:
            parse_glob(pattern)
        except ValueError as error:
            yield f"Pattern {number} of setting exclude {error}; it is left out."
