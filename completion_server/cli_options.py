"""Options that several commands share."""

from typing import Annotated

import typer

Pair = Annotated[str | None, typer.Option(help="A pair by name, see `foretype pairs`.")]
Target = Annotated[str | None, typer.Option(help="Target model: a Hugging Face id, a folder, a .gguf file, embedded.")]
Draft = Annotated[
    str | None, typer.Option(help="Draft model, named like the target; embedded-draft; or n-gram for none.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
