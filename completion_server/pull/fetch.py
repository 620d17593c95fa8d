"""One way in for all kinds of models. Knows nothing of pairs and of how a model is loaded."""

from pathlib import Path
from typing import assert_never

from completion_server.pairs import ModelRef
from completion_server.pull import embedded, gguf_file, hub, shipped
from completion_server.pull.folder import check_folder
from completion_server.pull.progress import Progress


def locate(ref: ModelRef) -> Path:
    """The folder with config, safetensors and tokenizer of a model that is here.

    Raises ModelNotFound that names the command to run, or UnsafeModel if there are only pickled weights.
    """
    match ref.kind:
        case "embedded":
            return embedded.locate()
        case "shipped":
            return shipped.locate(ref.name)
        case "hub":
            return hub.locate(ref)
        case "folder":
            return check_folder(Path(ref.name))
        case "gguf":
            return gguf_file.locate(Path(ref.name))
        case _:
            assert_never(ref.kind)


def pull(ref: ModelRef, progress: Progress) -> Path:
    """Fetch and convert what is missing; returns what `locate` then does. Done already: returns at once.

    Two pulls of one model wait for one another. Raises ModelNotFound, UnsafeModel, UnsupportedModel, or
    SettingsError if the cache folder cannot be written.
    """
    match ref.kind:
        case "embedded":
            return embedded.pull(progress)
        case "shipped":
            return shipped.locate(ref.name)
        case "hub":
            return hub.pull(ref, progress)
        case "folder":
            return check_folder(Path(ref.name))
        case "gguf":
            return gguf_file.pull(Path(ref.name), progress)
        case _:
            assert_never(ref.kind)
