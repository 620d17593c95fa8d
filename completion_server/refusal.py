"""Which exception a reply stands for when it is not the one that was hoped for. Knows nothing of connections."""

from completion_server.errors import (
    EngineUnavailable,
    ForetypeError,
    ProtocolError,
    RequestCancelled,
    RequestError,
)
from completion_server.protocol import Cancelled, Error, Message


def refusal_of(message: Message) -> ForetypeError:
    """The exception to raise for a reply other than the wanted one; an `Error`'s class is found by its code."""
    match message:
        case Cancelled(reason="shutdown"):
            return EngineUnavailable("the engine is ending")
        case Cancelled(reason=reason):
            return RequestCancelled(f"the request was cancelled ({reason})")
        case Error(code=code, message=text):
            return error_classes().get(code, RequestError)(text)
        case _:
            return ProtocolError(f"unexpected {type(message).__name__}")


def error_classes() -> dict[str, type[ForetypeError]]:
    """Error classes by code. The root's code stands for one request that failed for an internal reason."""
    classes: dict[str, type[ForetypeError]] = {}
    pending: list[type[ForetypeError]] = [*ForetypeError.__subclasses__()]
    while pending:
        error_class = pending.pop()
        classes[error_class.code] = error_class
        pending.extend(error_class.__subclasses__())
    return classes
