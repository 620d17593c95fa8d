"""Where drafts come from: the last suggestion, earlier occurrences in the text, a small model."""

from speculative.drafters.index import Corpus, NgramIndex, Suggestions
from speculative.drafters.model import DraftModel, ModelDrafter
from speculative.drafters.ngram import NgramDrafter
from speculative.drafters.opening import OpeningDrafter
from speculative.drafters.tail import TailDrafter

__all__ = [
    "Corpus",
    "DraftModel",
    "ModelDrafter",
    "NgramDrafter",
    "NgramIndex",
    "OpeningDrafter",
    "Suggestions",
    "TailDrafter",
]
