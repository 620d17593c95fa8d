"""Parts through the whole engine, without sockets: a warm key, several editors at once, a cancel in a cold prompt.

The models are random, so drafts are hardly ever right: these are times of the target alone, host work included.
"""

import threading
import time
from typing import Any

from bench.gpu.stage import Stage
from bench.percentiles import summary
from completion_server.engine import fixed_shapes
from completion_server.engine.engine import Engine
from completion_server.engine.job import Job
from completion_server.engine.loading import CHUNK, assemble
from completion_server.models.loader import LoadedModel, TokenizerFiles
from completion_server.models.static import DRAFT, TARGET
from completion_server.models.tiny import tiny_tokenizer
from completion_server.pairs import ModelRef, Pair
from completion_server.protocol import Cancelled, Complete, Context, Delta, EngineMessage, Limits
from completion_server.settings import EngineSettings, MemoryBudget

EDITORS = 8
LINE = "    total_{} = left[{}] + right[{}] * {}\n"


class Asked:
    """A request to the engine and when its replies came."""

    def __init__(self, engine: Engine, key: int, document: str, before: str, tokens: int) -> None:
        self.first: float | None = None
        self.last: float | None = None
        self.reply: EngineMessage | None = None
        request = Complete(
            key, Context(document, key, before, "\n", language="python"), Limits(tokens, 99), stream=True
        )
        self.began = time.perf_counter()
        self.job = Job(key, key, request, self.began, self._take, on_close=lambda _: True)
        engine.add(self.job)

    def _take(self, message: EngineMessage) -> None:
        now = time.perf_counter()
        if self.first is None and isinstance(message, Delta):
            self.first = now
        if not isinstance(message, Delta):
            self.last, self.reply = now, message

    @property
    def first_ms(self) -> float:
        """To the first text, or to the end where there was none."""
        return 1e3 * ((self.first or self.last or self.began) - self.began)

    @property
    def all_ms(self) -> float:
        return 1e3 * ((self.last or self.began) - self.began)


class Desk:
    """An engine over the stage's models and the text that is typed."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        context = stage.sizes.prompt + 256
        settings = EngineSettings(
            static_passes="on", slots=EDITORS, context_tokens=context, kv_budget=MemoryBudget(share=0.5)
        )
        pair = Pair("random", ModelRef("folder", "/target"), ModelRef("folder", "/draft"), ("tail", "n-gram", "model"))
        tokenizer = tiny_tokenizer()
        files = TokenizerFiles(tokenizer.to_str(), tokenizer.get_vocab_size(), None, frozenset())
        loaded = [
            fixed_shapes.fix(LoadedModel(stage.decoder(model, plan, graphs=False), files, context), plan, settings)
            for model, plan in ((stage.target, TARGET), (stage.draft, DRAFT))
        ]
        began = time.perf_counter()
        self.pair = assemble(pair, loaded[0], loaded[1], settings)
        self.ready_s = time.perf_counter() - began
        self.engine = Engine(self.pair, chunk_tokens=CHUNK[stage.device.type])
        self._key = 0

    def text(self, document: int, keys: int) -> str:
        """About a prompt full of code, and `keys` characters of the next line."""
        lines = [LINE.format(document, i, i * 7 % 100, i * 13 % 1000) for i in range(self.stage.sizes.prompt // 8)]
        return "".join(lines) + "    result = total"[: 4 + keys % 14]

    def ask(self, document: int, keys: int, tokens: int) -> Asked:
        self._key += 1
        return Asked(self.engine, self._key, f"{document}.py", self.text(document, keys), tokens)

    def run(self) -> None:
        while self.engine.busy:
            self.engine.step()


def keys(stage: Stage) -> dict[str, Any]:
    """One editor, then 2, 4 and 8 at once, each typing in a document of its own: to the first text, and to the end."""
    desk = Desk(stage)
    found: dict[str, Any] = {"load_s": round(desk.ready_s, 1)}
    for document in range(EDITORS):
        desk.ask(document, 0, 1)
        desk.run()
    for editors in stage.within((1, 2, 4, 8)):
        first, whole = [], []
        for sample in stage.within(range(1, stage.sizes.samples + 1)):
            asked = [desk.ask(document, sample, stage.sizes.line) for document in range(editors)]
            desk.run()
            first += [one.first_ms for one in asked]
            whole += [one.all_ms for one in asked]
        found[f"{editors} editors"] = {"first_text_ms": summary(first), "all_ms": summary(whole)}
    return found


def cancel(stage: Stage) -> dict[str, Any]:
    """From the cancel of a cold prompt to the engine's answer, at random moments."""
    desk = Desk(stage)
    cold = desk.ask(0, 0, 1)
    desk.run()
    waits, missed = [], 0
    for sample in stage.within(range(stage.sizes.samples)):
        desk.pair.slots.clear()
        asked = desk.ask(0, 0, 1)
        cancelled: list[float] = []

        def stop(asked: Asked = asked, cancelled: list[float] = cancelled) -> None:
            cancelled.append(time.perf_counter())
            asked.job.cancel("client")

        timer = threading.Timer(cold.all_ms / 1e3 * (0.1 + 0.8 * sample / stage.sizes.samples), stop)
        timer.start()
        desk.run()
        timer.cancel()
        timer.join()
        if isinstance(asked.reply, Cancelled) and asked.last is not None:
            waits.append(1e3 * (asked.last - cancelled[0]))
        else:
            missed += 1
    return {"cold_prompt_ms": round(cold.all_ms, 1), "cancel_ms": summary(waits), "came_too_late": missed}
