"""Whether a loaded model runs in passes of fixed shape, and what has to be done for that before the first request."""

from collections.abc import Callable
from dataclasses import replace

import torch

from completion_server.errors import SettingsError
from completion_server.kv.memory import KvMemory
from completion_server.kv.static_memory import StaticMemory
from completion_server.models.compiled import compile_blocks
from completion_server.models.decoder import Decoder
from completion_server.models.device import Arithmetic
from completion_server.models.loader import LoadedModel
from completion_server.models.pieces import Plan
from completion_server.models.static import StaticDecoder
from completion_server.settings import EngineSettings


def wanted(settings: EngineSettings, device: torch.device, arithmetic: Arithmetic) -> bool:
    """On a GPU unless switched off, on a CPU if switched on. Raises SettingsError for what does not go together."""
    static = settings.static_passes == "on" or (settings.static_passes == "auto" and device.type == "cuda")
    if static and arithmetic.int8:
        raise SettingsError("static_passes is on but dtype int8 on a CPU computes row by row; choose another dtype")
    if settings.compiled_blocks and not static:
        raise SettingsError("compiled_blocks needs static_passes = on, which is what a GPU runs")
    if settings.kv_dtype == "int8" and not static:
        raise SettingsError("kv_dtype int8 needs static_passes = on, which is what a GPU runs; use auto")
    return static


def fix(model: LoadedModel, plan: Plan, settings: EngineSettings) -> LoadedModel:
    """The same model in passes of the plan's shapes."""
    decoder = StaticDecoder(model.decoder.model, plan, eight_bit=settings.kv_dtype == "int8")
    decoder.arithmetic = model.decoder.arithmetic
    if settings.compiled_blocks:
        compile_blocks(decoder.model)
    return replace(model, decoder=decoder)


def prepare(decoder: Decoder, memory: KvMemory, progress: Callable[[float], None]) -> None:
    """Record every pass of fixed shape, now rather than inside a request; nothing to do for other decoders."""
    if isinstance(decoder, StaticDecoder) and isinstance(memory, StaticMemory):
        decoder.prepare(memory, progress)


def spare_places(decoder: Decoder) -> int:
    """How many slots' worth of memory is needed beside the slots."""
    return 1 if isinstance(decoder, StaticDecoder) else 0
