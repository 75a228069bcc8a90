"""Enrichment of a whole memory: one pass by hand, or beside a server for as long as it runs.

One process of a memory does it at a time, since one asks a model at a time. Writing and recall never
wait for it: between its steps it holds nothing but a lease, and each step enters what one answer
brought, with its cursor, in one short transaction. Killed anywhere, it asks again and enters once.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from metamem.core.access import Scope
from metamem.core.aside import aside
from metamem.core.errors import MetamemError
from metamem.models.config import ModelConfig
from metamem.service.access.limits import check_quota
from metamem.service.metered import Metered, PaidModel, metered, spent
from metamem.service.service import MemoryService
from metamem.service.writing.enrich import JOB, Enriched, Enricher, unread

LOOK_EVERY = 5.0  # seconds, though nobody says that there is something new
AFTER_TROUBLE = 60.0  # seconds, where the model cannot be reached or nothing may be spent any more
TURN = 5  # questions of one scope before the next has its turn


@dataclass(slots=True)
class Pass:
    """What one pass over scopes did."""

    turns: int = 0
    asked: int = 0
    stored: int = 0
    left_out: int = 0
    stopped: bool = False  # before it was through
    notes: list[str] = field(default_factory=list)

    def add(self, scope: str, done: Enriched) -> None:
        for name in ("turns", "asked", "stored", "left_out"):
            setattr(self, name, getattr(self, name) + getattr(done, name))
        self.stopped = self.stopped or done.stopped
        self.notes += [f"{scope}: {note}" for note in done.notes]


class Enriching:
    """Goes through scopes with one open model."""

    def __init__(self, service: MemoryService, job: Enricher) -> None:
        self._service, self._job = service, job
        self._pending: dict[int, Scope] = {}  # scopes with turns that nobody looked at
        self._seen = 0  # events that are known
        self.total = Pass()  # since it began
        self.rounds = 0
        self.trouble = ""

    async def once(self, questions: int, scopes: frozenset[Scope] | None = None) -> Pass:
        """One pass with at most so many questions, each scope having its turn."""
        done = Pass()
        await aside(self._look)
        left = {n: s for n, s in self._pending.items() if scopes is None or s in scopes}
        while left and not done.stopped and questions > done.asked:
            for number, scope in list(left.items()):
                most = min(TURN, questions - done.asked)
                if most <= 0 or done.stopped:
                    break
                came = await self._scope(scope, most)
                done.add(str(scope), came)
                if came.asked < most:  # through with it, or it cannot be gone on with now
                    del left[number]
                    if not came.stopped:
                        self._pending.pop(number, None)
        self.total.add("", Enriched(done.turns, done.asked, done.stored, done.left_out))
        self.rounds += 1
        return done

    async def keep_on(self, look_every: float = LOOK_EVERY) -> None:
        """Until it is cancelled. No trouble ends it: what it is stands in `trouble`."""
        while True:
            pause = look_every
            try:
                done = await self.once(100)
                self.trouble = done.notes[-1] if done.stopped else ""
                if done.stopped:
                    pause = max(look_every, AFTER_TROUBLE)
            except MetamemError as error:
                self.trouble = error.message
                pause = max(look_every, AFTER_TROUBLE)
            await asyncio.sleep(pause)

    def status(self) -> dict[str, Any]:
        """Counts for those who watch it, without names and without content."""
        with self._service.database.reading() as execute:
            waiting = sum(unread(execute, number) for number in list(self._pending))
        paid = spent(self._service.database, designs=False)
        return {
            "rounds": self.rounds,
            "questions": self.total.asked,
            "turns": self.total.turns,
            "stored": self.total.stored,
            "waiting": waiting,
            "tokens": paid.tokens,
            "money": paid.money,
            "stopped": bool(self.trouble),
            "warning": self._warning(waiting),
        }

    def _warning(self, waiting: int) -> str:
        if self.trouble:
            return f"enrichment stands still, {waiting} turns wait: see the log"
        if self.total.asked and not self.total.stored:
            return f"enrichment asked {self.total.asked} questions, and no fact came of any"
        return ""

    async def _scope(self, scope: Scope, questions: int) -> Enriched:
        """Some questions about one scope, and the audit of it."""
        caller = await aside(self._service.local_caller, scope.tenant)
        with self._service.acts.acting(caller, JOB, [str(scope)]):
            # Whoever else holds the scope's lease was killed: this process alone has the lock.
            done = await self._job.run(scope, questions=questions, take_over=True)
        if done.stored:
            self._service.written()
        return done

    def _look(self) -> None:
        """Find scopes in which something happened since the last look."""
        with self._service.database.reading() as execute:
            ((last,),) = execute("SELECT COALESCE(MAX(seq), 0) FROM events")
            for number, tenant, kind, name in execute(
                "SELECT number, tenant, kind, name FROM scopes WHERE erased_at IS NULL AND number IN"
                " (SELECT DISTINCT scope FROM events WHERE seq > ?) ORDER BY number",
                (self._seen,),
            ):
                if unread(execute, number):
                    self._pending[number] = Scope(tenant, kind, name)
            for number in list(self._pending):
                if not unread(execute, number):
                    del self._pending[number]
        self._seen = last


@asynccontextmanager
async def enriching(
    service: MemoryService, settings: PaidModel, *, config: ModelConfig | None = None
) -> AsyncIterator[Enriching]:
    """Enrichment with a model of its own; `Busy` where another process of this memory asks one."""
    async with metered(service.database, settings, config=config) as model:
        yield _with(service, model)


@asynccontextmanager
async def enriching_beside(
    service: MemoryService, model: Metered, look_every: float = LOOK_EVERY
) -> AsyncIterator[Enriching]:
    """Enrichment that goes on in the background while the block runs."""
    job = _with(service, model)
    task = asyncio.create_task(job.keep_on(look_every))
    try:
        yield job
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _with(service: MemoryService, model: Metered) -> Enriching:
    return Enriching(service, Enricher(service.database, model.ask, check_quota))
