"""From source files and a target to a draft: the whole way, each part taken up where it was left.

    read and cut source files       corpus, licence       work/sources.json
    let the target continue them    recording             work/train, work/held-out
    choose the draft's words        vocabulary            (follows from the recording)
    train, measure, stop            training              work/course.json, work/*.safetensors

Knows no tokenizer and no transformers: both are handed in.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from speculative.costs import PassCosts
from speculative.distill import artefact, corpus
from speculative.distill.acceptance import Acceptance, measure
from speculative.distill.corpus import Encode
from speculative.distill.recording import Progress, Recording, RecordingPlan
from speculative.distill.state_draft import StateDraft
from speculative.distill.target import Target
from speculative.distill.training import Course, TensorFiles, Training, TrainingPlan
from speculative.distill.vocabulary import coverage, frequent
from speculative.distill.words import Words

_FIT = 24  # windows that the fusion is fitted to


class NoData(ValueError):
    """The files that were named give not one window, to train on or to measure with."""


class OtherPlan(ValueError):
    """The folder holds what another plan began."""


@dataclass(frozen=True, slots=True)
class DistillationPlan:
    """What to do with which data. Windows are `prompt` tokens long, and `continuation` more that the target adds.

    `start` is the folder of an earlier draft of the same shape, whose weights training goes on from.
    """

    data: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    any_licence: bool = False
    windows: int = 1024
    held_out: int = 96
    prompt: int = 400
    continuation: int = 112
    temperature: float = 0.7
    vocabulary: int = 8192
    blocks: int = 2
    start: str = ""
    seed: int = 0
    training: TrainingPlan = field(default_factory=TrainingPlan)


@dataclass(frozen=True, slots=True)
class Distilled:
    """A finished draft and what is known about it. `sources` are (path, licence)."""

    draft: StateDraft
    ids: Tensor
    acceptance: Acceptance
    course: Course
    coverage: float
    trained_on: tuple[tuple[str, str], ...]
    measured_on: tuple[tuple[str, str], ...]


class Distillation:
    """`work` is where everything unfinished is kept, for one plan."""

    def __init__(self, target: Target, encode: Encode, plan: DistillationPlan, work: Path, files: TensorFiles) -> None:
        self._target, self._encode, self._plan, self._files = target, encode, plan, files
        self._work = work

    def run(self, costs: PassCosts, progress: Progress) -> Distilled:
        """`costs` are what `Acceptance.gain` is reckoned with. Raises `NoData` or `OtherPlan`."""
        sources = self._prepare(progress)
        train, held_out = self._recorded("train", progress), self._recorded("held-out", progress)
        words = self._words(train)
        draft = self._initial(train)

        def measured() -> tuple[Acceptance, float]:
            acceptance = measure(draft, words, held_out)
            return acceptance, acceptance.gain(costs)[0]

        course = Training(draft, words, train, self._plan.training, self._work, self._files).run(measured, progress)
        draft.load_state_dict(artefact.weights(artefact.tensors(draft)))  # what is measured is what is shipped
        own = held_out.tokens[:, held_out.plan.prompt :]
        return Distilled(
            draft=draft,
            ids=words.ids.cpu(),
            acceptance=measured()[0],
            course=course,
            coverage=coverage(words.ids.cpu(), own),
            trained_on=sources["train"],
            measured_on=sources["held-out"],
        )

    def _prepare(self, progress: Progress) -> dict[str, tuple[tuple[str, str], ...]]:
        """Read and cut the files, unless that was done already. Gives their paths and licences."""
        listed = self._work / "sources.json"
        if not listed.exists():
            plan = self._plan
            progress("reading source files", 0, 1)
            self._work.mkdir(parents=True, exist_ok=True)
            found = corpus.read(plan.data, plan.exclude, seed=plan.seed, any_licence=plan.any_licence)
            cut = corpus.cut(found, self._encode, plan.prompt, plan.windows, plan.held_out, seed=plan.seed)
            saved: dict[str, Any] = {"plan": _as_json(plan)}
            for name, windows, temperature in zip(("train", "held-out"), cut, (plan.temperature, 0.0), strict=True):
                if not len(windows.tokens):
                    raise NoData(
                        f"too few files have {plan.prompt} tokens: none is left for {name}; name more with --data"
                    )
                recording = RecordingPlan(
                    windows=len(windows.tokens),
                    prompt=plan.prompt,
                    continuation=plan.continuation,
                    hidden=self._target.shape.hidden,
                    temperature=temperature,
                    seed=plan.seed,
                )
                Recording.create(self._work / name, recording, windows.tokens)
                saved[name] = [(str(source.path), source.licence) for source in windows.sources]
            listed.write_text(json.dumps(saved, indent=1), encoding="utf-8")
        lists = json.loads(listed.read_text(encoding="utf-8"))
        if lists["plan"] != _as_json(self._plan):
            raise OtherPlan(f"{self._work} was begun with other options; use those again, or remove it")
        return {name: tuple(map(tuple, lists[name])) for name in ("train", "held-out")}

    def _recorded(self, name: str, progress: Progress) -> Recording:
        recording = Recording.open(self._work / name)
        if recording is None:
            raise NoData(f"{self._work / name} was taken away; begin with an empty folder")
        recording.record(self._target, progress)
        return recording

    def _words(self, train: Recording) -> Words:
        given, own = train.tokens[:, : train.plan.prompt], train.tokens[:, train.plan.prompt :]
        ids = frequent(given, own, self._plan.vocabulary, len(self._target.head))
        return Words.of(self._target, ids)

    def _initial(self, train: Recording) -> StateDraft:
        draft = StateDraft(self._target.shape, self._plan.blocks).to(self._target.device)
        if self._plan.start:
            draft.load_state_dict(artefact.weights(self._files.load(Path(self._plan.start) / "model.safetensors")))
            return draft
        tokens = train.tokens[:_FIT].to(self._target.device).long()
        draft.begin_at(self._target, tokens, train.states[:_FIT].to(self._target.device), self._plan.seed)
        return draft


def _as_json(plan: DistillationPlan) -> Any:
    return json.loads(json.dumps(asdict(plan)))
