"""What the dashboard shows of a period, worked out by hand."""

from pathlib import Path

import pytest

from completion_server.numbers.overview import overview
from completion_server.numbers.records import EventRecord
from completion_server.numbers.store import Store

HOUR = 3_600.0
NOW = 1_000_000 * HOUR


@pytest.mark.parametrize(
    ("by_hour", "expected"),
    [
        ({1: (10, 5), 2: (20, 5)}, [(1, 10, 5, 0.5), (2, 20, 5, 0.25)]),
        ({1: (2, 0), 2: (20, 11)}, [(1, 22, 11, 0.5)]),  # two say nothing by themselves
        ({1: (20, 5), 2: (1, 1), 3: (10, 5)}, [(1, 21, 6, round(6 / 21, 4)), (3, 10, 5, 0.5)]),
        ({1: (0, 0)}, []),
    ],
)
def test_acceptance_of_a_stretch_with_few_suggestions_is_that_of_its_neighbourhood(
    tmp_path: Path, by_hour: dict[int, tuple[int, int]], expected: list[tuple[int, int, int, float]]
) -> None:
    store = Store(tmp_path / "numbers.sqlite", keep_days=1e6)
    for hour, (shown, accepted) in by_hour.items():
        for kind, times in (("shown", shown), ("accepted", accepted), ("dismissed", 1)):
            for _ in range(times):
                store.add(EventRecord(NOW + hour * HOUR, "vim", "p", "go", kind, 5))  # type: ignore[arg-type]
    store.close()
    found = overview(tmp_path / "numbers.sqlite", days=1, now=NOW + 5 * HOUR)["acceptance"]
    at = [(round((one["start"] - NOW) / HOUR), one["shown"], one["accepted"], one["rate"]) for one in found]
    assert at == expected
