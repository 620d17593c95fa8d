"""What a person should know about a draft: where it came from, how it was made, how good it is, under which licence."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from speculative.costs import PassCosts
from speculative.distill.distillation import DistillationPlan, Distilled

_TEXT = """# A draft for {target}

A small recurrent step on the target's own last hidden state, which proposes tokens for the target to check. It uses
the target's embeddings and {vocabulary:,} rows of its output layer, so it works with that target alone.

- Accepted, by position: {shares}. Greedy, from {measured_from_places:,} places in what the target wrote behind
  {measured} files that it was not trained on; {coverage:.1%} of those tokens are among the ones that the draft can say.
- Expected speed: {gain:.2f} times the target alone with {best_k} drafted tokens a pass, at the costs in `card.json`.
- A step reads {read:.1f} M weights; {trained:.1f} M of them were trained.
- {steps} steps of {batch} windows; the best was after {best_step}.
- Licence: {licence}.

Trained to say what the target says, over source files and over what the target wrote behind them:

| licence | files | of them |
|---|---|---|
{rows}

`card.json` lists every file, the settings of the run and the course of the training.
"""


def facts(distilled: Distilled, plan: DistillationPlan, target: str, licence: str, costs: PassCosts) -> dict[str, Any]:
    """Everything that `text` tells, as JSON."""
    gain, k = distilled.acceptance.gain(costs)
    draft, ids = distilled.draft, distilled.ids
    head = len(ids) * draft.shape.hidden
    trained = sum(weight.numel() for weight in draft.parameters())
    return {
        "target": target,
        "licence": licence,
        "trained_weights": trained,
        "weights_per_step": trained + head,
        "vocabulary": len(ids),
        "coverage": round(distilled.coverage, 4),
        "acceptance_by_position": [round(share, 4) for share in distilled.acceptance.by_position],
        "chains": [round(share, 4) for share in distilled.acceptance.chains],
        "measured_from_places": distilled.acceptance.places,
        "gain": round(gain, 3),
        "best_k": k,
        "costs": {"target_ms": dict(costs.target_ms), "draft_step_ms": dict(costs.draft_step_ms)},
        "steps": distilled.course.step,
        "best_step": distilled.course.best,
        "course": distilled.course.measured,
        "plan": {name: value for name, value in asdict(plan).items() if name not in ("data", "exclude")},
        "files": {"trained_on": _files(distilled.trained_on), "measured_on": _files(distilled.measured_on)},
    }


def text(facts: dict[str, Any]) -> str:
    """The card as Markdown."""
    files = facts["files"]
    by_licence = sorted(files["trained_on"].items(), key=lambda item: -len(item[1]))
    return _TEXT.format(
        **facts,
        shares=", ".join(f"{share:.0%}" for share in facts["acceptance_by_position"]),
        measured=sum(map(len, files["measured_on"].values())),
        read=facts["weights_per_step"] / 1e6,
        trained=facts["trained_weights"] / 1e6,
        batch=facts["plan"]["training"]["batch"],
        rows="\n".join(f"| {licence} | {len(paths)} | {_suffixes(paths)} |" for licence, paths in by_licence),
    )


def _files(sources: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Paths by licence, each from the folder on that belongs to its package or library, not to this machine."""
    found: dict[str, list[str]] = {}
    for path, licence in sources:
        found.setdefault(licence, []).append(_place(Path(path)))
    return {licence: sorted(paths) for licence, paths in sorted(found.items())}


def _place(path: Path) -> str:
    for anchor in ("site-packages", "node_modules", "lib", "package"):
        if anchor in path.parts:
            index = len(path.parts) - 1 - path.parts[::-1].index(anchor)
            start = index - 1 if anchor == "package" else index + (anchor != "lib")
            return "/".join(path.parts[start:])
    return "/".join(path.parts[-4:])


def _suffixes(paths: Sequence[str]) -> str:
    counts = Counter(Path(path).suffix for path in paths)
    return ", ".join(f"{count} {suffix}" for suffix, count in counts.most_common())
