"""Serves the metrics on loopback, to a few at a time: who sends half a request, or very many, costs the engine little.

`prometheus_client.start_http_server` would give each connection a thread for as long as it stays open.
"""

import threading
from collections.abc import Callable
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

AT_A_TIME: Final = 8
PATIENCE_S: Final = 5.0  # until a request must be there


def serve(port: int, registry: CollectorRegistry) -> Callable[[], None]:
    """Serve `registry` on `port` of loopback from now on; what is returned ends that. Raises OSError."""
    server = make_server("127.0.0.1", port, make_wsgi_app(registry), _Server, _Handler)
    thread = threading.Thread(target=server.serve_forever, name="foretype-metrics", daemon=True)
    thread.start()

    def end() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return end


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    block_on_close = False  # who has not sent all of a request is not waited for

    def __init__(self, *arguments: Any) -> None:
        self._free = threading.BoundedSemaphore(AT_A_TIME)
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A peer that hangs up, or says nothing, is no trouble of ours."""


class _Handler(WSGIRequestHandler):
    timeout = PATIENCE_S

    def log_message(self, *arguments: Any) -> None:
        """A scrape every few seconds is no news."""
