"""Logging of the language server: to stderr or a file, never to stdout, and never a word of a user's text.

Foreign libraries put messages, parameters and exceptions into their records (pygls logs whatever it sends), so of
theirs only the place and the type of an exception are written.
"""

import logging
import os
import sys
from pathlib import Path

_OURS = ("lsp", "completion_server")


class PlaceOnlyFormatter(logging.Formatter):
    """Our own records in full but for the message of an exception, others as `level logger:line (exception type)`."""

    def format(self, record: logging.LogRecord) -> str:
        head = f"{self.formatTime(record)} {record.levelname.lower()} {record.name}"
        if record.name.partition(".")[0] in _OURS:
            text = f"{head}: {record.getMessage()}"
        else:
            text = f"{head}: message withheld, {Path(record.pathname).name}:{record.lineno}"
        kind = record.exc_info[0] if record.exc_info else None
        return f"{text} ({kind.__name__})" if kind is not None else text


def configure_logging(log_file: str | None = None, level: int = logging.WARNING) -> None:
    """Replace all handlers by one. Raises `OSError` if `log_file` cannot be opened; a new one is the user's alone."""
    handler: logging.Handler
    if log_file is None:
        handler = logging.StreamHandler(sys.stderr)
    else:
        os.close(os.open(log_file, os.O_WRONLY | os.O_CREAT, 0o600))
        handler = logging.FileHandler(log_file, encoding="utf-8")
    handler.setFormatter(PlaceOnlyFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in _OURS:
        logging.getLogger(name).setLevel(level)
    # At INFO pygls would format every message that it sends, at WARNING it tells of every late cancel.
    logging.getLogger("pygls").setLevel(logging.ERROR)
