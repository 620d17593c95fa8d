"""What a person does at an editor, one action at a time. Values; they know nothing of who plans or performs them.

Times are seconds from the start. Edits are at the cursor of the document that was opened or switched to last.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Open:
    """Goes to a document that is not open yet, with the cursor at `line` and `column` (from 0, in code points)."""

    at: float
    document: str
    text: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Switch:
    """Goes to an open document; its cursor is where it was."""

    at: float
    document: str


@dataclass(frozen=True, slots=True)
class Close:
    at: float
    document: str


@dataclass(frozen=True, slots=True)
class Move:
    at: float
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Insert:
    """One key. `slip`: it goes again, because it was mistyped or came behind a mistyped one."""

    at: float
    text: str
    slip: bool = False


@dataclass(frozen=True, slots=True)
class Delete:
    """`count` code points in front of the cursor."""

    at: float
    count: int = 1
    slip: bool = False


@dataclass(frozen=True, slots=True)
class Accept:
    """Takes this text of what is suggested, with one key."""

    at: float
    text: str


Key = Insert | Delete | Accept
Action = Open | Switch | Close | Move | Key
