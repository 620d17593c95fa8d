"""Logs hold no user text, whoever writes them."""

import logging
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp.logs import PlaceOnlyFormatter, configure_logging

TEXT = "hunter2"


def record(name: str, error: Exception | None = None) -> logging.LogRecord:
    info = None
    if error is not None:
        try:
            raise error
        except Exception:
            info = sys.exc_info()
    return logging.LogRecord(name, logging.ERROR, "/x/json_rpc.py", 42, "failed: %s", (TEXT,), info)


def test_of_foreign_records_only_the_place_is_written() -> None:
    line = PlaceOnlyFormatter().format(record("pygls.protocol", ValueError(TEXT)))
    assert TEXT not in line
    assert "json_rpc.py:42" in line
    assert "ValueError" in line


def test_our_own_are_written_without_the_text_of_exceptions() -> None:
    line = PlaceOnlyFormatter().format(record("lsp.server", KeyError("other")))
    assert line.endswith("lsp.server: failed: hunter2 (KeyError)")
    assert "other" not in line


@pytest.fixture
def _logging_as_it_was() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in (None, "lsp", "completion_server", "pygls")]
    before = [(logger, logger.handlers[:], logger.level) for logger in loggers]
    yield
    for logger, handlers, level in before:
        logger.handlers[:] = handlers
        logger.setLevel(level)


@pytest.mark.usefixtures("_logging_as_it_was")
def test_a_log_file_is_the_users_alone_and_gets_no_text_of_theirs(tmp_path: Path) -> None:
    configure_logging(str(tmp_path / "log"))
    logging.getLogger("lsp.test").warning("hello")
    logging.getLogger("pygls.test").info("Sending data: %s", TEXT)
    logging.getLogger("pygls.test").error("Failed to handle %s", TEXT)
    logging.getLogger("asyncio").error("exception was never retrieved %s", TEXT)
    logging.getLogger().handlers[0].close()
    text = (tmp_path / "log").read_text()
    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o600
    assert "hello" in text
    assert TEXT not in text


@pytest.mark.usefixtures("_logging_as_it_was")
def test_pygls_does_not_format_what_it_sends() -> None:
    configure_logging()
    assert not logging.getLogger("pygls.protocol.json_rpc").isEnabledFor(logging.INFO)
