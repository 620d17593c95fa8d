"""More and more editors at once, each typed in at the pace of people, on one engine: the curve, and its knee.

Every editor has a language server of its own and places of its own, so that nobody types what is cached for another.
"""

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import Any

from rich.progress import Progress

from bench.editor import editor_on
from bench.limits import Limits
from bench.private_engine import PrivateEngine
from bench.replay.figures import figures, key_to_suggestion_ms
from bench.replay.hand import Hand
from bench.replay.knee import RULE, Point, knee, numbers
from bench.replay.live import LiveTypist
from bench.replay.plan import human_plan
from bench.replay.policy import Policy
from bench.replay.rhythm import Rhythm
from bench.replay.serving import engine_for, served
from bench.typist import Source

_MEASURED = "measured"
_OF_EACH = (
    *("keystrokes", "shown", "answered_by_engine", "from_cache", "superseded", "failed"),
    *("keystroke_to_suggestion_ms", "ttft_ms", "goodput", "intervals"),
)


class Editors:
    """`run` gives the report, as JSON values. Raises `ForetypeError`, or ValueError if no file can be typed in."""

    def __init__(
        self, options: argparse.Namespace, sources: Sequence[Source], progress: Progress, command: Sequence[str]
    ) -> None:
        self._options = options
        self._sources = sources
        self._progress = progress
        self._command = command
        self._limits = Limits(options.limit_first_ms, options.limit_whole_ms)
        self._rhythm, self._policy = Rhythm(), Policy()

    async def run(self) -> dict[str, Any]:
        options = self._options
        curve: dict[int, dict[str, Any]] = {}
        async with engine_for(options.pair, self._progress, self._command) as engine:
            for count in numbers(options.editors):
                before = (await engine.status()).wasted_tokens
                curve[count] = await self._at_once(engine, count)
                curve[count]["wasted_tokens"] = (await engine.status()).wasted_tokens - before
            status = await engine.status()
        found = knee({count: _point(each) for count, each in curve.items()})
        return {
            "pace": options.pace,
            "by_editors": {str(count): each for count, each in curve.items()},
            "knee": {**asdict(found), "rule": RULE},
            "within_limits": max((count for count, each in curve.items() if self._in_time(each)), default=None),
            "failed": sum(each["failed"] for each in curve.values()),
            "identical_to_target_only": None,
            "limits": asdict(self._limits),
            "policy": asdict(self._policy),
            "rhythm": asdict(self._rhythm),
            "keys": options.keys,
            "warm_up": options.warm_up,
            "stream": options.stream,
            "speed": options.speed,
            "seed": options.seed,
            "files": len(self._sources),
            **served(status),
            "slots": status.slots_total,
        }

    async def _at_once(self, engine: PrivateEngine, count: int) -> dict[str, Any]:
        hands = [self._hand(count, number) for number in range(count)]
        task = self._progress.add_task(f"editors at once: {count}", total=sum(hand.planned for hand in hands))
        async with AsyncExitStack() as stack:
            editors = [await stack.enter_async_context(editor_on(engine, stream=self._options.stream)) for _ in hands]
            typists = [
                LiveTypist(editor, hand, speed=self._options.speed, on_action=lambda: self._progress.advance(task))
                for editor, hand in zip(editors, hands, strict=True)
            ]
            # Nobody is counted while somebody still warms up.
            await asyncio.gather(*(typist.type(self._options.warm_up) for typist in typists))
            await asyncio.gather(*(typist.type(phase=_MEASURED) for typist in typists))
            each = [await typist.presses() for typist in typists]
        measured = [[press for press in presses if press.phase == _MEASURED] for presses in each]
        found = figures(measured, self._limits, self._options.seed)
        return {
            **{name: found[name] for name in _OF_EACH},
            "p95_of_each": [key_to_suggestion_ms(presses)["p95"] for presses in measured],
        }

    def _hand(self, count: int, number: int) -> Hand:
        keys, seed = self._options.warm_up + self._options.keys, self._options.seed * 1_000 + 100 * count + number
        return Hand(human_plan(self._sources, keys, seed, self._rhythm, f"{count}_{number}_"), self._policy)

    def _in_time(self, each: dict[str, Any]) -> bool:
        p95 = _point(each).p95_ms
        return p95 is not None and p95 <= self._limits.whole_ms


def _point(each: dict[str, Any]) -> Point:
    return Point(each["keystroke_to_suggestion_ms"]["p95"], each["goodput"])
