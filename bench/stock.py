"""Stock transformers models, as the benches use them beside ours: where one lies, in fp32, and how its cache is called.

The argument and the field of outputs were renamed in transformers 5.2x.
"""

import inspect
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel

from completion_server import pairs, pull
from completion_server.settings import EngineSettings


def pair_of(settings: EngineSettings) -> pairs.Pair:
    return pairs.choose(pairs.load_pairs(), settings.pair, settings.target, settings.draft)


def target_folder(settings: EngineSettings) -> Path:
    """The folder of the pair's target. Raises ModelNotFound if it is not on this machine."""
    return pull.locate(pair_of(settings).target)


def load_stock(folder: Path, **options: Any) -> PreTrainedModel:
    """The model in `folder` in fp32; `options` go to `from_pretrained`."""
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **options)
    model.eval()  # type: ignore[no-untyped-call]
    return model


def cache_argument(model: PreTrainedModel) -> str:
    parameters = inspect.signature(model.forward).parameters
    return "cache" if "cache" in parameters else "past_key_values"


def cache_of(output: Any) -> Any:
    cache = getattr(output, "cache", None)
    return output.past_key_values if cache is None else cache
