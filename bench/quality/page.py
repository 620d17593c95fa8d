"""The page docs/quality.md from the JSON of one run; no figure in it is typed by hand. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_COLUMNS = {
    "n": "cursors",
    "shown": "shown",
    "exact_line": "exact line",
    "precision": "of shown",
    "edit_similarity": "similarity",
    "prefix_chars_mean": "right characters",
    "syntax_ok": "parses",
    "repeats_suffix": "repeats",
}

_HEAD = """\
# Quality of suggestions

Written by `python -m bench.publish` from [measurements/quality.json](measurements/quality.json).

At places in code of others where people type, what stands behind the cursor is taken out, and what the language server
suggests there is held against what the author wrote. Beside it stands what the same model says by itself, from the same
text: its first line, neither healed nor trimmed. The packages are pinned in `bench/quality/packages.toml`; what the
confidence was fitted on is other code.

| kind | where the cursor stands | what is taken out |
|---|---|---|
| indent | on the first line of a block | the block |
| block | on a later line of a block | the rest of the block |
| above | on a line directly above code that stays | one statement |
| dot, paren, equals, word | behind `.`, `(`, `=`, in a word | the rest of the brackets, or else of the statement |

*exact line*, *similarity* (1 − edits ÷ length, of the first line) and *right characters* (from the suggestion's first
on) are over all cursors, where nothing shown counts 0; *of shown*, *parses* (the file, with the suggestion accepted)
and *repeats* (what follows the cursor anyway) are over what was shown."""


def page(result: Mapping[str, Any], command: str) -> Iterator[str]:
    """The lines of the page."""
    yield _HEAD
    yield from ("", f"    {command}", "")
    model = f"{result['target']}, {result['dtype']} on {result['device']}"
    yield f"{result['n']} cursors in {result['files']} files, {model}."
    yield from ("", *_table("", _with_raw("all", result)))
    intervals = {name: bounds for name, bounds in result["interval_95"].items() if bounds}
    yield from ("", "95 % intervals, by bootstrap over files: " + _list(intervals) + ".")
    yield from ("", "## How sure it must be", "", "![Precision against how much is shown](quality-curve.svg)", "")
    yield f"In the tables what is less likely than {result['min_confidence']:g} to be right is not shown;"
    yield "[settings.md](settings.md) has the default of `min_confidence`, the picture what other values show."
    yield from ("", "## By kind of place", "", "![Exact lines by kind of place](quality-kinds.svg)", "")
    yield from _groups(result["by_kind"])
    yield from ("", "## By language", "", *_groups(result["by_language"]))
    if result["without"]:
        yield from ("", "## What each part brings", "", *_parts(result))


def _parts(result: Mapping[str, Any]) -> Iterator[str]:
    yield from ("The same cursors with one part switched off.", "")
    yield from _table("without", [("nothing", result), *result["without"].items()])
    if healing := result["without"].get("healing"):
        ours, off = result["by_kind"]["word"]["exact_line"], healing["exact_line_by_kind"]["word"]
        yield from ("", f"Inside a word {ours:.3f} of all lines are exact, without healing {off:.3f}.")


def _groups(groups: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    return _table("", [row for name, figures in groups.items() for row in _with_raw(name, figures)])


def _with_raw(name: str, figures: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, figures), (f"{name}, model alone", figures["raw"])]


def _table(title: str, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    yield f"| {title} | {' | '.join(_COLUMNS.values())} |"
    yield "|---|" + "---|" * len(_COLUMNS)
    for name, figures in rows:
        yield f"| {name} | {' | '.join(_cell(figures[key]) for key in _COLUMNS)} |"


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def _list(intervals: Mapping[str, Sequence[float]]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {low:.3f} to {high:.3f}" for name, (low, high) in intervals.items())
