"""From settings to an engine that is ready: choose the pair, load and check the models, measure, rehearse.

Everything slow happens here, so that the first request is as fast as the hundredth. Knows nothing of threads or
sockets; progress goes to a callback.
"""

import logging
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace

import torch
from tokenizers import Tokenizer

from completion_server import pairs, pull
from completion_server.engine import fixed_shapes
from completion_server.engine.continuation import Reach
from completion_server.engine.costs import Turn, measure
from completion_server.engine.engine import Engine
from completion_server.engine.job import Job
from completion_server.engine.pair import DraftModelParts, LoadedPair, StateDraftParts
from completion_server.errors import PairMismatch, SettingsError
from completion_server.kv.memory import allocated
from completion_server.kv.slots import SlotTable
from completion_server.models import formats, loader, state_draft, vocabulary
from completion_server.models.device import choose_arithmetic, choose_device, free_memory
from completion_server.models.loader import LoadedModel, TokenizerFiles
from completion_server.models.state_draft import StateDraftModel
from completion_server.models.static import DRAFT, TARGET
from completion_server.prompts import Layout, PromptBudget, detect
from completion_server.protocol import Complete, Context, Limits
from completion_server.settings import EngineSettings
from completion_server.tokenization import TextTokenizer
from speculative import AdaptivePolicy, FixedPolicy, TokenBytes

log = logging.getLogger(__name__)

Progress = Callable[[str, float], None]

MAX_NEW = 256  # tokens of the context that the prompt leaves for the suggestion
SPARE = 32  # positions behind the context where drafts may be written that will be rolled back
CHUNK = {"cpu": 128, "cuda": 512}  # tokens between two looks at the cancel flag: about a tenth of a second
REACH = {"cpu": Reach(tokens=24, lines=1, pause_s=0.25), "cuda": Reach(tokens=48, lines=2)}  # how far it looks ahead


def load_engine(settings: EngineSettings, progress: Progress = pull.silent, turn: Turn = nullcontext) -> Engine:
    """Load what `settings` ask for; each pass that is measured for its cost takes a `turn`.

    Raises SettingsError, DeviceError or a ModelError, each saying what to do.
    """
    device = choose_device(settings.device)
    free = free_memory(device) if device.type == "cuda" else None
    pair = pairs.choose(pairs.load_pairs(), settings.pair, settings.target, settings.draft, free)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    arithmetic = choose_arithmetic(settings.dtype, device)
    fixed = fixed_shapes.wanted(settings, device, arithmetic)
    progress(f"loading {pair.target}", 0.05)
    target = loader.load(pull.locate(pair.target), device, arithmetic, stock=fixed)
    draft: LoadedModel | StateDraftModel | None = None
    notes: tuple[str, ...] = ()
    if pair.draft is not None:
        progress(f"loading {pair.draft}", 0.5)
        folder = pull.locate(pair.draft)
        if not state_draft.is_state_draft(folder):
            draft = loader.load(folder, device, arithmetic, stock=fixed)
            check_vocabularies(target.tokenizer, draft.tokenizer)
        elif fixed:
            notes = (f"{pair.draft} does not draft in passes of fixed shape (static_passes) and is left out",)
            pair = replace(pair, draft=None, drafters=tuple(name for name in pair.drafters if name != "model"))
        else:
            draft = state_draft.load(folder, target.decoder.model, pull.locate(pair.target), arithmetic)
    if fixed:
        target = fixed_shapes.fix(target, TARGET, settings)
        draft = fixed_shapes.fix(draft, DRAFT, settings) if isinstance(draft, LoadedModel) else None
    lines = formats.table(target.decoder.model.config, device, arithmetic.name)
    for line in lines.values():
        log.info("%s", line)
    loaded = assemble(pair, target, draft, settings, progress, turn)
    if arithmetic.name in lines:
        notes = (*notes, lines[arithmetic.name])
    loaded = replace(loaded, notes=(*loaded.notes, *notes))
    chunk = settings.chunk_tokens or CHUNK[device.type]
    progress("rehearsing", 0.9)
    _rehearse(Engine(loaded, chunk_tokens=chunk))
    loaded.slots.clear()
    return Engine(loaded, chunk_tokens=chunk, reach=REACH[device.type] if settings.idle_continuation else None)


def assemble(
    pair: pairs.Pair,
    target: LoadedModel,
    draft: LoadedModel | StateDraftModel | None,
    settings: EngineSettings,
    progress: Progress = pull.silent,
    turn: Turn = nullcontext,
) -> LoadedPair:
    """Put loaded models together: memory within the budget, tokenizer, layout, measured costs."""
    text = TextTokenizer(
        Tokenizer.from_str(target.tokenizer.json),
        special_ids=[target.tokenizer.bos_id] if target.tokenizer.bos_id is not None else [],
        end_ids=sorted(target.tokenizer.eos_ids),
    )
    family, warning = detect(text, name="" if pair.layout == "auto" else pair.layout, model=pair.target.name)
    own = draft.max_positions if isinstance(draft, LoadedModel) else 1 << 30
    context = min(settings.context_tokens, target.max_positions, own)
    sizes = _Sizes.fit(target, draft, context, settings)
    memory = target.decoder.memory(sizes.slots, context + SPARE, states=isinstance(draft, StateDraftModel))
    fixed_shapes.prepare(target.decoder, memory, lambda share: progress("recording passes", 0.7 + 0.07 * share))
    draft_parts: DraftModelParts | StateDraftParts | None = None
    if isinstance(draft, StateDraftModel):
        draft_parts = StateDraftParts(str(pair.draft), draft, memory, target.tokenizer.real_size)
    elif draft is not None:
        draft_memory = draft.decoder.memory(sizes.slots, context + SPARE)
        fixed_shapes.prepare(
            draft.decoder, draft_memory, lambda share: progress("recording passes", 0.77 + 0.07 * share)
        )
        vocab = min(draft.tokenizer.real_size, target.tokenizer.real_size)
        if draft.output_ids is not None:
            vocabulary.check(draft.output_ids, target.tokenizer.real_size)
        draft_parts = DraftModelParts(str(pair.draft), draft.decoder, draft_memory, vocab, draft.output_ids)
    layout = Layout(family if pair.seeded else family.unseeded(), text)
    progress("measuring passes", 0.85)
    costs = measure(target.decoder, memory, draft_parts, turn)
    return LoadedPair(
        name=pair.name,
        target_name=str(pair.target),
        target=target.decoder,
        memory=memory,
        draft=draft_parts,
        drafters=pair.drafters,
        slots=SlotTable(sizes.slots, context + SPARE),
        text=text,
        token_bytes=TokenBytes(text.vocabulary),
        vocab_size=text.real_size,
        layout=layout,
        budget=PromptBudget().within(context - min(MAX_NEW, context // 2), plain=layout.plain),
        healing=pair.healing,
        policy=AdaptivePolicy(costs) if settings.drafting else FixedPolicy(0),
        costs=costs,
        context_tokens=context,
        kv_budget_bytes=sizes.budget_bytes,
        notes=(warning,) if warning else (),
    )


def check_vocabularies(target: TokenizerFiles, draft: TokenizerFiles) -> None:
    """A draft's tokens must be the target's, id for id; padding behind them may differ, and so may its length.

    Raises PairMismatch.
    """
    target_tokens = Tokenizer.from_str(target.json).get_vocab(with_added_tokens=True)
    draft_tokens = Tokenizer.from_str(draft.json).get_vocab(with_added_tokens=True)
    different = sum(1 for token, index in draft_tokens.items() if target_tokens.get(token) != index)
    if different:
        raise PairMismatch(
            f"the draft's tokenizer is not the target's: {different} of its {len(draft_tokens)} tokens differ; "
            "choose a draft of the same family, or --draft n-gram"
        )


@dataclass(frozen=True, slots=True)
class _Sizes:
    slots: int
    budget_bytes: int

    @classmethod
    def fit(
        cls,
        target: LoadedModel,
        draft: LoadedModel | StateDraftModel | None,
        context: int,
        settings: EngineSettings,
    ) -> "_Sizes":
        """As many slots as were asked for, or as the memory budget allows; at least one."""
        per_slot = _slot_bytes(target, context)
        if isinstance(draft, StateDraftModel):
            per_slot += draft.state_bytes * allocated(context + SPARE)
        elif draft is not None:
            per_slot += _slot_bytes(draft, context)
        budget = settings.kv_budget.resolve(free_memory(target.decoder.device))
        slots = min(settings.slots, budget // per_slot - fixed_shapes.spare_places(target.decoder))
        if slots < 1:
            raise SettingsError(
                f"keys and values of one document of {context} tokens need {per_slot >> 20} MiB but the budget is "
                f"{budget >> 20} MiB; raise kv_budget or lower context_tokens"
            )
        return cls(slots, budget)


def _slot_bytes(model: LoadedModel, context: int) -> int:
    return model.decoder.slot_bytes(context + SPARE)


def _rehearse(engine: Engine) -> None:
    """One request from end to end: whatever is prepared lazily somewhere is prepared now, and a fault shows here."""
    replies: list[object] = []
    context = Context("rehearsal", 0, "def add(left, right):\n    return left", "\n", language="python")
    request = Complete(1, context, Limits(max_tokens=8, max_lines=2))
    engine.add(Job(0, 0, request, 0.0, replies.append, on_close=lambda _: True))
    while engine.busy:
        engine.step()
    engine.disconnect(0)
