"""The stages of one request, in order: the engine's from its counters, a front end's from what it measured. Pure.

Most are named after what they end with, as docs/numbers.md explains them. All are durations: stamps of different
processes are never compared, and what no process has measured is left out.
"""

from collections.abc import Iterable, Sequence

from completion_server.protocol import FrontTimes, Stage, Usage


def engine_stages(usage: Usage) -> tuple[Stage, ...]:
    """From the frame's arrival to the last token: they make up `e2e_ms`."""
    found = [
        ("queued", usage.queue_ms),
        ("tokenized", usage.tokenize_ms),
        ("prefix matched", usage.match_ms),
        ("prefill", usage.prefill_ms),
    ]
    for number, turn in enumerate(usage.rounds, start=1):
        drafted = f"{turn.drafter} {turn.accepted}/{turn.drafted}" if turn.drafted else "no draft"
        found.append((f"round {number}: {drafted}, width {turn.width}", turn.ms))
    rest = usage.e2e_ms - sum(took for _, took in found)
    return _told([*found, ("last token", max(0.0, rest))])


def all_stages(engine: Sequence[Stage], e2e_ms: float, times: FrontTimes) -> tuple[Stage, ...]:
    """From the key to the paint, as far as somebody measured. `engine`, empty where it was not asked, took `e2e_ms`.

    Where the client was answered while the engine went on, the engine's are the last: others would not follow on them.
    """
    first = _told(
        [
            ("key", times.key_ms),
            ("way to the server", times.server_way_ms),
            ("sent", times.sent_ms),
            ("way to the engine", engine_way_ms(e2e_ms, times)),
        ]
    )
    if engine and not times.engine_ms:
        return (*first, *engine)
    last = [("trimmed", times.trimmed_ms), ("returned", times.returned_ms), ("painted", times.painted_ms)]
    return (*first, *engine, *_told(last))


def engine_way_ms(e2e_ms: float, times: FrontTimes) -> float:
    """Between language server and engine, there and back: what the one waited longer than the other worked."""
    return max(0.0, times.engine_ms - e2e_ms)


def _told(found: Iterable[tuple[str, float]]) -> tuple[Stage, ...]:
    return tuple(Stage(name, round(took, 3)) for name, took in found if took > 0)
