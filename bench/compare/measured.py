"""What came of one pair: its turns, in the order of the plan, and what it took. Text stays in memory, for nobody else.

Knows nothing of engines or of what the figures mean.
"""

from dataclasses import dataclass, field

from bench.compare.contenders import Contender
from bench.keystrokes import Keystroke
from bench.quality.scores import Score
from completion_server.protocol import StatusReply, Usage


@dataclass(frozen=True, slots=True)
class Decoded:
    """One continuation, without an editor: so many `characters`, and what it cost."""

    characters: int
    usage: Usage


@dataclass(slots=True)
class Measured:
    """One list per kind of turn, and in it one item per turn that was finished: the same place for every pair.

    `failure` is one line on why the pair was given up; what it did until then counts for nothing.
    """

    contender: Contender
    typed: list[list[Keystroke]] = field(default_factory=list)
    judged: list[list[Score]] = field(default_factory=list)
    decoded: list[Decoded] = field(default_factory=list)
    wasted_tokens: int = 0
    load_s: float | None = None
    memory_bytes: int | None = None  # resident, of the engine's process, at its largest seen
    status: StatusReply | None = None
    failure: str = ""

    @property
    def name(self) -> str:
        return self.contender.name
