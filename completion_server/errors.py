"""Every error that Foretype raises on purpose, drawn as one tree.

    ForetypeError
    ├── SettingsError         a setting, a TOML file or a command-line value that makes no sense
    ├── ModelError            a model that cannot be used
    │   ├── ModelNotFound     nothing there: not pulled, wrong path, wrong id
    │   ├── UnsafeModel       pickle weights or remote code: refused
    │   ├── UnsupportedModel  an architecture, RoPE type or attention that the engine does not do exactly
    │   └── PairMismatch      target and draft do not share a vocabulary
    ├── DeviceError           the device that was asked for is not there
    ├── ProtocolError         a frame that breaks the protocol
    │   └── VersionMismatch   the other side speaks another version of it
    ├── EngineUnavailable     nobody answers on the socket, or the connection broke
    └── RequestError          one request failed; the others go on
        ├── Overloaded        refused at once because the queue is full
        └── RequestCancelled  cancelled by its client or superseded by a newer key

Every message says what is wrong and what to do, in one line, and never quotes user text.
`code` is stable and travels in protocol `Error` replies. Knows nothing of any other module.
"""

import traceback
from pathlib import Path
from typing import ClassVar


class ForetypeError(Exception):
    """Root of the tree."""

    code: ClassVar[str] = "internal"


class SettingsError(ForetypeError):
    code = "settings"


class ModelError(ForetypeError):
    code = "model"


class ModelNotFound(ModelError):
    code = "model-not-found"


class UnsafeModel(ModelError):
    code = "unsafe-model"


class UnsupportedModel(ModelError):
    code = "unsupported-model"


class PairMismatch(ModelError):
    code = "pair-mismatch"


class DeviceError(ForetypeError):
    code = "device"


class ProtocolError(ForetypeError):
    code = "protocol"


class VersionMismatch(ProtocolError):
    code = "version-mismatch"


class EngineUnavailable(ForetypeError):
    code = "engine-unavailable"


class RequestError(ForetypeError):
    code = "request"


class Overloaded(RequestError):
    code = "overloaded"


class RequestCancelled(RequestError):
    code = "cancelled"


def type_and_place(error: BaseException) -> str:
    """What may be logged of an unforeseen error, "KeyError at engine.py:12": not its text, which could be a user's."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
    return f"{type(error).__name__} at {place}"
