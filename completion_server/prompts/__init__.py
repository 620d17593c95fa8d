"""Prompts that only grow at the end while somebody types. Knows tokens and text; nothing of models, KV or sockets."""

from completion_server.prompts.budget import PromptBudget
from completion_server.prompts.document import DocumentPrompt, Prompt
from completion_server.prompts.families import FAMILIES, Family, Repository, Slot, detect
from completion_server.prompts.layout import Layout

__all__ = ["FAMILIES", "DocumentPrompt", "Family", "Layout", "Prompt", "PromptBudget", "Repository", "Slot", "detect"]
