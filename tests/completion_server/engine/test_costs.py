"""The measurement at load: sane numbers, and a choice of threads that the passes then use."""

from typing import Any

import pytest
import torch

from completion_server.engine import costs
from completion_server.models.decoder import Feed
from completion_server.models.tiny import tiny_model


def test_wider_passes_never_cost_less() -> None:
    decoder = tiny_model().decoder
    measured = costs.measure(decoder, decoder.memory(1, 1024), None)
    values = [measured.target(width) for width in costs.WIDTHS]
    assert values == sorted(values)
    assert values[0] > 0


def test_the_faster_number_of_threads_is_taken_at_each_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock by hand: two threads help from width 8 on."""
    current = [2]
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(torch, "set_num_threads", lambda count: current.__setitem__(0, count))
    widths: list[int] = []

    def timed(call: Any, device: Any) -> float:
        call()
        width = widths[-1]
        return 10.0 + width if current[0] == 1 else 20.0 + width / 4

    decoder = tiny_model().decoder
    forward = decoder.forward
    monkeypatch.setattr(
        decoder, "forward", lambda memory, feeds: (widths.append(len(feeds[0].tokens)), forward(memory, feeds))[1]
    )
    monkeypatch.setattr(costs, "_timed", timed)
    measured = costs.measure(decoder, decoder.memory(1, 1024), None)
    assert decoder.threads is not None
    assert [decoder.threads.count(width) for width in (1, 2, 4, 8, 16, costs.CHUNK)] == [1, 1, 1, 1, 2, 2]
    assert (measured.target(1), measured.target(16)) == (11.0, 24.0)
    for width, count in ((1, 1), (3, 1), (9, 2), (128, 2), (200, 2)):
        decoder.forward(decoder.memory(1, 256), [Feed(0, 0, [1] * width, 1)])
        assert current[0] == count
