"""What counting costs per request: the recorder, and the parts of a reply that are there for numbers and scores."""

from dataclasses import replace
from typing import Any

import pytest

from completion_server.numbers.metrics import Metrics
from completion_server.numbers.recorder import Recorder
from completion_server.protocol import Complete, Context, DraftCount, Result, Round, TokenScore, Usage
from completion_server.protocol.codec import decode, encode

REQUEST = Complete(1, Context("d", 1, "", "", "python"))
PLAIN = Result(1, "return a + b\n" * 4, "end-of-line", Usage(target_passes=5, completion_tokens=20, e2e_ms=90.0))
TRACED = replace(
    PLAIN,
    usage=replace(
        PLAIN.usage,
        rounds=(Round(15.0, 5, "n-gram", 4, 3),) * 5,
        drafts=tuple(DraftCount("n-gram", place, 5, 4) for place in range(4)),
    ),
    scores=tuple(TokenScore(2 * (number + 1), -0.25) for number in range(20)),
)
LONGEST = replace(
    TRACED,
    usage=replace(TRACED.usage, rounds=TRACED.usage.rounds * 8),
    scores=tuple(TokenScore(number // 2, -0.25) for number in range(96)),
)
RESULTS = pytest.mark.parametrize("result", [PLAIN, TRACED, LONGEST], ids=["plain", "traced", "longest"])


@RESULTS
def test_write(benchmark: Any, result: Result) -> None:
    assert decode(benchmark(encode, result)) == result


@RESULTS
def test_read(benchmark: Any, result: Result) -> None:
    assert benchmark(decode, encode(result)) == result


@RESULTS
def test_record(benchmark: Any, result: Result) -> None:
    recorder = Recorder([Metrics().add])
    benchmark(recorder.answered, "lsp", "embedded", REQUEST, result)
    assert recorder.latest(1)[0].total_ms == 90.0
