"""The overseer: looks at every scope once an hour, and at its start.

One look is a whole round of Foundry and then housekeeping. It goes on from cursors, so that looking twice does
what looking once does; one process has a scope at a time, by a lock that ends with the process, however it
dies. What it did stands in `foundry_acts`; `report` tells it to people.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metamem.core.access import Scope
from metamem.core.aside import aside
from metamem.core.errors import Busy, MetamemError
from metamem.foundry.acts import acts, cursor_of, note, set_cursor
from metamem.foundry.foundry import Foundry, Judge, Round
from metamem.foundry.tidying import NOTHING, Tidied, tidy
from metamem.foundry.tools.site import site_of, tools_archive, tools_database
from metamem.foundry.tools.tool import Writer
from metamem.foundry.traces import Traces
from metamem.service.database import FILE, Database, now_ms
from metamem.store.archive import Archive
from metamem.store.runlock import lock_file

HOUR = 3_600_000
PAUSE = 60.0  # seconds between two looks for what is due
IDLE_LOOKS = 24  # looks with news and without any deed that are worth a warning
LOOKED = "overseer"  # the cursor that holds when it looked last


@dataclass(frozen=True, slots=True)
class Looked:
    """What one look at a scope came to."""

    scope: str
    round: Round | None = None
    tidied: Tidied = NOTHING
    seconds: float = 0.0
    trouble: str = ""  # why it was not looked at, or not to the end

    @property
    def did(self) -> int:
        """How much was done that stays."""
        if self.round is None:
            return 0
        took = self.round.took
        seen = took.failures + took.runs + took.occurrences + took.lessons
        return seen + len(self.round.judged) + len(self.round.settled) + self.tidied.total


class Overseer:
    """Looks at scopes of one memory. Whoever starts it owns the memory's files."""

    def __init__(
        self,
        memory: Path,
        database: Database,
        archive: Archive,
        *,
        judging: Judge | None = None,  # another than by replays
        writer: Writer | None = None,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self._memory, self._database, self._archive = memory, database, archive
        self._judging, self._writer, self._clock = judging, writer, clock
        self.looks = 0
        self.did = 0
        self.trouble = ""

    def due(self, every: int = HOUR) -> list[Scope]:
        """Scopes with calls of tools at which nobody looked for so long."""
        at = self._clock()
        with self._database.reading() as execute:
            rows = execute(
                "SELECT number, tenant, kind, name FROM scopes WHERE erased_at IS NULL"
                " AND number IN (SELECT DISTINCT scope FROM calls) ORDER BY number"
            )
            return [
                Scope(tenant, kind, name)
                for number, tenant, kind, name in rows
                if at - cursor_of(execute, number, LOOKED) >= every
            ]

    async def look(self, scope: Scope) -> Looked:
        """One whole look, whenever the last one was."""
        began = time.monotonic()
        try:
            with lock_file(self._memory / f"{FILE}.locks", f"foundry {scope}"):
                done = await self._looked(scope, began)
        except Busy:
            return Looked(str(scope), trouble="another process is looking at it")
        except MetamemError as error:
            self.trouble = error.message
            return Looked(str(scope), seconds=time.monotonic() - began, trouble=error.message)
        self.looks += 1
        self.did += done.did
        return done

    async def once(self, scopes: Iterable[Scope] | None = None, every: int = HOUR) -> list[Looked]:
        """Look at these, or at all that are due."""
        wanted = await aside(self.due, every) if scopes is None else list(scopes)
        return [await self.look(scope) for scope in wanted]

    async def keep_on(self, every: int = HOUR, pause: float = PAUSE) -> None:
        """Until it is cancelled. No trouble ends it: what it was stands in `trouble`."""
        while True:
            try:
                await self.once(every=every)
            except MetamemError as error:
                self.trouble = error.message
            await asyncio.sleep(pause)

    def status(self) -> dict[str, Any]:
        """Counts for those who watch it, without names and without content."""
        return {"looks": self.looks, "did": self.did, "warning": self.trouble}

    async def _looked(self, scope: Scope, began: float) -> Looked:
        site = await aside(site_of, self._memory, self._database, self._archive, scope)
        foundry = Foundry(site, judging=self._judging, writer=self._writer, clock=self._clock)
        round_ = await foundry.round()
        tidied = await aside(lambda: tidy(site, at=self._clock()))
        done = Looked(str(scope), round_, tidied, time.monotonic() - began)
        await aside(self._note, site.number, done)
        return done

    def _note(self, scope: int, done: Looked) -> None:
        at = self._clock()
        with self._database.writing() as execute:
            set_cursor(execute, scope, LOOKED, at)
            if done.did:  # a look that found nothing to do leaves nothing but its time
                took = done.round.took if done.round is not None else None
                sessions = took.sessions if took is not None else 0
                told = f"{done.did} things done, {sessions} sessions read"
                note(execute, scope, "oversaw", "", told, at)


def standing_still(database: Database, scope: int) -> str:
    """A warning where sessions keep coming and Foundry never does anything with them."""
    with database.reading() as execute:
        looked = cursor_of(execute, scope, LOOKED)
        done = acts(execute, scope)
    sessions = len(Traces(database).changed(scope))
    if sessions < IDLE_LOOKS or done:
        return ""
    if not looked:
        return (
            f"{sessions} sessions are kept, and nobody ever looked at them: metamem foundry oversee"
        )
    return f"{sessions} sessions were looked at, and nothing ever came of it"


@asynccontextmanager
async def overseeing(
    memory: Path, *, writer: Writer | None = None, create: bool = False
) -> AsyncIterator[Overseer]:
    """An overseer with databases of its own."""
    database = tools_database(memory, create=create)
    try:
        with tools_archive(memory) as archive:
            yield Overseer(memory, database, archive, writer=writer)
    finally:
        database.close()


@asynccontextmanager
async def overseeing_beside(memory: Path, every: int = HOUR) -> AsyncIterator[Overseer]:
    """One that goes on in the background while the block runs."""
    async with overseeing(memory, create=True) as overseer:
        task = asyncio.create_task(overseer.keep_on(every))
        try:
            yield overseer
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
