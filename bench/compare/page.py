"""The report: one HTML page of the object that `result` makes, and of nothing else. Pure.

It loads nothing, runs nothing and says so itself (its policy allows one style, by hash). Colours and forms are the
dashboard's.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from bench.compare import pictures
from bench.compare.markup import Child, Element, document, element
from bench.compare.rows import table

Result = Mapping[str, Any]

_GOOD = "docs/numbers.md says what the words mean, docs/compare.md what the keys of the JSON are."


def page(result: Result) -> str:
    """The whole file."""
    done = {name: pair for name, pair in result["pairs"].items() if not pair["failure"]}
    title = "Foretype: pairs compared"
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("style", style),
    )
    main = element("main", *_sections(result, done))
    body = element("body", _header(result), main, element("footer", f"{_about(result)} {_GOOD}"))
    return document(element("html", head, body, lang="en"))


def _header(result: Result) -> Element:
    best = result["best"]
    parts: list[Child] = [element("h1", "Foretype: pairs compared"), element("p", best["sentence"], class_="verdict")]
    if result["interrupted"]:
        parts.append(element("p", "The run was interrupted: this is what was done until then.", class_="failed"))
    parts += [element("p", f"{name} took no part: {why}", class_="failed") for name, why in _failures(result)]
    parts += [element("p", f"Condition failed: {held}", class_="failed") for held in result.get("conditions", [])]
    parts.append(element("p", f"The rule: {best['rule']}", class_="note"))
    return element("header", *parts)


def _failures(result: Result) -> Iterator[tuple[str, str]]:
    return ((name, pair["failure"]) for name, pair in result["pairs"].items() if pair["failure"])


def _sections(result: Result, done: Result) -> Iterator[Element]:
    if done:
        yield _section(
            "All figures", element("div", table(result, done), class_="scroll"), note=_apart(result), class_="figures"
        )
    charts = (
        ("From key to suggestion", "Share of keys that had their whole suggestion by then.", pictures.whole),
        ("Until there is text", "The same for the first text that the engine sent.", pictures.first_text),
        (
            "Quality against latency",
            "Right and down is worse. The lines through a point are its 95 % intervals.",
            pictures.quality_against_latency,
        ),
    )
    for name, note, draw in charts:
        if chart := draw(result, done):
            yield _section(name, chart, note=note)
    if drafts := list(pictures.drafts(done)):
        note = "Share of drafted tokens that the target took; places with fewer than ten drafts are left out."
        yield _section(
            "Drafts: accepted by position", element("div", *drafts, class_="drafts"), note=note, class_="wide"
        )
    yield _section("Where this was measured", _environment(result), class_="wide")


def _apart(result: Result) -> str:
    """What the second lines of the table are."""
    if not any(pair.get("less_best") for pair in result["pairs"].values()):
        return ""
    return f"A second line is the difference to {result['best']['pair']} at the same places, with its 95 % interval."


def _section(title: str, *content: Child, note: str = "", class_: str | None = None) -> Element:
    said = [element("p", note, class_="note")] if note else []
    return element("section", element("h2", title), *said, *content, class_=class_)


def _environment(result: Result) -> Element:
    """The stamp, as names and what they are."""
    found = result["environment"]
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items() if version)
    facts: dict[str, Child] = {
        "command": element("code", result["command"]),
        "date": found["date"],
        "versions": versions,
        "commit": found["commit"] or "no checkout",
        "machine": f"{found['processor']}, {found['cores']} cores, {found['threads']} threads, {found['system']}",
        "GPU": found["gpu"] or "none",
        "code": f"{result['files']} files ({', '.join(result['extensions'])})",
    }
    for name, pair in result["pairs"].items():
        facts[name] = _pair(pair)
    for name, hashes in found["models"].items():
        facts[f"SHA-256 of {name}"] = element("code", ", ".join(f"{file} {sha}" for file, sha in hashes.items()) or "–")
    return element("dl", *(part for name, fact in facts.items() for part in (element("dt", name), element("dd", fact))))


def _pair(pair: Result) -> str:
    drafting = ", ".join(pair["drafters"]) or "nothing"
    where = f"; {pair['dtype']} on {pair['device']}" if "device" in pair else ""
    notes = "".join(f"; {note}" for note in pair.get("notes", ()))
    return f"target {pair['target']}, draft model {pair['draft'] or 'none'}; drafts come from: {drafting}{where}{notes}"


def _about(result: Result) -> str:
    turns: Sequence[Mapping[str, int]] = [pair["turns"] for pair in result["pairs"].values() if not pair["failure"]]
    most = {part: max((turn[part] for turn in turns), default=0) for part in ("replay", "quality", "engine")}
    return (
        f"Measured at {most['replay']} places of typing, in {most['quality']} files with cursors and behind "
        f"{most['engine']} prompts. Nothing here has left this machine, and there is no text of yours in it."
    )


@cache
def _style() -> str:
    ours = files("bench.compare").joinpath("report.css").read_text(encoding="utf-8")
    dashboard = files("completion_server.dashboard").joinpath("static", "style.css").read_text(encoding="utf-8")
    return f"{dashboard}\n{ours}"
