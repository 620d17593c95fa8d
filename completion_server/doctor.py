"""Follows the way from a key to a suggestion hop by hop and finds the first one that is broken.

Asks, changes nothing, starts nothing. Every hop needs the ones before it, so the first failure is the one to mend.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from completion_server import __version__
from completion_server.choice import choose_pair
from completion_server.client import connect
from completion_server.errors import ForetypeError
from completion_server.instance import find_running
from completion_server.paths import runtime_paths
from completion_server.protocol import StatusReply
from completion_server.pull import locate
from completion_server.settings import load

FRONT_END = ("pygls", "lsprotocol", "msgpack", "platformdirs", "rich", "typer")
ENGINE = ("torch", "transformers", "tokenizers", "safetensors", "numpy")


@dataclass(frozen=True, slots=True)
class Hop:
    """One station: what was found, and if it is broken what to do about it."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


class _Broken(Exception):
    def __init__(self, detail: str, remedy: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.remedy = remedy


def examine(command_line: Mapping[str, Any]) -> Iterator[Hop]:
    """Yield the hops in order, up to and with the first that is broken. `command_line` as for `settings.load`."""
    hops: tuple[tuple[str, Callable[[], str]], ...] = (
        ("python", _python),
        ("packages", _packages),
        ("settings", lambda: f"pair {choose_pair(load(command_line)).name}"),
        ("models", lambda: _models(command_line)),
        ("socket folder", _socket_folder),
        ("engine", _engine),
    )
    for name, look in hops:
        try:
            yield Hop(name, True, look())
        except _Broken as broken:
            yield Hop(name, False, broken.detail, broken.remedy)
            return
        except ForetypeError as error:
            yield Hop(name, False, str(error))
            return
        except OSError as error:
            yield Hop(name, False, f"{error.strerror or type(error).__name__}: {error.filename or 'unknown file'}")
            return


def _python() -> str:
    return f"Python {'.'.join(map(str, sys.version_info[:3]))} at {sys.executable}"


def _packages() -> str:
    return f"foretype {__version__}, {_versions(FRONT_END, 'foretype')}, {_versions(ENGINE, 'foretype[engine]')}"


def _versions(names: tuple[str, ...], distribution: str) -> str:
    found, missing = [], []
    for name in names:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        raise _Broken(f"not installed: {', '.join(missing)}", f"pip install '{distribution}'")
    return ", ".join(found)


def _models(command_line: Mapping[str, Any]) -> str:
    return ", ".join(f"{ref} in {locate(ref)}" for ref in choose_pair(load(command_line)).models)


def _socket_folder() -> str:
    paths = runtime_paths()
    try:
        paths.check()
    except FileNotFoundError:
        return f"{paths.folder} will be made by the first engine"
    return str(paths.folder)


def _engine() -> str:
    """None, which is well: the next editor starts one. Or running, of this version, with its models, and answering."""
    if find_running(runtime_paths()) is None:
        return "none runs now; an editor or `foretype try` starts one"
    log = runtime_paths().log
    before = time.perf_counter()
    status = asyncio.run(_ask())
    took = 1000 * (time.perf_counter() - before)
    if status.version != __version__:
        raise _Broken(
            f"version {status.version} is running, this is {__version__}", "`foretype stop`; editors start the new one"
        )
    if status.state.phase == "failed":
        raise _Broken(f"the models did not load: {status.state.detail}", _hint(log))
    return f"process {status.pid}, {status.state.pair}, {status.state.phase}, answered in {took:.0f} ms"


async def _ask() -> StatusReply:
    client = await connect(name="doctor")
    try:
        return await client.status()
    finally:
        await client.aclose()


def _hint(log: Path) -> str:
    return f"its log is {log}" if log.exists() else "see where `foretype serve` runs"
