"""Has all pairs do the same turns, turn by turn, so that a noisy machine is noisy for all.

What is done stays in `measured` when the run is interrupted. A pair that fails is given up; the others go on.
"""

import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

from rich.progress import Progress

from bench.compare.contenders import Contender
from bench.compare.measured import Measured
from bench.compare.plan import Plan
from bench.compare.seat import Seat
from completion_server.errors import ForetypeError
from completion_server.protocol import State


def serve_command(contender: Contender) -> Sequence[str]:
    """The engine's command line."""
    return (sys.executable, "-m", "completion_server", "serve", *contender.options)


class Run:
    """`one_by_one` loads each pair when the one before is done, where there is no room for all of them at once."""

    def __init__(
        self,
        contenders: Sequence[Contender],
        plan: Plan,
        progress: Progress,
        *,
        one_by_one: bool = False,
    ) -> None:
        self.measured = [Measured(contender) for contender in contenders]
        self._plan = plan
        self._progress = progress
        self._one_by_one = one_by_one
        steps = sum(turn.steps for turn in plan.turns)
        self._tasks = {measured.name: progress.add_task(measured.name, total=steps) for measured in self.measured}

    async def run(self) -> None:
        for together in [[one] for one in self.measured] if self._one_by_one else [self.measured]:
            async with AsyncExitStack() as stack:
                seats = [seat for one in together if (seat := await self._seated(one, stack)) is not None]
                await self._take_turns(seats)

    async def _seated(self, measured: Measured, stack: AsyncExitStack) -> Seat | None:
        name = measured.name
        step = partial(self._progress.advance, self._tasks[name])
        seat = Seat(measured, serve_command(measured.contender), partial(self._show, name), step)
        try:
            return await stack.enter_async_context(seat)
        except ForetypeError as error:
            self._give_up(measured, error)
            return None

    async def _take_turns(self, seats: Sequence[Seat]) -> None:
        for number, turn in enumerate(self._plan.turns):
            first = number % max(1, len(seats))
            for seat in (*seats[first:], *seats[:first]):  # being first is nobody's advantage
                if seat.measured.failure:
                    continue
                try:
                    await seat.take(turn)
                except ForetypeError as error:
                    self._give_up(seat.measured, error)

    def _give_up(self, measured: Measured, error: ForetypeError) -> None:
        measured.failure = " ".join(str(error).split())
        self._progress.update(self._tasks[measured.name], description=f"{measured.name}: failed")

    def _show(self, name: str, state: State) -> None:
        loading = state.phase in ("starting", "loading")
        said = f"{name}: {state.detail or state.phase}" if loading else name
        self._progress.update(self._tasks[name], description=said)
