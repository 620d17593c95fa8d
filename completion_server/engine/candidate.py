"""A pair that may be loaded, as the thread sees it that will load it. Torch-free."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from completion_server.errors import ForetypeError

if TYPE_CHECKING:
    from completion_server.engine.engine import Engine

log = logging.getLogger(__name__)

Load = Callable[[Callable[[str, float], None]], "Engine"]
"""Loads models and returns an engine that is ready; takes a callback for (what is being done, share done 0..1)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """`beside`: there is room for it while the pair in use stays loaded."""

    pair: str
    load: Load
    beside: bool


Find = Callable[[str], Candidate]
"""The pair of a name, if its models are here and there is memory for them. Raises a ForetypeError that says why not."""


def failure_of(error: Exception, pair: str) -> ForetypeError:
    """Why `pair` could not be loaded, for a person. A model folder can throw anything: the log has what that was.

    The new error has no traceback, which would keep what was loaded until then.
    """
    if isinstance(error, ForetypeError):
        log.error("loading %s failed: %s", pair, error)
        return type(error)(str(error))
    log.error("loading %s failed: %s", pair, type(error).__name__, exc_info=error)
    return ForetypeError(f"loading failed with {type(error).__name__}; the engine's log has the details")
