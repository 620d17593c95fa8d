"""Turns a GGUF file into an ordinary folder of safetensors and tokenizer files, once.

transformers reads the file and takes its quantized blocks apart into fp32, so the folder holds exactly the weights of
the GGUF. Knows nothing of where files come from or where they are kept: `pull` does.
"""

import contextlib
import io
from collections.abc import Callable
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from transformers.utils import logging as transformers_logging

from completion_server.errors import UnsupportedModel

Progress = Callable[[str, float], None]
"""Takes what is being done, one line for a person, and the share that is done, 0..1."""


def convert(gguf: Path, out: Path, progress: Progress) -> None:
    """Write the model in `gguf` into the existing folder `out` (config, safetensors in fp32, tokenizer).

    Raises UnsupportedModel if transformers cannot read it. The caller makes the write atomic.
    """
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        progress("reading the tokenizer", 0.0)
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
        progress("unpacking the weights", 0.1)
        with contextlib.redirect_stderr(io.StringIO()):  # its own progress bar would tear ours
            model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    except (ValueError, KeyError, NotImplementedError) as error:
        raise UnsupportedModel(
            f"{gguf.name} cannot be read by transformers; use the model's safetensors instead"
        ) from error
    progress("writing safetensors", 0.7)
    _forget_quantization(model)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    progress("done", 1.0)


def _forget_quantization(model: PreTrainedModel) -> None:
    """The weights are plain fp32 now, but the model still calls itself quantized and would refuse to be saved."""
    for name in ("hf_quantizer", "quantization_method"):
        if hasattr(model, name):
            delattr(model, name)
    model.is_quantized = False  # type: ignore[assignment]
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
