"""How anything goes out to a model: within the budget, entered in the log first, tried again.

A sending is entered before it goes out, so a killed process leaves none unaccounted for.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

from metamem.core.aside import aside
from metamem.core.calls import AttemptEnd, AttemptOutcome, AttemptRecord, CallRecord, Spending
from metamem.core.chat import Usage
from metamem.core.errors import ModelFault
from metamem.models.allowance import Allowance, Purse
from metamem.models.base import Fault

ATTEMPTS = 6
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds between attempts, doubling

T = TypeVar("T")


class CallLog(Protocol):
    """Where calls are kept: the part of the archive that is used here."""

    def begin_attempt(self, attempt: AttemptRecord) -> int: ...

    def end_attempt(self, number: int, end: AttemptEnd, call: CallRecord | None = None) -> None: ...

    def call(self, key: str) -> CallRecord | None: ...

    def put_blob(self, blob_id: str, content: bytes) -> bool: ...

    def blob(self, blob_id: str) -> bytes | None: ...

    def spending(self, run_id: str | None = None) -> list[Spending]: ...


class Model(Protocol):
    """What sending needs to know of a model."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def at_once(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    def price(self, usage: Usage) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Errand:
    """What is sent, and on whose behalf, as the log keeps it."""

    key: str
    role: str
    design_id: str
    task_id: str
    worst: Usage  # the most that it can cost


@dataclass(frozen=True, slots=True)
class Answered(Generic[T]):
    """What came back. With a `problem` it was paid for all the same, and is asked for again."""

    value: T
    usage: Usage
    call: CallRecord | None = None  # to be kept with the end of the attempt
    problem: str = ""


Once = Callable[[bool], Awaitable[Answered[T]]]  # is told whether this is the last attempt


@dataclass(slots=True)
class Counts:
    """What was done since the start. Cheap to read, for progress and tests."""

    asked: int = 0
    replayed: int = 0
    sent: int = 0
    retried: int = 0


class Sender:
    """Sends for one run and process; whatever it sends draws on one budget."""

    def __init__(self, log: CallLog, run_id: str, allowance: Allowance, pause: float) -> None:
        self._log, self._run_id, self._pause = log, run_id, pause
        before = log.spending(run_id) if run_id else []
        self.lost = sum(spent.in_flight for spent in before)
        self.purse = Purse(
            allowance,
            tokens=sum(spent.usage.total + spent.reserved for spent in before),
            money=sum(spent.money for spent in before),
        )
        self.counts = Counts()
        self._rooms: dict[str, asyncio.Semaphore] = {}

    async def send(self, errand: Errand, model: Model, once: Once[T]) -> T:
        """Send until an answer comes that will do, a bounded number of times."""
        room = self._rooms.setdefault(model.fingerprint, asyncio.Semaphore(model.at_once))
        fault = Fault("never sent")
        for attempt in range(ATTEMPTS):
            if attempt:
                self.counts.retried += 1
                await asyncio.sleep(_wait(fault, attempt, self._pause))
            try:
                async with room:
                    return await self._attempt(errand, model, once, attempt + 1 == ATTEMPTS)
            except Fault as caught:
                fault = caught
                if not fault.retry:
                    break
        raise ModelFault(
            f"{model.name}: {fault.message}",
            hint="check the model with `metamem models test`, then go on with the run",
        )

    async def _attempt(self, errand: Errand, model: Model, once: Once[T], last: bool) -> T:
        """One sending, accounted for however it ends."""
        held = (errand.worst.total, model.price(errand.worst))
        await self.purse.hold(*held)
        attempt = AttemptRecord(
            errand.key,
            self._run_id,
            errand.role,
            model.fingerprint,
            errand.design_id,
            errand.task_id,
            held[0],
            held[1],
            datetime.now(UTC).isoformat(timespec="microseconds"),
        )
        entered = asyncio.ensure_future(aside(self._log.begin_attempt, attempt))
        begun = time.monotonic()
        outcome: AttemptOutcome = "failed"
        detail, call, usage, money = "cancelled before it was sent", None, Usage(), None
        try:
            await asyncio.shield(entered)
            outcome, detail = "uncertain", "cancelled"
            self.counts.sent += 1
            answer = await _timed(model, once(last))
            usage, money = answer.usage, model.price(answer.usage)
            outcome, detail, call = "answered", "", answer.call
            if answer.problem:
                call = None
                raise Fault(answer.problem)
        except Fault as fault:
            detail = fault.message
            if outcome != "answered":
                outcome = "uncertain" if fault.billed is None else "failed"
            raise
        finally:
            seconds = time.monotonic() - begun
            end = AttemptEnd(
                outcome, usage, money if outcome == "answered" else 0.0, detail, seconds
            )
            await aside(self._log.end_attempt, await entered, end, call)
            cost = {"answered": (usage.total, money), "uncertain": held, "failed": (0, 0.0)}
            await self.purse.settle(held, cost[outcome])
        return answer.value


async def _timed(model: Model, answer: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(model.seconds):
            return await answer
    except TimeoutError as error:
        raise Fault(f"no answer within {model.seconds:g} s", billed=None) from error


def _wait(fault: Fault, attempt: int, pause: float) -> float:
    """Twice as long each time, never less than the server asks for, and not all at once."""
    own: float = min(LONGEST_PAUSE, pause * 2 ** (attempt - 1))
    return max(fault.after or 0.0, own * (0.5 + random.random()))
