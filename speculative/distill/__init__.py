"""Makes a draft for a target by distillation.

A small recurrent step learns to go on from the target's hidden state as the target does: over source files, and over
what the target itself writes behind them, because that is what a draft must guess. `Distillation` is the whole way;
each of its parts can be used alone.

Needs torch. Knows nothing of tokenizers, transformers or how models are loaded: a `Target` is handed in.
"""

from speculative.distill.acceptance import Acceptance, measure
from speculative.distill.distillation import Distillation, DistillationPlan, Distilled, NoData, OtherPlan
from speculative.distill.objective import Objective
from speculative.distill.recording import Progress, Recording, RecordingPlan
from speculative.distill.state_draft import StateDraft
from speculative.distill.target import MlpWeights, Shape, Target
from speculative.distill.training import Course, TensorFiles, Training, TrainingPlan
from speculative.distill.words import Words

__all__ = [
    "Acceptance",
    "Course",
    "Distillation",
    "DistillationPlan",
    "Distilled",
    "MlpWeights",
    "NoData",
    "Objective",
    "OtherPlan",
    "Progress",
    "Recording",
    "RecordingPlan",
    "Shape",
    "StateDraft",
    "Target",
    "TensorFiles",
    "Training",
    "TrainingPlan",
    "Words",
    "measure",
]
