"""`foretype pull`: gets models here."""

from typing import Annotated

import typer


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
