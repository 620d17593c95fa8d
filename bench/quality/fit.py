"""`python -m bench.quality.fit`: the weights of `lsp.confidence`, and what each threshold would show.

Fitted on the packages for tuning, of which no published figure is. An example is one cursor: what the engine said of
its tokens there, and whether the first line that the language server would show is the author's. Logistic regression
by Newton's method with a small ridge (Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 4.4.1).
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console

from bench.quality.figures import Outcome, Suggested, curve
from bench.quality.options import add_options, chosen_cursors, progress_on
from bench.quality.run import Run
from completion_server.errors import ForetypeError
from lsp.confidence import WEIGHTS, chance, features
from lsp.sureness import shifted

_RIDGE = 1.0
_STEPS = 30


@dataclass(frozen=True, slots=True)
class Example:
    features: Mapping[str, float]
    right: bool


def main(arguments: Sequence[str] | None = None, *, engine_command: Sequence[str] = ()) -> int:
    """The command line: prints weights and curve as one JSON object. Exit code 2 if nothing could be fitted."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality.fit", description="Weights for lsp/confidence.py.")
    add_options(parser, n=400)
    parser.set_defaults(packages="tuning", seed=1)
    options = parser.parse_args(arguments)
    console = Console(stderr=True)
    try:
        with progress_on(console) as progress:
            run = Run(options.pair, chosen_cursors(options, progress), progress, command=engine_command)
            asyncio.run(run.run(with_scores=True))
        weights = fit(list(filter(None, map(example, run.outcomes))))
    except (ForetypeError, ValueError) as error:
        console.print(f"fit: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    sys.stdout.write(json.dumps({"weights": weights, "curve": curve(judged(run.outcomes, weights))}, indent=1) + "\n")
    return 0


def example(outcome: Outcome) -> Example | None:
    """What is known of a suggestion before it is shown, and whether its first line is right; None without any."""
    line = outcome.ours.text.partition("\n")[0]
    start = outcome.said.text.find(line) if outcome.said and line else -1
    if outcome.said is None or start < 0:
        return None
    found = features(shifted(outcome.said.scores, start), len(line))
    return None if found is None else Example(found, outcome.ours.score.exact)


def judged(outcomes: Sequence[Outcome], weights: Mapping[str, float]) -> list[Suggested]:
    """The suggestions with the confidence that `weights` give."""
    pairs = [(outcome.ours, example(outcome)) for outcome in outcomes]
    return [replace(ours, confidence=chance(found.features, weights) if found else 1.0) for ours, found in pairs]


def fit(examples: Sequence[Example]) -> dict[str, float]:
    """The most likely weights, the ridge aside, which spares the bias. Raises ValueError where all examples agree."""
    if len({example.right for example in examples}) < 2:
        raise ValueError("the examples must be right and wrong ones")
    x = np.array([[example.features[name] for name in WEIGHTS] for example in examples])
    y = np.array([float(example.right) for example in examples])
    ridge = np.diag([0.0 if name == "bias" else _RIDGE for name in WEIGHTS])
    weights = np.zeros(len(WEIGHTS))
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (y - likely) - ridge @ weights
        bend = (x.T * (likely * (1 - likely))) @ x + ridge
        weights = weights + np.linalg.solve(bend, slope)
    return {name: round(float(weight), 3) for name, weight in zip(WEIGHTS, weights, strict=True)}


if __name__ == "__main__":
    sys.exit(main())
