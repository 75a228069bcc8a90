"""Errors over the network: the project's own, as `application/problem+json`, and back again.

The type of a problem names the class, so that a client raises what the service raised.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metamem.core import errors
from metamem.core.errors import MetamemError, TooMany
from metamem.core.secrets import redact

MEDIA_TYPE = "application/problem+json"
_PREFIX = "urn:metamem:error:"
# By class, the nearest of a class's line first: its name in a type, its status and its title.
_KINDS: Mapping[type[MetamemError], tuple[str, int, str]] = {
    errors.BadKey: ("bad-key", 401, "No valid API key"),
    errors.Denied: ("denied", 403, "No right to that, or it is not there"),
    errors.UnknownName: ("unknown", 404, "Not there, or not to be seen"),
    errors.TooMany: ("too-many", 429, "More than is allowed"),
    errors.NotInstalled: ("not-installed", 501, "Not installed on the server"),
    errors.UsageError: ("usage", 422, "The request cannot be understood"),
    errors.Conflict: ("conflict", 409, "Something else is there already"),
    errors.Busy: ("busy", 409, "It is being worked on"),
    errors.Erased: ("erased", 410, "It was erased"),
    errors.StoreError: ("store", 503, "The store cannot do that now"),
    errors.AllowanceSpent: ("allowance", 429, "The budget is spent"),
    errors.DataError: ("data", 500, "Data is damaged"),
    MetamemError: ("error", 500, "It did not work"),
}
_BY_NAME = {name: kind for kind, (name, _, _) in _KINDS.items()}
# Problems of the transport alone, which are bad usage to whoever called.
_OF_TRANSPORT = {400: "Not readable", 405: "No such method", 413: "Too large", 421: "Wrong host"}


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as the network tells it."""

    type: str
    title: str
    status: int
    detail: str
    hint: str = ""
    retry_after: float | None = None

    @property
    def name(self) -> str:
        return self.type.removeprefix(_PREFIX)


def without_secrets(error: MetamemError) -> MetamemError:
    """The same error, whose words hold no secret: errors quote what callers gave. All that tells of
    errors goes through here: every verb, and each interface for what comes before one."""
    for name in ("message", "hint"):
        told = getattr(error, name)
        found = redact(told) if told else None
        if found is not None and found.kinds:
            setattr(error, name, found.text)
            error.args = (error.message,)
    return error


def problem(error: MetamemError, status: int = 0) -> Problem:
    """What an error is over the network; with another status where only the transport is to blame."""
    without_secrets(error)
    name, usual, title = next(_KINDS[kind] for kind in type(error).__mro__ if kind in _KINDS)
    wait = error.retry_after if isinstance(error, TooMany) else None
    if usual == 503 or isinstance(error, errors.Busy):
        wait = 1.0
    return Problem(
        _PREFIX + name,
        _OF_TRANSPORT.get(status, title),
        status or usual,
        error.message,
        error.hint,
        wait,
    )


def error_of(status: int, data: Any) -> MetamemError:
    """The error that a server told of."""
    known = data if isinstance(data, dict) else {}
    name = str(known.get("type", "")).removeprefix(_PREFIX)
    kind = _BY_NAME.get(name) or _by_status(status)
    message = str(known.get("detail") or f"the server answered with status {status}")
    hint = str(known.get("hint") or "")
    if issubclass(kind, TooMany):
        wait = known.get("retry_after")
        return kind(message, retry_after=wait if isinstance(wait, int | float) else None, hint=hint)
    return kind(message, hint=hint)


def _by_status(status: int) -> type[MetamemError]:
    for kind, (_, usual, _) in _KINDS.items():
        if usual == status:
            return kind
    return errors.UsageError if 400 <= status < 500 else errors.StoreError
