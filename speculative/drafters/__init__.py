"""Where drafts come from: the last suggestion, earlier occurrences in the text, a small model."""

from speculative.drafters.model import DraftModel, ModelDrafter
from speculative.drafters.ngram import Corpus, NgramDrafter, NgramIndex
from speculative.drafters.opening import OpeningDrafter
from speculative.drafters.tail import TailDrafter

__all__ = ["Corpus", "DraftModel", "ModelDrafter", "NgramDrafter", "NgramIndex", "OpeningDrafter", "TailDrafter"]
