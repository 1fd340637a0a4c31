# SPDX-License-Identifier: BSD-2-Clause
"""Exceptions of the package, one class for each kind of error.

Each is a DynamicsError, and also the standard exception that a Python program expects: NotFound is a LookupError,
InvalidArgument a ValueError, Unreachable a ConnectionError, and so on.
"""
from __future__ import annotations

from typing import Any

from dynamicsd._client import ffi, lib


class DynamicsError(Exception):
    """Error of a call, as the daemon or this library reports it.

    code        canonical name, such as "INVALID_ARGUMENT".
    field       path of the wrong field, such as "inverse_dynamics.q[13]"; empty: no single field is wrong.
    message     sentence with the offending value and the next step.
    reason      token for programs, such as "SINGULAR_MASS_MATRIX"; status.proto lists all.
    sample      index of the state that the error is about, or None.
    joint       joint that the error is about; empty: no single one.
    limit       limit that is exceeded, and `requested` the amount that was asked for; 0: none, or not known.
    limit_name  name of the limit in ServerInfo.limits.
    retry_after seconds after which the same call may succeed; 0: it fails again.
    request     number of the request in the daemon's log and list of slow requests; 0: none was sent.
    """

    code = "UNKNOWN"

    def __init__(self, message: str, *, field: str = "", reason: str = "", sample: int | None = None, joint: str = "",
                 limit: int = 0, requested: int = 0, limit_name: str = "", retry_after: float = 0.0,
                 request: int = 0) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.message = message
        self.field = field
        self.reason = reason
        self.sample = sample
        self.joint = joint
        self.limit = limit
        self.requested = requested
        self.limit_name = limit_name
        self.retry_after = retry_after
        self.request = request


class Cancelled(DynamicsError):
    """End of a call by Client.abort, a progress callback or another client."""

    code = "CANCELLED"


class InvalidArgument(DynamicsError, ValueError):
    """A value, a count, a shape or a name is wrong."""

    code = "INVALID_ARGUMENT"


class DeadlineExceeded(DynamicsError, TimeoutError):
    """The timeout of the request passed in the daemon."""

    code = "DEADLINE_EXCEEDED"


class NotFound(DynamicsError, LookupError):
    """No model, joint, frame, link, simulation, stream, recording or job has that name."""

    code = "NOT_FOUND"


class AlreadyExists(DynamicsError):
    """Another object has that name."""

    code = "ALREADY_EXISTS"


class PermissionDenied(DynamicsError, PermissionError):
    """The token or the key is wrong, or the role does not suffice."""

    code = "PERMISSION_DENIED"


class ResourceExhausted(DynamicsError):
    """A limit of the daemon is reached: `limit_name`, `limit` and `requested` name it."""

    code = "RESOURCE_EXHAUSTED"


class FailedPrecondition(DynamicsError):
    """The model or the object cannot serve the request: a singular mass matrix, for one."""

    code = "FAILED_PRECONDITION"


class Aborted(DynamicsError):
    """Another client has changed the object."""

    code = "ABORTED"


class OutOfRange(DynamicsError, ValueError):
    """A position is outside the range that the object has."""

    code = "OUT_OF_RANGE"


class Unimplemented(DynamicsError, NotImplementedError):
    """The daemon is older than this client."""

    code = "UNIMPLEMENTED"


class Internal(DynamicsError):
    """Defect of the daemon."""

    code = "INTERNAL"


class Unavailable(DynamicsError, ConnectionError):
    """The daemon is starting or draining; `retry_after` says when to try again."""

    code = "UNAVAILABLE"


class DataLoss(DynamicsError):
    """Stored data are damaged."""

    code = "DATA_LOSS"


class Unauthenticated(DynamicsError, PermissionError):
    """The daemon does not know the caller."""

    code = "UNAUTHENTICATED"


class Unreachable(DynamicsError, ConnectionError):
    """Nothing listens at the address, or the connection was closed."""

    code = "UNREACHABLE"


class Timeout(DynamicsError, TimeoutError):
    """No reply arrived within the timeout."""

    code = "TIMEOUT"


class BadReply(DynamicsError):
    """The reply is not one of dynamics.v1, or does not match the request."""

    code = "BAD_REPLY"


class OutOfMemory(DynamicsError, MemoryError):
    """The client has no memory for the call."""

    code = "OUT_OF_MEMORY"


class MarkedRows(UserWarning):
    """Some states of a call with on_error="mark" failed. Their rows are NaN."""


KINDS: dict[str, type[DynamicsError]] = {kind.code: kind for kind in DynamicsError.__subclasses__()}


def text(characters: Any) -> str:
    """String of C; NULL is the empty string."""
    if not characters:
        return ""
    found: bytes = ffi.string(characters)
    try:
        return found.decode()
    except UnicodeDecodeError:
        return found.decode("utf-8", "replace")


def exception_of(status: int, error: Any) -> DynamicsError:
    """Exception for a status of the C client and its dyn_client_error."""
    kind = KINDS.get(text(lib.dyn_client_status_name(status)), DynamicsError)
    return kind(text(error.message), field=text(error.field), reason=text(error.reason),
                sample=int(error.sample) if error.has_sample else None, joint=text(error.joint),
                limit=int(error.limit), requested=int(error.requested), limit_name=text(error.limit_name),
                retry_after=float(error.retry_after), request=int(error.request))
