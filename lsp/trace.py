"""`foretype/trace`: what became of one request, in numbers, for benches and for `foretype try`. No user text."""

from dataclasses import asdict
from typing import Any

from completion_server.protocol import Usage
from lsp.answer import Answer

METHOD = "foretype/trace"


def trace_params(request: int | str | None, uri: str, answer: Answer) -> dict[str, Any]:
    """`request` is the client's id of the request, `id` in the result that of the first suggestion, empty without one.

    The counters of `Usage` are there for every answer, 0 where the engine was not asked.
    """
    return {
        "request": request,
        "id": answer.ghosts[0].id if answer.ghosts else "",
        "uri": uri,
        "version": answer.version,
        "outcome": answer.outcome,
        "text_length": len(answer.text),
        "confidence": round(answer.ghosts[0].confidence, 6) if answer.ghosts else None,
        "asked_engine": answer.usage is not None,
        **asdict(answer.usage or Usage()),
    }
