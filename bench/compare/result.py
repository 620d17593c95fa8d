"""The object that `--json` prints, the file holds and the report is made of: numbers and names of pairs, nothing else.

docs/compare.md says what its keys are.
"""

import shlex
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from bench.compare.environment import named, without_paths
from bench.compare.figures import Figures, acceptance, distributions, figures, pass_ms_by_width
from bench.compare.measured import Measured
from bench.compare.measures import MEASURES, difference, interval
from bench.compare.paired import Interval
from bench.compare.plan import Amount, Part, Plan
from bench.compare.rule import RULE, Verdict, best
from bench.report import FIRST_TOKENS_MS, WHOLE_LINE_MS


def result(
    measured: Sequence[Measured],
    plan: Plan,
    amount: Amount,
    parts: Collection[Part],
    environment: Mapping[str, Any],
    command: str,
    *,
    interrupted: bool = False,
) -> dict[str, Any]:
    """Everything but the conditions. A pair that failed, or that nothing was done with, has a `failure` alone."""
    done = {one.name: one for one in measured if not one.failure and (one.typed or one.judged or one.decoded)}
    values = {name: figures(one) for name, one in done.items()}

    @cache
    def apart(measure: str, ours: str, theirs: str) -> Interval | None:
        return difference(MEASURES[measure], done[ours], done[theirs])

    verdict = best(values, apart)
    return {
        "best": {"pair": verdict.pair, "by": verdict.by, "sentence": verdict.sentence, "rule": RULE},
        "pairs": {
            one.name: _pair(one, values[one.name], _against(one.name, verdict, values, apart))
            if one.name in done
            else {**_who(one), "failure": without_paths(one.failure) or "interrupted before anything was done"}
            for one in measured
        },
        "limits_ms": {"first_tokens": FIRST_TOKENS_MS, "whole": WHOLE_LINE_MS},
        "parts": list(parts),
        "amount": {"keys": amount.keys, "cursors": amount.cursors, "prompts": amount.prompts, "seed": amount.seed},
        "files": plan.files,
        "extensions": list(plan.extensions),
        "interrupted": interrupted,
        "environment": dict(environment),
        "command": command,
    }


def command_line(pairs: Sequence[str], files: Sequence[str], options: Sequence[str]) -> str:
    """The command that repeats a run; of patterns with absolute paths only the last part is told."""
    named_files = [part for pattern in files for part in ("--files", without_paths(pattern))]
    return shlex.join(["foretype", "bench", "--pairs", ",".join(pairs), *named_files, *options])


def _pair(one: Measured, values: Figures, against: Mapping[str, Any]) -> dict[str, Any]:
    status = one.status
    return {
        **_who(one),
        **(
            {"device": status.device, "dtype": status.dtype, "notes": list(map(without_paths, status.notes))}
            if status
            else {}
        ),
        "turns": {"replay": len(one.typed), "quality": len(one.judged), "engine": len(one.decoded)},
        "figures": values,
        "intervals_95": {name: interval(measure, one) for name, measure in MEASURES.items()},
        "less_best": dict(against),
        "acceptance": acceptance(one),
        "distributions": distributions(one),
        "pass_ms_by_width": pass_ms_by_width(one),
    }


def _who(one: Measured) -> dict[str, Any]:
    pair, status = one.contender.pair, one.status
    drafters = list(status.drafters) if status else []
    return {
        "target": named(pair.target),
        "draft": None if pair.draft is None else named(pair.draft),
        "drafters": drafters,
        "failure": None,
    }


def _against(name: str, verdict: Verdict, values: Mapping[str, Figures], apart: Any) -> dict[str, Any]:
    """By measure: the figure of `name` less that of the best, and the paired interval of the difference."""
    if verdict.pair is None or verdict.pair == name:
        return {}
    found = {}
    for measure in MEASURES:
        ours, theirs = values[name][measure], values[verdict.pair][measure]
        if ours is not None and theirs is not None:
            found[measure] = {"difference": round(ours - theirs, 4), "interval_95": apart(measure, name, verdict.pair)}
    return found
