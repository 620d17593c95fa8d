"""An engine client in memory: says what it is told to and remembers what it was asked. For tests, without a process.

`completion_server.scripted` is its bigger brother, a real server process.
"""

import asyncio
from collections.abc import Callable

from completion_server.errors import EngineUnavailable, ForetypeError, RequestCancelled
from completion_server.protocol import (
    Alternative,
    Context,
    Decoding,
    Delta,
    Limits,
    PairInUse,
    Report,
    Result,
    State,
    StatusReply,
    TokenScore,
    Usage,
    Warmed,
)
from lsp.engine_link import OnState

READY = State(phase="ready", pair="fake")


class FakeEngine:
    """`say` gives the text for a context, or raises; `hold()` keeps answers back until `release()`.

    While it holds, `write(text)` sends a `Delta` of the newest request. `others` are the alternatives, `scores` those
    of every text.
    """

    def __init__(self, say: Callable[[Context], str] = lambda _: "", state: State = READY) -> None:
        self.say = say
        self.state = state
        self.pid = 4_243
        self.version = "0.0"
        self.asked: list[Context] = []
        self.asked_for: list[tuple[Limits, Decoding]] = []  # beside `asked`
        self.warmed: list[Context] = []
        self.alternatives: list[int] = []  # beside `asked`
        self.others: tuple[str, ...] = ()
        self.scores: tuple[TokenScore, ...] = ()
        self.closed_documents: list[str] = []
        self.reports: list[Report] = []
        self.cancelled = 0
        self.pair_refusal: ForetypeError | None = None
        self._on_state: list[OnState] = []
        self._gate = asyncio.Event()
        self._gate.set()
        self._over = asyncio.Event()
        self._open: dict[str, asyncio.Event] = {}
        self.arrived = asyncio.Event()  # set at each request
        self._on_delta: Callable[[Delta], None] | None = None

    async def connect(self, on_state: OnState) -> "FakeEngine":
        """An `engine_link.Connect`. Raises `EngineUnavailable` after `die`."""
        if self.closed:
            raise EngineUnavailable("no engine is running")
        self._on_state.append(on_state)
        return self

    @property
    def closed(self) -> bool:
        return self._over.is_set()

    def hold(self) -> None:
        self._gate.clear()

    def release(self) -> None:
        self._gate.set()

    def write(self, text: str) -> None:
        """Give out more of the text of the newest request."""
        if self._on_delta is not None:
            self._on_delta(Delta(len(self.asked), text, self.scores))

    def become(self, state: State) -> None:
        """Change state, as an engine does that loads or unloads its models."""
        self.state = state
        for tell in self._on_state:
            tell(state)

    def die(self) -> None:
        """Break the connection; what waits gets `EngineUnavailable`."""
        self._over.set()
        self._gate.set()

    async def complete(
        self,
        context: Context,
        *,
        limits: Limits = Limits(),  # noqa: B008
        decoding: Decoding = Decoding(),  # noqa: B008
        on_delta: Callable[[Delta], None] | None = None,
        alternatives: int = 1,
    ) -> Result:
        if self.closed:
            raise EngineUnavailable("the connection to the engine is over")
        self.asked.append(context)
        self.asked_for.append((limits, decoding))
        self.alternatives.append(alternatives)
        self._on_delta = on_delta
        superseded = asyncio.Event()
        self._open.pop(context.document, asyncio.Event()).set()
        self._open[context.document] = superseded
        self.arrived.set()
        try:
            await self._gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.closed:
            raise EngineUnavailable("the engine has ended")
        if superseded.is_set():
            raise RequestCancelled("the request was cancelled (superseded)")
        prompt = len(context.before)
        usage = Usage(prompt_tokens=prompt, cached_tokens=prompt - 1, computed_tokens=1, target_passes=1, ttft_ms=1.0)
        others = tuple(Alternative(text, "end-of-text", self.scores) for text in self.others[: alternatives - 1])
        return Result(len(self.asked), self.say(context), "end-of-text", usage, self.scores, others)

    async def warm(self, context: Context) -> Warmed:
        self.warmed.append(context)
        self.arrived.set()
        return Warmed(0, Usage())

    async def close_document(self, document: str) -> None:
        self.closed_documents.append(document)

    async def report(self, report: Report) -> None:
        self.reports.append(report)

    async def use_pair(self, name: str) -> PairInUse:
        """Refused with `pair_refusal` where that is set."""
        if self.pair_refusal is not None:
            raise self.pair_refusal
        self.become(State("ready", name))
        return PairInUse(1, name, 0.0)

    async def status(self) -> StatusReply:
        if self.closed:
            raise EngineUnavailable("the connection to the engine is over")
        return StatusReply(
            1, self.pid, self.version, 1.0, self.state, "cpu", "float32", "fake", None, ("n-gram",),
            clients=1, running=0, queued=0, slots_used=0, slots_total=8, kv_bytes=0, kv_budget_bytes=0,
            completed=len(self.asked), cancelled=self.cancelled, failed=0, wasted_tokens=0,
        )  # fmt: skip

    async def shutdown(self) -> None:
        self.become(State("stopping", self.state.pair))
        self.die()

    async def aclose(self) -> None:
        self._over.set()

    async def wait_closed(self) -> None:
        await self._over.wait()


def failing(error: ForetypeError) -> Callable[[Context], str]:
    """A `say` for a request that fails."""

    def say(_: Context) -> str:
        raise error

    return say
