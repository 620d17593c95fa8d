"""`foretype serve`: an engine in the foreground."""

import asyncio
import logging
import os
import signal
import sys
import threading
from typing import Annotated, Any

import typer

from completion_server.cli_options import Draft, Pair, Target


def serve(
    pair: Pair = None,
    target: Target = None,
    draft: Draft = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda or cuda:N.")] = None,
    dtype: Annotated[str | None, typer.Option(help="auto, float32, bfloat16, float16, float64, int8 or fp8.")] = None,
    kv_dtype: Annotated[str | None, typer.Option(help="Keys and values: auto, or int8 on a GPU.")] = None,
    static_passes: Annotated[str | None, typer.Option(help="Passes of fixed shape: auto (on a GPU), on, off.")] = None,
    compiled_blocks: Annotated[bool | None, typer.Option(help="Compile the blocks of passes of fixed shape.")] = None,
    context_tokens: Annotated[int | None, typer.Option(help="Longest prompt and suggestion, in tokens.")] = None,
    chunk_tokens: Annotated[int | None, typer.Option(help="Prompt tokens between two looks for a cancel.")] = None,
    kv_budget: Annotated[str | None, typer.Option(help="Memory for keys and values: 2GiB, or a share: 50%.")] = None,
    slots: Annotated[int | None, typer.Option(help="Documents whose keys and values are kept.")] = None,
    max_queue: Annotated[int | None, typer.Option(help="Requests that may wait.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of torch on CPU; 0: torch decides.")] = None,
    unload_after_s: Annotated[
        float | None, typer.Option(help="Unload the models after idle seconds; 0: never.")
    ] = None,
    exit_after_s: Annotated[float | None, typer.Option(help="End after idle seconds; 0: never.")] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.")] = None,
    drafting: Annotated[bool | None, typer.Option(help="Draft and verify, or the target alone.")] = None,
    idle_continuation: Annotated[
        bool | None, typer.Option(help="Work out what follows a suggestion while it is read.")
    ] = None,
    numbers: Annotated[bool | None, typer.Option(help="Keep numbers, never text, for `foretype stats`.")] = None,
    numbers_days: Annotated[int | None, typer.Option(help="Days that they are kept.")] = None,
    metrics_port: Annotated[int | None, typer.Option(help="Prometheus metrics on this port of loopback.")] = None,
) -> None:
    """Run an engine until it is stopped. Editors start one themselves where none runs."""
    run(dict(locals()))


def run(command_line: dict[str, Any]) -> None:
    """Serve with these settings; returns when the engine has ended, or at once if one runs already."""
    parent = foreground_parent()
    from completion_server.choice import choose_pair, with_pair
    from completion_server.cli_engine import loaded_pair
    from completion_server.engine.pair_loader import PairLoader
    from completion_server.engine.thread import EngineThread
    from completion_server.engine.turns import Turns
    from completion_server.folders import numbers_file
    from completion_server.numbers.recording import recording
    from completion_server.server import serve as serve_backend
    from completion_server.settings import load

    settings = with_pair(load(command_line))
    logging.basicConfig(level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    name = choose_pair(settings).name

    turns = Turns()
    loader = PairLoader(settings, turns)
    backend = EngineThread(
        name,
        loader.load,
        find=loader.find,
        turns=turns,
        max_queue=settings.max_queue,
        unload_after_s=settings.unload_after_s,
    )
    other = asyncio.run(
        serve_backend(
            backend,
            pair=name,
            exit_after_idle_s=settings.exit_after_s or None,
            parent_pid=parent,
            recording=lambda: recording(settings, numbers_file(), backend.snapshot),
        )
    )
    if other is not None:
        in_use = loaded_pair() or other.pair  # it may have changed its pair since it began
        typer.echo(f"an engine runs already: process {other.pid}, pair {in_use or 'unknown'}", err=True)
        if in_use != name:
            typer.echo(f"to have it use {name}: foretype pairs use {name}", err=True)
            raise typer.Exit(1)
    _leave(2 if backend.failure is not None else 0)


def foreground_parent() -> int | None:
    """The process to end with, None if this engine was detached from it (own session, or nohup)."""
    detached = os.getsid(0) == os.getpid() or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return None if detached else os.getppid()


def _leave(code: int) -> None:
    """End the process at once if a thread is left over: one deep inside torch (loading, say) makes Python's way out
    abort, and the server has waited for it as long as it may.
    """
    if threading.active_count() > 1:
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    if code:
        raise typer.Exit(code)
