"""Parts about single passes: bandwidth, cost by width and context, formats, chunks, rows, moves, equal bits."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel

from bench.gpu.shapes import make
from bench.gpu.stage import ONE_BUCKET, Stage
from bench.percentiles import median, ratio
from completion_server.kv.static_memory import StaticMemory
from completion_server.models import compiled, formats, narrow_weights
from completion_server.models.decoder import Feed
from completion_server.models.pieces import Plan
from completion_server.models.static import StaticDecoder
from completion_server.models.static_pass import PassShape

WIDTHS = (1, 2, 4, 8, 16, 64)
DRAFT_WIDTHS = (1, 2)
CANONICAL = 16
EDITORS = (1, 2, 4, 8)


def bandwidth(stage: Stage) -> dict[str, Any]:
    """Copy bandwidth, and what it makes of the models in each format."""
    speed = formats.measure_bandwidth(stage.device)
    found: dict[str, Any] = {"copy_tb_per_s": round(speed / 1e12, 3)}
    for model in stage.within([stage.target, stage.draft]):
        weights = formats.count(model.config)
        for form in formats.OFFERED[stage.device.type]:
            found[f"{weights.total / 1e9:.1f} B {form}"] = {
                "held_gb": round(weights.held_bytes(form) / 1e9, 2),
                "floor_ms": round(1e3 * weights.read_bytes(form) / speed, 3),
            }
    return found


def passes(stage: Stage) -> dict[str, Any]:
    """A target pass by context and width."""
    return _by_context(stage, stage.target, WIDTHS)


def drafts(stage: Stage) -> dict[str, Any]:
    """A draft step by context, for each draft model."""
    return {name: _by_context(stage, stage.model(name), DRAFT_WIDTHS) for name in stage.within(stage.sizes.drafts)}


def _by_context(stage: Stage, model: PreTrainedModel, widths: Sequence[int]) -> dict[str, Any]:
    """`pass_ms` as a caller sees it, `device_ms` of the graph alone, `floor_ms` of reading weights and KV once."""
    sizes = stage.sizes
    plan = Plan(narrow=tuple(widths), wide=(), rows=(1,), first_bucket=min(sizes.contexts))
    decoder, unrecorded = stage.decoder(model, plan), stage.decoder(model, plan, graphs=False)
    memory, other = decoder.memory(1, max(sizes.contexts)), unrecorded.memory(1, max(sizes.contexts))
    record_s = stage.ms(lambda: decoder.prepare(memory)) / 1e3
    speed = formats.measure_bandwidth(stage.device)
    weights = formats.count(model.config).read_bytes("bfloat16")
    found: dict[str, Any] = {"graphs": decoder.graphs.recorded, "record_s": round(record_s, 2)}
    for context in stage.within(sizes.contexts):
        read = weights + context * decoder.kv_shape.position_bytes(stage.dtype)
        floor = 1e3 * read / speed
        by_width: dict[str, Any] = {"floor_ms": round(floor, 3)}
        for width in stage.within(widths):
            feed = Feed(0, context - width, stage.tokens(width), width)
            replay = memory.prepared[PassShape(1, width, context)].run
            by_width[f"width {width}"] = {
                "pass_ms": _ms(stage, decoder, memory, feed),
                "device_ms": median(device := stage.times(replay)),
                "times_floor": ratio(median(device) or 0.0, floor),
            }
        by_width["width 1 without graphs"] = _ms(stage, unrecorded, other, Feed(0, context - 1, [1], 1), 3)
        found[f"context {context}"] = by_width
    return found


def _ms(
    stage: Stage, decoder: StaticDecoder, memory: StaticMemory, feed: Feed | Sequence[Feed], repeats: int | None = None
) -> float:
    """The median time of a pass over one feed, or several."""
    feeds = [feed] if isinstance(feed, Feed) else feed
    return median(stage.times(lambda: decoder.forward(memory, feeds), repeats)) or 0.0


def narrow(stage: Stage) -> dict[str, Any]:
    """The same target pass with weights, and with keys and values, of eight bits."""
    sizes = stage.sizes
    plan = Plan((CANONICAL,), (), (1,), ONE_BUCKET)
    feed = Feed(0, sizes.prompt - CANONICAL, stage.tokens(CANONICAL), CANONICAL)
    found: dict[str, Any] = {}
    for eight_bit in stage.within((False, True)):
        decoder = stage.decoder(stage.target, plan, eight_bit=eight_bit)
        memory = decoder.memory(1, sizes.prompt)
        decoder.prepare(memory)
        kept = "int8" if eight_bit else "bfloat16"
        found[f"bfloat16, KV {kept}"] = {"pass_ms": _ms(stage, decoder, memory, feed), "slot_mb": _megabytes(memory)}
    forms: tuple[narrow_weights.Form, ...] = ("fp8", "int8") if stage.device.type == "cuda" else ("int8",)
    for form in stage.within(forms):
        model = make(sizes.target, sizes, stage.device, stage.dtype, seed=1)
        narrow_weights.narrow(model, form, model.get_output_embeddings())  # type: ignore[no-untyped-call]
        decoder = stage.decoder(model, plan)
        memory = decoder.memory(1, sizes.prompt)
        decoder.prepare(memory)
        found[f"{form}, KV bfloat16"] = {"pass_ms": _ms(stage, decoder, memory, feed), "slot_mb": _megabytes(memory)}
    return found


def compiled_blocks(stage: Stage) -> dict[str, Any]:
    """A target pass whose blocks are compiled, beside one whose blocks are not, and how long compiling took."""
    sizes = stage.sizes
    backend = "inductor" if stage.device.type == "cuda" else "eager"
    found: dict[str, Any] = {}
    for width in stage.within((CANONICAL, 1)):
        feed = Feed(0, sizes.prompt - width, stage.tokens(width), width)
        plan = Plan((width,), (), (1,), ONE_BUCKET)
        plainly = stage.decoder(stage.target, plan)
        memory = plainly.memory(1, sizes.prompt)
        plainly.prepare(memory)
        before = _ms(stage, plainly, memory, feed)
        with compiled.compiled(stage.target, backend):
            decoder = stage.decoder(stage.target, plan)
            memory = decoder.memory(1, sizes.prompt)
            compile_s = stage.ms(partial(decoder.prepare, memory)) / 1e3
            after = _ms(stage, decoder, memory, feed)
        found[f"width {width}"] = {"pass_ms": before, "compiled_ms": after, "compile_s": round(compile_s, 1)}
    return found


def _megabytes(memory: StaticMemory) -> float:
    return round(memory.slot_bytes / 1e6, 1)


def prefill(stage: Stage) -> dict[str, Any]:
    """A cold prompt, by the chunk it is fed in. The longest pass is what a cancel may have to wait for."""
    sizes = stage.sizes
    found: dict[str, Any] = {}
    for chunk in stage.within(sizes.chunks):
        plan = Plan(narrow=(CANONICAL,), wide=(chunk,), rows=(1,), first_bucket=sizes.first_bucket)
        decoder = stage.decoder(stage.target, plan)
        memory = decoder.memory(1, max(sizes.cold) + CANONICAL)
        decoder.prepare(memory)
        by_length: dict[str, Any] = {}
        for length in stage.within(sizes.cold):
            took = _ms(stage, decoder, memory, Feed(0, 0, stage.tokens(length), 1), 3)
            by_length[f"{length} tokens"] = {"ms": took, "tokens_per_s": round(1e3 * length / took)}
        last = Feed(0, max(sizes.cold) - chunk, stage.tokens(chunk), 0)
        by_length["longest_pass_ms"] = _ms(stage, decoder, memory, last, 3)
        found[f"chunk {chunk}"] = by_length
    return found


def editors(stage: Stage) -> dict[str, Any]:
    """One pass for 1, 2, 4 and 8 editors, each with a full round of its own."""
    sizes = stage.sizes
    decoder = stage.decoder(stage.target, Plan((CANONICAL,), (), EDITORS, ONE_BUCKET))
    memory = decoder.memory(max(EDITORS), sizes.prompt)
    decoder.prepare(memory)
    found: dict[str, Any] = {}
    for count in stage.within(EDITORS):
        start = sizes.prompt - CANONICAL
        feeds = [Feed(slot, start, stage.tokens(CANONICAL, slot), CANONICAL) for slot in range(count)]
        took = _ms(stage, decoder, memory, feeds)
        found[f"{count} editors"] = {"pass_ms": took, "ms_per_editor": round(took / count, 3)}
    return found


def slots(stage: Stage) -> dict[str, Any]:
    """Another document begins: its keys and values move to where passes read, the old ones make room."""
    sizes = stage.sizes
    memory = stage.decoder(stage.target, Plan()).memory(2, max(sizes.contexts))
    found: dict[str, Any] = {}
    for length in stage.within(sizes.contexts):
        memory.written(0, length)
        memory.written(1, length)
        turns = iter(range(1000))

        def bring(turns: Iterator[int] = turns) -> None:
            memory.bring([(next(turns) + 1) % 2], 1)

        took = stage.times(bring)
        megabytes = length * memory.shape.position_bytes(stage.dtype) / 1e6
        found[f"{length} tokens"] = {"switch_ms": median(took), "megabytes": round(megabytes)}
    return found


@torch.inference_mode()
def equality(stage: Stage) -> dict[str, Any]:
    """Are a token's logits the same bits alone and behind drafts, in bf16 at the canonical width, on this device?"""
    sizes = stage.sizes
    decoder = stage.decoder(stage.target, Plan((CANONICAL,), (64,), (1,), sizes.first_bucket))
    alone, drafted = decoder.memory(1, sizes.prompt + 64), decoder.memory(1, sizes.prompt + 64)
    for memory in (alone, drafted):
        decoder.prepare(memory)
        decoder.forward(memory, [Feed(0, 0, stage.tokens(sizes.prompt - CANONICAL), 0)])
    start, text = sizes.prompt - CANONICAL, stage.tokens(3 * CANONICAL, seed=1)
    single = [decoder.forward(alone, [Feed(0, start + i, text[i : i + 1], 1)])[0] for i in range(len(text))]
    together, at = [], 0
    for count in (1, 16, 3, 8, 15, 5):
        together += decoder.forward(drafted, [Feed(0, start + at, text[at : at + count], count)])
        at += count
    first, second = torch.cat(single), torch.cat(together)
    return {
        "tokens": len(text),
        "torch_equal": torch.equal(first, second),
        "largest_difference": (first.float() - second.float()).abs().max().item(),
        "same_argmax": (first.argmax(-1) == second.argmax(-1)).float().mean().item(),
    }


def profile(stage: Stage, path: Path) -> dict[str, Any]:
    """Write a profiler's table of one target pass at width 16, replayed and launched one by one."""
    sizes = stage.sizes
    kinds = [torch.profiler.ProfilerActivity.CPU]
    if stage.device.type == "cuda":
        kinds.append(torch.profiler.ProfilerActivity.CUDA)
    sort, tables = ("cuda_time_total" if stage.device.type == "cuda" else "cpu_time_total"), []
    for graphs in (True, False):
        decoder = stage.decoder(stage.target, Plan((CANONICAL,), (), (1,), ONE_BUCKET), graphs=graphs)
        memory = decoder.memory(1, sizes.prompt)
        decoder.prepare(memory)
        feed = Feed(0, sizes.prompt - CANONICAL, stage.tokens(CANONICAL), CANONICAL)
        _ms(stage, decoder, memory, feed, 2)
        with torch.profiler.profile(activities=kinds) as seen:
            decoder.forward(memory, [feed])
            stage.wait()
        tables.append(seen.key_averages().table(sort_by=sort, row_limit=40, max_name_column_width=80))
    path.write_text("graphs on\n" + "\n\ngraphs off\n".join(tables))
    return {"written_to": str(path)}
