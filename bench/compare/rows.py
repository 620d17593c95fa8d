"""The table of the report: figures down, pairs across, with differences to the best pair. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.compare.markup import Child, Element, element
from bench.compare.plan import Part

Result = Mapping[str, Any]
_Read = Callable[[Result], str | None]

_TITLES: Mapping[Part | None, str] = {
    "replay": "Typing", "quality": "Suggestions against what was written", "engine": "Decoding", None: "The engine"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Row:
    """`measure` names the figure whose difference to the best is told, in `form` and times `factor`."""

    part: Part | None
    title: str
    read: _Read
    measure: str = ""
    form: str = "+.1f"
    factor: float = 1.0


def _plain(name: str, form: str) -> _Read:
    def read(figures: Result) -> str | None:
        value = figures[name]
        return None if value is None else format(value, form)

    return read


def _share(name: str) -> _Read:
    def read(figures: Result) -> str | None:
        value = figures[name]
        return None if value is None else f"{100 * value:.1f} %"

    return read


def _spread(base: str, form: str = ".0f") -> _Read:
    def read(figures: Result) -> str | None:
        values = [figures[f"{base}_{share}_ms"] for share in ("p50", "p95", "p99")]
        return None if None in values else " / ".join(format(value, form) for value in values)

    return read


_ROWS: Sequence[_Row] = (
    _Row("replay", "keys typed", _plain("keystrokes", "d")),
    _Row("replay", "with a suggestion", _plain("shown", "d")),
    _Row("replay", "answered by the engine", _plain("answered_by_engine", "d")),
    _Row("replay", "goodput", _share("goodput"), "goodput", factor=100),
    _Row(
        "replay", "key to suggestion, ms", _spread("keystroke_to_suggestion"), "keystroke_to_suggestion_p95_ms", "+.0f"
    ),
    _Row("replay", "first text (TTFT), ms", _spread("ttft"), "ttft_p95_ms", "+.0f"),
    _Row("replay", "draft acceptance rate", _share("draft_acceptance_rate")),
    _Row("replay", "acceptance length, tokens a pass", _plain("acceptance_length", ".2f")),
    _Row("replay", "prompt tokens cached", _share("cached_token_ratio")),
    _Row("replay", "tokens wasted", _plain("wasted_tokens", "d")),
    _Row("replay", "keys that failed", _plain("failed", "d")),
    _Row("quality", "cursors", _plain("cursors", "d")),
    _Row("quality", "with a suggestion", _plain("shown_at_cursors", "d")),
    _Row("quality", "edit similarity", _share("edit_similarity"), "edit_similarity", factor=100),
    _Row("quality", "exact line", _share("exact_line"), "exact_line", factor=100),
    _Row("quality", "exact of shown", _share("precision")),
    _Row("quality", "file still parses", _share("syntax_ok")),
    _Row("engine", "tokens a second", _plain("tokens_per_s", ".1f"), "tokens_per_s"),
    _Row("engine", "characters a second", _plain("characters_per_s", ".0f")),
    _Row("engine", "pass, with drafting, ms", _spread("pass", ".1f")),
    _Row(None, "memory, MiB", _plain("memory_mib", ".0f")),
    _Row(None, "time to load, s", _plain("load_s", ".1f")),
)


def table(result: Result, done: Result) -> Element:
    """Rows of parts that were left out are left out; where three numbers stand they are p50 / p95 / p99."""
    best = result["best"]
    told_apart = len(done) > 1 and best["by"] != "nothing"
    marks = {name: "best" if name == best["pair"] and told_apart else None for name in done}
    head = element("tr", element("th", "p50 / p95 / p99"), *(element("th", name, class_=marks[name]) for name in done))
    return element("table", element("thead", head), element("tbody", *_body(result, done, marks)))


def _body(result: Result, done: Result, marks: Mapping[str, str | None]) -> Iterator[Element]:
    begun: set[Part | None] = set()
    for row in _ROWS:
        if row.part is not None and row.part not in result["parts"]:
            continue
        if row.part not in begun:
            begun.add(row.part)
            yield element(
                "tr", element("th", _TITLES[row.part], colspan=1 + len(done), scope="rowgroup"), class_="head"
            )
        cells = (element("td", *_cell(row, pair), class_=marks[name]) for name, pair in done.items())
        yield element("tr", element("th", row.title, scope="row"), *cells)


def _heading(title: str, columns: int) -> Element:
    return element("th", title, colspan=columns, scope="rowgroup")


def _cell(row: _Row, pair: Result) -> Iterator[Child]:
    text = row.read(pair["figures"])
    yield "–" if text is None else text
    apart = pair["less_best"].get(row.measure)
    if apart is not None and text is not None:
        yield element("br")
        yield element("small", _difference(row, apart))


def _difference(row: _Row, apart: Result) -> str:
    difference = format(row.factor * apart["difference"], row.form)
    if apart["interval_95"] is None:
        return difference
    low, high = (format(row.factor * bound, row.form) for bound in apart["interval_95"])
    return f"{difference} ({low} to {high})"
