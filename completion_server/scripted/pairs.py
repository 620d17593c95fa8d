"""The pairs of the scripted engine: names, one of which is in use, and a switch that takes what the script says."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from completion_server.backend import Reply
from completion_server.errors import RequestError, SettingsError
from completion_server.protocol import Cancelled, EngineMessage, Error, PairInUse, State, Usage, UsePair


class ScriptedPairs:
    """Keeps the promises of `Backend.use_pair`."""

    def __init__(self, first: str, others: tuple[str, ...], load_s: float, announce: Callable[[State], None]) -> None:
        self.name = first
        self._known = (first, *others)
        self._load_s = load_s
        self._announce = announce
        self._held = threading.Lock()
        self._switching = threading.Lock()
        self._stopped = threading.Event()

    @contextmanager
    def held(self) -> Iterator[None]:
        """While a request is answered no other pair comes into use."""
        with self._held:
            yield

    def use(self, request: UsePair, reply: Reply) -> None:
        """Switch on a thread of its own."""
        if request.name not in self._known:
            why = f"no pair is called {request.name!r}; there are: {', '.join(self._known)}"
            reply(Error(request.id, SettingsError.code, why))
        elif not self._switching.acquire(blocking=False):
            reply(Error(request.id, RequestError.code, "the engine is just switching: ask again when that is done"))
        else:
            threading.Thread(target=self._switch, args=(request, reply), name="scripted-switch", daemon=True).start()

    def stop(self) -> None:
        """A switch that is under way comes to nothing."""
        self._stopped.set()

    def _switch(self, request: UsePair, reply: Reply) -> None:
        try:
            answer = self._switched(request)
        finally:
            self._switching.release()
        reply(answer)

    def _switched(self, request: UsePair) -> EngineMessage:
        if self.name != request.name:
            self._announce(State("ready", self.name, f"switching to {request.name}: as the script says", 0.5))
            self._stopped.wait(self._load_s)
        with self._held:
            if self._stopped.is_set():
                return Cancelled(request.id, "shutdown", Usage())
            if self.name != request.name:
                self.name = request.name
                self._announce(State("ready", self.name))
            return PairInUse(request.id, self.name, 0.0)
