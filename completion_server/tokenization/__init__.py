"""Text to tokens and back, for user text. Needs only the `tokenizers` library; knows nothing of models or prompts."""

from completion_server.tokenization.boundary import Boundary
from completion_server.tokenization.incremental import IncrementalEncoder
from completion_server.tokenization.stream import StreamDecoder
from completion_server.tokenization.text import TextTokenizer

__all__ = ["Boundary", "IncrementalEncoder", "StreamDecoder", "TextTokenizer"]
