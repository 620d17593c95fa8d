"""The page and what it asks for. Reads the store of numbers and nothing else."""

import math
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from completion_server.dashboard.access import Access
from completion_server.errors import ForetypeError
from completion_server.numbers.overview import live, overview

STATIC = Path(__file__).parent / "static"
MOST_DAYS = 3_650.0


def application(store: Path, access: Access) -> Starlette:
    """Serves the numbers in `store` to who has `access`."""

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def numbers(request: Request) -> Response:
        days = _number(request, "days", 7.0)
        if not 0 < days <= MOST_DAYS:
            return _bad(f"days must be a number up to {MOST_DAYS:g}")
        return JSONResponse(await run_in_threadpool(overview, store, days))

    async def newest(request: Request) -> Response:
        after = _number(request, "after", 0.0)
        if not 0 <= after < 2**53:
            return _bad("after must be the number of a row")
        return JSONResponse(await run_in_threadpool(live, store, int(after)))

    return Starlette(
        routes=[
            Route("/", page),
            Route("/api/numbers", numbers),
            Route("/api/live", newest),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=access)],
        exception_handlers={ForetypeError: _unreadable},
    )


async def _unreadable(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, status_code=503)


def _bad(why: str) -> Response:
    return JSONResponse({"error": why}, status_code=400)


def _number(request: Request, name: str, default: float) -> float:
    """NaN, which is within no bounds, where it is none."""
    try:
        return float(request.query_params.get(name, default))
    except ValueError:
        return math.nan
