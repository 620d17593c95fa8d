"""Loads one model and its tokenizer from a local folder and makes sure that they are what the engine can run exactly.

Only safetensors are read and no code that comes with a model is run. The stock model is compared with the wrapped one
on a few tokens: an architecture that our attention would compute wrongly is refused at load, not discovered in a
suggestion. Knows nothing of pairs, prompts or where the folder came from.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from transformers.utils import logging as transformers_logging

from completion_server.errors import ModelNotFound, UnsafeModel, UnsupportedModel
from completion_server.models import fused, int8, vocabulary
from completion_server.models.decoder import Decoder, Feed
from completion_server.models.device import Arithmetic
from completion_server.models.exactness import rows_agree
from completion_server.models.int8 import Int8Matrix
from completion_server.models.narrow_weights import narrow

_UNSTABLE_ROPE = ("dynamic", "longrope")  # angles that depend on the longest position in the batch


@dataclass(frozen=True, slots=True)
class TokenizerFiles:
    """What the prompt code needs of a tokenizer: torch-free, and free of transformers."""

    json: str  # serialized `tokenizers.Tokenizer`
    real_size: int  # ids below this are tokens; the model's output may be padded to more
    bos_id: int | None
    eos_ids: frozenset[int]


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """`output_ids` (int64 `[V']`, ascending) are the tokens of the rows of a reduced output layer (`vocabulary`)."""

    decoder: Decoder
    tokenizer: TokenizerFiles
    max_positions: int
    output_ids: Tensor | None = None


def load(folder: Path, device: torch.device, arithmetic: Arithmetic, *, stock: bool = False) -> LoadedModel:
    """Load the model in `folder` for `device` and `arithmetic`, checked against the stock model.

    On a CPU its blocks are exchanged for faster ones where there are such (`fused`), unless `stock`.
    Raises ModelNotFound, UnsafeModel, UnsupportedModel, or PairMismatch for a bad map of a reduced output layer.
    """
    _check_files(folder)
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    tokenizer = _load_tokenizer(folder)
    output_ids = vocabulary.read(folder)
    model = _load_model(folder, device, arithmetic, reduced=output_ids is not None)
    if output_ids is not None:
        vocabulary.fit_output(model, folder, output_ids)
        output_ids = output_ids.to(device)
    decoder = wrap(model)
    if device.type == "cpu" and not stock and fused.fits(model):
        fuse(decoder, Int8Matrix if arithmetic.int8 else fused.plain)
    elif arithmetic.int8:
        int8.quantize(model)
    if arithmetic.int8:
        decoder.exact_rows = True
        decoder.row_by_row = not rows_agree(decoder)
    if arithmetic.narrow is not None and not _is_quantized(model):
        narrow(model, arithmetic.narrow, model.get_output_embeddings())  # type: ignore[no-untyped-call]
    decoder.arithmetic = arithmetic.name
    return LoadedModel(decoder, tokenizer, max_positions(model), output_ids)


def wrap(model: PreTrainedModel) -> Decoder:
    """Put `model` on our KV memory and compare it with what it computed before. Raises UnsupportedModel."""
    _check_rope(model)
    model.eval()  # type: ignore[no-untyped-call]
    tokens = _some_tokens(model)
    with torch.inference_mode():
        stock = model(input_ids=torch.tensor([tokens], device=model.device), use_cache=False).logits[0]
    decoder = Decoder(model)
    _compare(decoder, stock, 0.05 if decoder.dtype in (torch.bfloat16, torch.float16) else 1e-4)
    return decoder


def fuse(decoder: Decoder, matrix: fused.MakeMatrix) -> None:
    """Exchange the blocks of a model that fits for faster ones and compare. The stock blocks are given up.

    Raises UnsupportedModel.
    """
    model = decoder.model
    stock = _logits(decoder)
    decoder.network = fused.FusedNetwork(model, matrix)
    # int8 is meant to differ a little; a part of the model that was overlooked makes another text altogether.
    _compare(decoder, stock, 1e-4 if matrix is fused.plain else 0.2)
    model.base_model.layers = nn.ModuleList()


def _some_tokens(model: PreTrainedModel) -> list[int]:
    width = int(model.config.get_text_config().vocab_size)
    return [(7 * i + 3) % width for i in range(12)]


def _logits(decoder: Decoder) -> Tensor:
    """In two passes, so that the second reads what the first has written."""
    tokens = _some_tokens(decoder.model)
    memory = decoder.memory(slots=1, capacity=len(tokens))
    parts = [decoder.forward(memory, [Feed(0, 0, tokens[:7], 7)])[0]]
    parts += [decoder.forward(memory, [Feed(0, 7, tokens[7:], 5)])[0]]
    return torch.cat(parts)


def _compare(decoder: Decoder, expected: Tensor, allowed: float) -> None:
    error = (_logits(decoder) - expected).abs().max().item() / max(expected.abs().max().item(), 1e-9)
    if not error < allowed:
        raise UnsupportedModel(
            f"{decoder.model.config.model_type} gives other logits on Foretype's attention (off by {error:.1e}); "
            "use another model and report this one"
        )


def max_positions(model: PreTrainedModel) -> int:
    """The longest context that the model was made for, in tokens."""
    return int(getattr(model.config.get_text_config(), "max_position_embeddings", 0) or 1 << 20)


def _check_files(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise ModelNotFound(f"there is no config.json in {folder}; give the folder of a model, or run foretype pull")
    if not any(folder.glob("*.safetensors")):
        raise UnsafeModel(f"{folder} has no safetensors; Foretype loads no pickled weights")


def _load_model(folder: Path, device: torch.device, arithmetic: Arithmetic, *, reduced: bool) -> PreTrainedModel:
    """The stock model. A folder can hold anything, so whatever transformers throws at it becomes our error.

    With `reduced` the output layer may have another size than config.json says. A checkpoint that is quantized (AWQ,
    GPTQ, bitsandbytes) is put onto the device by whoever unpacks it.
    """
    place = {"device_map": {"": device}} if _says_quantized(folder) else {}
    try:
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=arithmetic.dtype,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=reduced,
            **place,
        )
    except Exception as error:
        raise UnsupportedModel(f"transformers cannot load {folder.name}: {_first_line(error)}") from error
    model, report = loaded
    lacking = len(report["missing_keys"]) + max(0, len(report["mismatched_keys"]) - reduced)
    if lacking:
        raise UnsupportedModel(
            f"{folder.name} lacks {lacking} of the weights that its config.json asks for; pull or copy it anew"
        )
    checked: PreTrainedModel = model if place else model.to(device)
    return checked


def _says_quantized(folder: Path) -> bool:
    try:
        return "quantization_config" in json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False  # transformers will say what is wrong with it


def _is_quantized(model: PreTrainedModel) -> bool:
    return getattr(model, "hf_quantizer", None) is not None


def _load_tokenizer(folder: Path) -> TokenizerFiles:
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:
        raise UnsupportedModel(f"transformers cannot read the tokenizer in {folder.name}") from error
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise UnsupportedModel(f"{folder.name} has no tokenizer.json; Foretype needs a fast tokenizer")
    eos = _generation_eos(folder) | {tokenizer.eos_token_id}
    return TokenizerFiles(
        json=backend.to_str(),
        real_size=len(tokenizer),
        bos_id=tokenizer.bos_token_id,
        eos_ids=frozenset(i for i in eos if isinstance(i, int)),
    )


def _generation_eos(folder: Path) -> set[int]:
    """Ids in generation_config.json that end a text beside the tokenizer's own; none if it makes no sense."""
    try:
        ids = json.loads((folder / "generation_config.json").read_text(encoding="utf-8"))["eos_token_id"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {index for index in (ids if isinstance(ids, list) else [ids]) if isinstance(index, int)}


def _check_rope(model: PreTrainedModel) -> None:
    rope = getattr(model.config.get_text_config(), "rope_parameters", None) or {}
    kinds = [rope] if "rope_type" in rope else [part for part in rope.values() if isinstance(part, dict)]
    for kind in kinds:
        if kind.get("rope_type") in _UNSTABLE_ROPE:
            raise UnsupportedModel(
                f"{model.config.model_type} uses {kind['rope_type']} positions, which change with the length of "
                "the batch; keys and values could not be kept"
            )


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
