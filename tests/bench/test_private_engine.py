"""What an engine of a bench is told, and what it is kept from."""

import sys

import pytest

from bench.private_engine import PrivateEngine
from completion_server.errors import EngineUnavailable

KEYS = ("FORETYPE_NUMBERS", "FORETYPE_METRICS_PORT")
SAY = (sys.executable, "-c", f"import os; print(*(os.environ.get(key) for key in {KEYS}))")


async def said(**settings: object) -> str:
    """What an engine that only tells its environment said."""
    with pytest.raises(EngineUnavailable) as caught:
        async with PrivateEngine("p", command=SAY, settings=settings):
            pass
    return str(caught.value).removeprefix("the engine did not start: ")


async def test_it_keeps_no_numbers_and_leaves_the_port_for_metrics_to_the_users_engine() -> None:
    """that port, in config.toml, would be one for all engines of a comparison"""
    assert await said() == "False 0"


async def test_a_bench_may_want_them() -> None:
    assert await said(numbers=True, metrics_port=9464) == "True 9464"
