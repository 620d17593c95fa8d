"""`foretype pull` and `foretype pairs`: which models there are and which are here."""

import json
from typing import Annotated

import typer

from completion_server.cli_engine import loaded_pair
from completion_server.cli_options import Json


def pull(what: Annotated[str | None, typer.Argument(help="A pair, or a model; default: your pair.")] = None) -> None:
    """Fetch the models of a pair, or one model: a Hugging Face id, a folder, a .gguf file, embedded."""
    from completion_server.choice import choose_pair
    from completion_server.pairs import ModelRef, load_pairs
    from completion_server.pull import pull as fetch
    from completion_server.pull.progress import shown
    from completion_server.settings import load

    pairs = load_pairs()
    if what is None:
        refs = choose_pair(load()).models
    elif what in pairs:
        refs = pairs[what].models
    else:
        refs = (ModelRef.parse(what),)
    for ref in refs:
        with shown(str(ref)) as progress:
            folder = fetch(ref, progress)
        typer.echo(f"{ref}: {folder}")


def pairs(as_json: Json = False) -> None:
    """All pairs by name, and which one the running engine has loaded."""
    from completion_server.pairs import load_pairs, user_pairs_file

    loaded = loaded_pair()
    named = load_pairs().values()
    if as_json:
        rows = [
            {
                "name": pair.name,
                "target": str(pair.target),
                "draft": None if pair.draft is None else str(pair.draft),
                "drafters": list(pair.drafters),
                "layout": pair.layout,
                "loaded": pair.name == loaded,
            }
            for pair in named
        ]
        typer.echo(json.dumps({"pairs": rows}))
        return
    rows_of_text = [("NAME", "TARGET", "DRAFT", "DRAFTERS", "LAYOUT", "")] + [
        (
            pair.name,
            str(pair.target),
            str(pair.draft or "-"),
            ", ".join(pair.drafters),
            pair.layout,
            "loaded" if pair.name == loaded else "",
        )
        for pair in named
    ]
    widths = [max(map(len, column)) for column in zip(*rows_of_text, strict=True)]
    for row in rows_of_text:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    typer.echo(f"\nYour own pairs go into {user_pairs_file()}")
