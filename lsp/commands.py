"""What a person can do with the engine from an editor. Each command answers with an object for the client to show."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from completion_server.client import known_pairs
from completion_server.errors import ForetypeError
from lsp.condition import condition
from lsp.item import ACCEPTED

if TYPE_CHECKING:
    from lsp.server import Server


class _Pair(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def target(self) -> object: ...
    @property
    def draft(self) -> object: ...


def register(server: "Server") -> None:
    """Add the commands to `server`.

    Arguments are `Any` because pygls puts the server in front of those annotated with one of its base classes.
    """

    @server.command(ACCEPTED)
    def accepted(*ids: Any) -> None:
        for own_id in ids:
            server.audience.accepted(own_id if isinstance(own_id, str) else None)
        server.reporter.refresh()

    @server.command("foretype.start")
    async def start(*_: Any) -> dict[str, Any]:
        server.link.start()
        server.reporter.refresh()
        return _done()

    @server.command("foretype.stop")
    async def stop(*_: Any) -> dict[str, Any]:
        await server.link.shut_down()
        return _done()

    @server.command("foretype.restart")
    async def restart(*_: Any) -> dict[str, Any]:
        await server.link.shut_down()
        server.link.start()
        return _done()

    @server.command("foretype.usePair")
    async def use_pair(*names: Any) -> dict[str, Any]:
        name = names[0] if names else None
        engine = server.link.connected
        refusal = _refusal(name, may_start=engine is not None or server.settings.engine.start)
        if refusal is not None:
            return {"ok": False, "message": refusal}
        if engine is None:
            server.pair = str(name)
            return await restart()
        try:
            await engine.use_pair(str(name))  # which answers with the old pair until the new one is there
        except ForetypeError as error:
            return {"ok": False, "message": str(error)}
        server.pair = str(name)
        return _done()

    @server.command("foretype.pairs")
    def pairs(*_: Any) -> list[dict[str, Any]]:
        try:
            return _listed(known_pairs(), server.link.connected.state.pair if server.link.connected else "")
        except ForetypeError:
            return []  # the engine says what is wrong with the file

    @server.command("foretype.status")
    async def status(*_: Any) -> dict[str, Any]:
        server.audience.settle()
        return await condition(server.link, server.figures, server.totals, server.log_file)


def _refusal(name: object, *, may_start: bool) -> str | None:
    """Why a pair cannot be used, in one line; the one in use goes on."""
    if not may_start:
        return "this editor may not start an engine (setting engine.start): use `foretype serve --pair NAME`"
    try:
        names = [pair.name for pair in known_pairs()]
    except ForetypeError as error:
        return str(error)
    if name in names:
        return None
    return f"there is no pair of that name: choose one of {', '.join(names)}"


def _listed(pairs: Iterable[_Pair], loaded: str) -> list[dict[str, Any]]:
    return [
        {
            "name": pair.name,
            "target": str(pair.target),
            "draft": None if pair.draft is None else str(pair.draft),
            "loaded": pair.name == loaded,
        }
        for pair in pairs
    ]


def _done() -> dict[str, Any]:
    return {"ok": True, "message": ""}
