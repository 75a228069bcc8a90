"""One root error. Every message says what went wrong and, where it helps, what to do."""

from typing import Any


class MetamemError(Exception):
    """Something a person can act on. Shown as one line, never as a traceback."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        """So that an error arrives whole where a worker process sends it."""
        return _rebuilt, (type(self), dict(self.__dict__))


def _rebuilt(kind: type[MetamemError], state: dict[str, Any]) -> MetamemError:
    error = kind.__new__(kind, state["message"])
    error.__dict__.update(state)
    return error


class UsageError(MetamemError):
    """Bad input: an unknown name, a missing file, a value out of range."""

    exit_code = 2


class UnknownName(UsageError):
    """A name that no registry knows."""


class Denied(UsageError):
    """The caller has no right to that, or it is not there: which of the two, is not told."""

    exit_code = 8


class BadKey(Denied):
    """A credential that opens nothing: unknown, wrong, expired, revoked. Which, is not told."""


class TooMany(MetamemError):
    """More than the caller is allowed: requests in a minute, or facts in all."""

    exit_code = 9

    def __init__(self, message: str, *, retry_after: float | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after  # seconds; None where waiting will not help


class NotInstalled(UsageError):
    """An optional package that is needed here and not installed."""


class Broken(MetamemError):
    """Something that is installed and cannot be used; trying again will not help."""


class DataError(MetamemError):
    """Data that cannot be read as what it claims to be."""

    exit_code = 3


class StoreError(MetamemError):
    """The archive cannot be read or written; what was committed stays committed."""

    exit_code = 4


class Busy(StoreError):
    """Another process is at work on the same run."""


class Conflict(StoreError):
    """Another was first: what was about to be written no longer follows on what is there."""


class Guarded(StoreError):
    """Rows that stay as they are were about to be changed or deleted: the database refused it."""


class ScrubDue(StoreError):
    """Deleted, and not yet gone from the storage: somebody still reads it. Scrub again later."""


class Erased(StoreError):
    """The content was there, and was deleted on someone's word."""


class JailUnavailable(MetamemError):
    """No layer that may hold untrusted code is available on this machine."""

    exit_code = 5


class DesignFailure(MetamemError):
    """The design's own fault: it crashed, hung, or went over a limit. This is scored."""

    def __init__(self, message: str, *, kind: str = "crash", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.kind = kind  # crash | timeout | wall | memory | limit | protocol | snapshot | values

    @property
    def short(self) -> str:
        """As rows keep it: the kind and the last line."""
        last = self.message.strip().splitlines()[-1] if self.message.strip() else ""
        return f"{self.kind}: {last}"[:200]


class EngineFault(MetamemError):
    """The machine's or the engine's fault. Retried a bounded number of times, never scored."""

    exit_code = 6


class ModelUnavailable(MetamemError):
    """A design or agent asked for a model that is not configured."""


class ModelRefused(MetamemError):
    """A model answered, but with nothing that will do. Whoever asked must live with that."""

    def __init__(self, message: str, *, tokens: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.tokens = tokens  # that it cost all the same


class ModelFault(EngineFault):
    """A model could not be reached or kept failing: the provider's fault, never scored."""


class AllowanceSpent(MetamemError):
    """The budget of tokens or money does not allow another call: stop cleanly."""

    exit_code = 7
