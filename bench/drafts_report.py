"""From runs to what drafters are worth. Pure.

Ratios are of seconds for the same texts, by the one mode ÷ by the other; intervals are drawn over texts (95 %).
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from bench.drafts_run import MODES, Run
from bench.percentiles import ratio, ratio_interval

_ALONE, _FOUND, _MODEL, _ALL = MODES


def report(runs: Sequence[Run]) -> dict[str, Any]:
    """For all files and by language; by file what all drafters together are worth, and the worst of these."""
    by_file = {file: _speed(of) for file, of in _grouped(runs, "file").items()}
    return {
        **_speed(runs),
        "tokens_per_pass": {mode: _per_pass(runs, mode) for mode in MODES},
        "accepted_by_position": {mode: _accepted(runs, mode) for mode in (_FOUND, _MODEL, _ALL)},
        "by_language": {language: _speed(of) for language, of in _grouped(runs, "language").items()},
        "by_file": {file: found["to_target_alone"][_ALL] for file, found in by_file.items()},
        "lowest_interval_of_a_file": min(found["to_target_alone"][_ALL]["interval"][0] for found in by_file.values()),
        "differing_texts": _differing(runs),
        "files": len(by_file),
        "texts": len({run.at for run in runs}),
    }


def _speed(runs: Sequence[Run]) -> dict[str, Any]:
    seconds = {mode: {run.at: run.seconds for run in runs if run.mode == mode} for mode in MODES}
    tokens = sum(run.tokens for run in runs if run.mode == _ALONE)
    return {
        "tokens_per_s": {mode: ratio(tokens, sum(seconds[mode].values())) for mode in MODES},
        "to_target_alone": {mode: _over(seconds[_ALONE], seconds[mode]) for mode in MODES[1:]},
        "all_to_n_grams": _over(seconds[_FOUND], seconds[_ALL]),
    }


def _over(slower: dict[tuple[int, int], float], faster: dict[tuple[int, int], float]) -> dict[str, Any]:
    pairs = [(slower[at], faster[at]) for at in slower]
    return {
        "ratio": ratio(sum(slower.values()), sum(faster.values())),
        "interval": list(ratio_interval(pairs)),
    }


def _per_pass(runs: Sequence[Run], mode: str) -> float | None:
    mine = [run for run in runs if run.mode == mode]
    return ratio(sum(run.tokens for run in mine), sum(run.passes for run in mine))


def _accepted(runs: Sequence[Run], mode: str, positions: int = 6) -> dict[str, list[float | None]]:
    """By drafter, the share of its tokens at each position of a draft that were accepted, the first few positions."""
    drafted: Counter[tuple[str, int]] = Counter()
    accepted: Counter[tuple[str, int]] = Counter()
    for count in (count for run in runs if run.mode == mode for count in run.drafts):
        drafted[count.drafter, count.position] += count.drafted
        accepted[count.drafter, count.position] += count.accepted
    names = sorted({name for name, _ in drafted})
    return {name: [ratio(accepted[name, at], drafted[name, at]) for at in range(positions)] for name in names}


def _grouped(runs: Sequence[Run], field: str) -> dict[str, list[Run]]:
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        groups[getattr(run, field)].append(run)
    return dict(sorted(groups.items()))


def _differing(runs: Sequence[Run]) -> int:
    """Texts that are not the same in all modes."""
    texts: dict[tuple[int, int], set[str]] = defaultdict(set)
    for run in runs:
        texts[run.at].add(run.text)
    return sum(len(found) > 1 for found in texts.values())
