"""What the scripted engine says: rules, and their JSON.

    {"rules": [{"match": "return ", "text": "a + b\\n"}, {"error": "overloaded"}], "load_ms": 200}

Knows nothing of who says it and how.
"""

import json
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from completion_server.ending import ending_of
from completion_server.errors import SettingsError
from completion_server.protocol import Alternative, Complete, TokenScore

_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class Rule:
    """What to say where the text before the cursor ends with `match`."""

    text: str = ""  # as a model would go on: where the suggestion ends in it is found as in the real engine
    match: str = ""  # the empty one always matches
    delay_ms: float = 0.0  # before each chunk
    chunks: int = 1  # so many pieces of about equal length, each with a `Delta`
    error: str | None = None  # answer with this error code, after one delay
    scores: tuple[tuple[int, float], ...] = ()  # (end, logprob) of parts of `text`; without any it is certain
    alternatives: tuple[str, ...] = ()  # as `text`: what else is said where others are asked for
    pair: str | None = None  # said only while this pair is in use

    def token_scores(self, text: str) -> tuple[TokenScore, ...]:
        """`scores`, as far as `text` stands of what is said; what they leave out is certain."""
        starts = [0, *(end for end, _ in self.scores)]
        scores = [
            TokenScore(min(end, len(text)), float(logprob))
            for start, (end, logprob) in zip(starts, self.scores, strict=False)
            if start < len(text)
        ]
        left = not scores or scores[-1].end < len(text)
        return (*scores, TokenScore(len(text), 0.0)) if text and left else tuple(scores)

    def others(self, request: Complete) -> tuple[Alternative, ...]:
        """As many of `alternatives` as `request` asks for."""
        others = []
        for said in self.alternatives[: request.alternatives - 1]:
            ending = ending_of(request)
            ending.feed(said)
            ending.finish("end-of-text")
            others.append(Alternative(ending.text, ending.finished or "end-of-text", Rule().token_scores(ending.text)))
        return tuple(others)


@dataclass(frozen=True, slots=True)
class Script:
    """`rules` in order of preference; where none matches nothing is suggested."""

    rules: tuple[Rule, ...] = ()
    load_ms: float = 0.0
    load_error: str | None = None  # loading ends in phase "failed" with this detail
    pairs: tuple[str, ...] = ()  # that can be switched to, beside the one it begins with; each loads for `load_ms`


def read_script(text: str) -> Script:
    """A script from its JSON. Raises `SettingsError` that names what is unknown."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise SettingsError(f"the script is not JSON: {error}") from None
    script = _record(Script, data)
    if not isinstance(script.rules, list | tuple):
        raise SettingsError("the rules of a script are a list")
    return replace(script, rules=tuple(_record(Rule, rule) for rule in script.rules), pairs=tuple(script.pairs))


def _record(record: type[_Record], data: Any) -> _Record:
    known = {field.name for field in fields(record)}  # type: ignore[arg-type]
    if not isinstance(data, dict) or not data.keys() <= known:
        raise SettingsError(f"a {record.__name__.lower()} is a JSON object of {', '.join(sorted(known))}")
    return record(**data)
