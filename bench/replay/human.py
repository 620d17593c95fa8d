"""The pace of people: one editor typed in in real time, by a plan with pauses and mistakes, or as a trace says.

Keys come whether or not the last was answered, so requests are superseded as they are in an editor. The first keys warm
up and are not counted. Knows nothing of lockstep: what is typed depends on when suggestions came, so there is no second
run that it could be held against, and `identical_to_target_only` is null.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.progress import Progress

from bench.cold import cold_suggestions
from bench.editor import editor_on
from bench.limits import Limits
from bench.percentiles import summary
from bench.private_engine import PrivateEngine
from bench.replay.figures import figures, gaps_ms, taken
from bench.replay.hand import Hand
from bench.replay.live import LiveTypist
from bench.replay.plan import human_plan
from bench.replay.policy import Policy
from bench.replay.rhythm import Rhythm
from bench.replay.serving import engine_for, served
from bench.replay.trace_file import check_place, read_trace, write_trace
from bench.typist import Source

_WARM_UP, _MEASURED = "warm-up", "measured"


class Human:
    """`run` gives the report, as JSON values. Raises `ForetypeError`, or ValueError if no file can be typed in."""

    def __init__(
        self, options: argparse.Namespace, sources: Sequence[Source], progress: Progress, command: Sequence[str]
    ) -> None:
        self._options = options
        self._sources = sources
        self._progress = progress
        self._command = command
        self._rhythm, self._policy = Rhythm(), Policy()
        if options.write_trace:
            check_place(options.write_trace)
        if options.trace:
            self._hand = Hand(read_trace(options.trace))
        else:
            plan = human_plan(sources, options.warm_up + options.keys, options.seed, self._rhythm)
            self._hand = Hand(plan, self._policy)

    async def run(self) -> dict[str, Any]:
        options = self._options
        async with engine_for(options.pair, self._progress, self._command) as engine:
            async with editor_on(engine, stream=options.stream) as editor:
                task = self._progress.add_task("typing", total=self._hand.planned)
                typist = LiveTypist(
                    editor,
                    self._hand,
                    speed=options.speed,
                    on_action=lambda: self._progress.update(task, completed=self._hand.position),
                )
                found = await self._type(engine, typist)
            async with editor_on(engine) as editor:  # whose answers are whole: they say what they cost
                cold = [s async for s in cold_suggestions(editor, self._sources, options.cold, options.seed)]
            status = await engine.status()
        if options.write_trace:
            write_trace(options.write_trace, self._hand.done)
        return {
            **found,
            "cold_ttft_ms": summary([s.trace["ttft_ms"] for s in cold]),
            "cold_prompt_tokens": summary([s.trace["prompt_tokens"] for s in cold], (50,)),
            "identical_to_target_only": None,
            **self._conditions(),
            **served(status),
        }

    async def _type(self, engine: PrivateEngine, typist: LiveTypist) -> dict[str, Any]:
        await typist.type(self._options.warm_up, _WARM_UP)
        done, events = len(self._hand.done), len(typist.ghosts.events)
        before = (await engine.status()).wasted_tokens
        await typist.type(phase=_MEASURED)
        presses = [press for press in await typist.presses() if press.phase == _MEASURED]
        limits = Limits(self._options.limit_first_ms, self._options.limit_whole_ms)
        return {
            **figures([presses], limits, self._options.seed),
            **taken(self._hand.done[done:], typist.ghosts.events[events:]),
            "accepts_of_what_was_not_suggested": typist.missed,
            "wasted_tokens": (await engine.status()).wasted_tokens - before,
            "gap_ms": gaps_ms(presses),
            "limits": asdict(limits),
        }

    def _conditions(self) -> dict[str, Any]:
        """What was typed, and how."""
        options = self._options
        planned = options.trace is None
        return {
            "pace": options.pace,
            "policy": asdict(self._policy) if planned else None,
            "rhythm": asdict(self._rhythm) if planned else None,
            "files": len(self._sources) if planned else None,
            "warm_up": options.warm_up,
            "stream": options.stream,
            "speed": options.speed,
            "seed": options.seed,
        }
