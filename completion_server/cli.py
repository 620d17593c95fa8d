"""The command `foretype`: parses, calls, prints. Every command imports what it needs when it runs.

The commands stand in `cli_engine`, `cli_models`, `cli_pairs`, `cli_numbers`, `cli_bench`, `cli_distill` and `cli_try`;
those that hand over to another program are here.
"""

import os
import sys
from contextlib import suppress
from typing import Annotated

import typer

from completion_server import (
    __version__,
    cli_bench,
    cli_distill,
    cli_engine,
    cli_models,
    cli_numbers,
    cli_pairs,
    cli_serve,
    cli_try,
)
from completion_server.errors import ForetypeError

PASSED_ON = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def main() -> None:
    """Entry point. An error is one line on standard error, with exit code 2 if it is one of ours and 1 if the system
    refused something (a full disk, say); FORETYPE_DEBUG=1 shows where.
    """
    try:
        build()()
    except (ForetypeError, OSError) as error:
        if os.environ.get("FORETYPE_DEBUG") == "1":
            raise
        if isinstance(error, ForetypeError):
            _complain(str(error))
            sys.exit(2)
        _complain(f"{error.strerror or type(error).__name__}{f': {error.filename}' if error.filename else ''}")
        _give_up_output()
        sys.exit(1)


def _complain(why: str) -> None:
    with suppress(OSError):  # standard error may be what is full
        typer.echo(f"foretype: {why}", err=True)


def _give_up_output() -> None:
    """Python writes what is left of standard output when it ends: where that is impossible it goes nowhere."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def build() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        name="foretype",
        help="Self-hosted ghost text: suggestions while you type, from models on your own machine.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    app.command("demo")(demo)
    app.command("try")(cli_try.try_)
    app.command("lsp", context_settings=PASSED_ON, add_help_option=False)(lsp)
    app.command("serve")(cli_serve.serve)
    app.command("status")(cli_engine.status)
    app.command("stats")(cli_numbers.stats)
    app.command("dashboard")(cli_numbers.dashboard)
    app.command("stop")(cli_engine.stop)
    app.command("doctor")(cli_engine.doctor)
    app.command("pull")(cli_models.pull)
    app.add_typer(cli_pairs.pairs(), name="pairs")
    app.command("bench")(cli_bench.bench)
    app.command("distill")(cli_distill.distill)
    app.command("version")(version)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


def _options(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    pass


def lsp(context: typer.Context) -> None:
    """Language server on standard input and output, for an editor to start."""
    from lsp.server import main as serve_editor

    raise typer.Exit(serve_editor(context.args))


def demo() -> None:
    """Type through a real file with the embedded model and show what an editor would."""
    from bench.demo import main as show

    show()


def version() -> None:
    """Print the version."""
    typer.echo(__version__)
