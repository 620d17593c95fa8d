"""Serves the dashboard on loopback until it is interrupted."""

import secrets
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from completion_server.dashboard.access import Access
from completion_server.dashboard.app import application
from completion_server.errors import SettingsError


def serve(store: Path, port: int, *, browse: bool, tell: Callable[[str], None]) -> None:
    """`port` 0 takes a free one. `tell` is given the address once it answers; `browse` opens it in a browser.

    Raises `SettingsError` if the port is taken.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise SettingsError(f"port {port} cannot be used ({error.strerror}): choose another, or 0") from None
        access = Access(listener.getsockname()[1], secrets.token_urlsafe(24))
        address = f"http://127.0.0.1:{access.port}/#{access.token}"
        config = uvicorn.Config(application(store, access), log_level="warning", access_log=False, lifespan="off")
        listener.listen()
        tell(address)
        if browse:
            webbrowser.open(address)
        uvicorn.Server(config).run(sockets=[listener])
