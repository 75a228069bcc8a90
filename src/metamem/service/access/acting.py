"""What every verb goes through: its rate is limited, and the audit says what became of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from metamem.core.access import Caller, Scope
from metamem.core.errors import Denied, MetamemError, StoreError, TooMany, UnknownName
from metamem.service.access import audit
from metamem.service.access.audit import Outcome, Recorder
from metamem.service.access.keys import Doorkeeper
from metamem.service.access.limits import RateLimits, check_quota
from metamem.service.problems import without_secrets
from metamem.service.sight import Right, denied
from metamem.store.engine import Execute


@dataclass(slots=True)
class Act:
    """One call of one verb, while it goes on."""

    caller: Caller
    verb: str
    scopes: Sequence[str]
    target: str
    entered: bool = False  # in the audit, inside the transaction of what was done

    def enter(self, execute: Execute) -> None:
        """Say in the audit that it was done. Nothing is said if the transaction fails."""
        if not self.entered:
            audit.write(execute, self.entry("granted"))
            self.entered = True

    def entry(self, outcome: Outcome) -> audit.Entry:
        return audit.entry(self.caller, self.verb, self.scopes, self.target, outcome)


_now: ContextVar[Act] = ContextVar("act")


class Acts:
    """Lets callers act, one act at a time in each thread or task."""

    def __init__(self, doorkeeper: Doorkeeper, limits: RateLimits, recorder: Recorder) -> None:
        self._doorkeeper, self._limits, self._recorder = doorkeeper, limits, recorder

    @contextmanager
    def acting(
        self, caller: Caller, verb: str, scopes: Sequence[str] = (), target: str = ""
    ) -> Iterator[Act]:
        act = Act(caller, verb, scopes, target)
        outcome: Outcome = "failed"
        before = _now.set(act)
        try:
            self._limits.take(caller.key, self._doorkeeper.per_minute(caller.key))
            yield act
            outcome = "granted"
        except MetamemError as error:
            outcome = _outcome(without_secrets(error))
            raise
        finally:
            _now.reset(before)
            if outcome != "granted" or not act.entered:
                self._recorder.add(act.entry(outcome))


def allow(caller: Caller, right: Right, names: Sequence[str]) -> None:
    """Refuse a scope that the caller has no right to, before anything is asked of the database."""
    held = {"read": caller.reads, "write": caller.writes, "manage": caller.manages}[right]
    for scope in map(Scope.parse, names):
        if scope not in held:
            raise denied(right, scope)


def admit(execute: Execute, caller: Caller, scope: int, new: int) -> None:
    """What a writer asks inside its transaction before it adds facts: whether quotas allow them.
    The audit of the verb is entered in the same transaction."""
    check_quota(execute, caller, scope, new)
    act = _now.get(None)
    if act is not None and act.caller == caller:
        act.enter(execute)


def _outcome(error: MetamemError) -> Outcome:
    if isinstance(error, Denied | UnknownName):
        return "denied"
    if isinstance(error, TooMany):
        return "limited"
    return "failed" if isinstance(error, StoreError) else "refused"
