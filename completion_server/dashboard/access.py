"""Who may read the numbers: whoever has the token, from a page that this server sent.

The token travels in the URL's fragment, which browsers keep to themselves, and from there in a header. `Host` must name
this machine, so that no other site's name can be pointed here (DNS rebinding), and `Origin`, where a browser sends one,
must be this server.
"""

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

Next = Callable[[Request], Awaitable[Response]]

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Access:
    """For a server on loopback `port`; paths below `/api/` need the `token`."""

    port: int
    token: str

    async def __call__(self, request: Request, call_next: Next) -> Response:
        why = self.refusal(request)
        response = PlainTextResponse(why, status_code=403) if why else await call_next(request)
        response.headers.update(HEADERS)
        return response

    def refusal(self, request: Request) -> str | None:
        """Why `request` is not answered; None if it is."""
        hosts = {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        if request.headers.get("host", "") not in hosts:
            return "this server answers to 127.0.0.1 and localhost alone"
        origin = request.headers.get("origin")
        if origin is not None and origin.removeprefix("http://") not in hosts:
            return "another site's page asked"
        if request.url.path.startswith("/api/"):
            given = request.headers.get("authorization", "").encode()
            if not hmac.compare_digest(given, f"Bearer {self.token}".encode()):
                return "open the address that `foretype dashboard` printed: it carries a token"
        return None
