"""The overseer: looks at every scope once an hour, and at its start.

One look is a whole round of Foundry and then housekeeping. It goes on from cursors, so that looking twice does
what looking once does; one process has a scope at a time, by a lock that ends with the process, however it
dies. What it did stands in `foundry_acts`; `report` tells it to people.
"""

import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metamem.core.access import Scope
from metamem.core.amounts import many
from metamem.core.aside import aside
from metamem.core.errors import Busy, MetamemError
from metamem.foundry.acts import CAME, LOOKED, TRIED, cursor_of, failing, note, set_cursor
from metamem.foundry.foundry import Foundry, Judge, Round, TookIn
from metamem.foundry.tidying import NOTHING, Tidied, tidy
from metamem.foundry.tools.site import Site, site_of, tools_archive, tools_database
from metamem.foundry.traces import Traces
from metamem.foundry.writers import WriterOf, Writing, by_template
from metamem.service.database import FILE, Database, now_ms
from metamem.service.writing.clean import one_line
from metamem.store.archive import Archive
from metamem.store.runlock import lock_file

HOUR = 3_600_000
AGAIN = 24 * HOUR  # after which the same trouble is entered once more
_SAID = 300  # characters of an error that nobody expected


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
        return (
            self.round.took.anything
            + len(self.round.judged)
            + len(self.round.settled)
            + self.tidied.total
        )


class Overseer:
    """Looks at scopes of one memory. Whoever starts it owns the memory's files."""

    def __init__(
        self,
        memory: Path,
        database: Database,
        archive: Archive,
        *,
        judging: Judge | None = None,  # another than by replays
        writer_of: WriterOf | None = None,  # else by template
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self._memory, self._database, self._archive = memory, database, archive
        self._judging, self._writer_of, self._clock = judging, writer_of, clock
        self.looks = 0
        self.did = 0
        self.failed = 0
        self.trouble = ""

    def due(self, every: int = HOUR) -> list[Scope]:
        """Scopes with calls of tools at which nobody looked for so long; first those that nobody tried to
        look at for longest, so that one which fails has no other wait."""
        at = self._clock()
        with self._database.reading() as execute:
            rows = execute(
                "SELECT number, tenant, kind, name FROM scopes WHERE erased_at IS NULL"
                " AND number IN (SELECT DISTINCT scope FROM calls) ORDER BY number"
            )
            found = [
                (cursor_of(execute, number, TRIED), number, Scope(tenant, kind, name))
                for number, tenant, kind, name in rows
                if at - cursor_of(execute, number, LOOKED) >= every
            ]
        return [scope for _, _, scope in sorted(found, key=lambda each: each[:2])]

    async def look(self, scope: Scope) -> Looked:
        """One whole look, whenever the last one was. Whatever goes wrong ends this look and no other."""
        began = time.monotonic()
        try:
            with lock_file(self._memory / f"{FILE}.locks", f"foundry {scope}"):
                try:
                    done = await self._looked(scope, began)
                except MetamemError as error:
                    return await aside(self._failed, scope, error.message, began)
                except Exception as error:
                    return await aside(self._failed, scope, unexpected(error), began)
        except Busy:
            return Looked(str(scope), trouble="another process is looking at it")
        except MetamemError as error:
            self.failed, self.trouble = self.failed + 1, error.message
            return Looked(str(scope), seconds=time.monotonic() - began, trouble=error.message)
        self.looks += 1
        self.did += done.did
        return done

    async def once(
        self,
        scopes: Iterable[Scope] | None = None,
        every: int = HOUR,
        *,
        tell: Callable[[Looked], None] = lambda _: None,
    ) -> list[Looked]:
        """Look at these, or at all that are due. `tell` hears of each as soon as it is done."""
        wanted = await aside(self.due, every) if scopes is None else list(scopes)
        found = []
        for scope in wanted:
            found.append(await self.look(scope))
            tell(found[-1])
        return found

    def learn(self, scope: Scope) -> TookIn:
        """Only read what came: failures are linked and workflows mined; nothing is written or judged. `Busy`
        where another process is looking at the scope."""
        with lock_file(self._memory / f"{FILE}.locks", f"foundry {scope}"):
            site = self.site(scope)
            took = Foundry(site, clock=self._clock).take_in()
            if took.anything:
                newest = _newest(self._database, site)
                with self._database.writing() as execute:
                    set_cursor(execute, site.number, CAME, newest)
        return took

    def site(self, scope: Scope) -> Site:
        """Where a scope's tools are, by these databases."""
        return site_of(self._memory, self._database, self._archive, scope)

    def status(self) -> dict[str, Any]:
        """Counts for those who watch it, without names and without content."""
        return {
            "looks": self.looks,
            "did": self.did,
            "failed": self.failed,
            "warning": self.trouble,
        }

    async def _looked(self, scope: Scope, began: float) -> Looked:
        site = await aside(self.site, scope)
        await aside(self._mark, site, TRIED)
        writer = self._writer_of(scope) if self._writer_of is not None else None
        foundry = Foundry(site, judging=self._judging, writer=writer, clock=self._clock)
        round_ = await foundry.round()
        tidied = await aside(lambda: tidy(site, at=self._clock()))
        done = Looked(str(scope), round_, tidied, time.monotonic() - began)
        await aside(self._note, site, done)
        return done

    def _mark(self, site: Site, job: str) -> None:
        with self._database.writing() as execute:
            set_cursor(execute, site.number, job, self._clock())

    def _note(self, site: Site, done: Looked) -> None:
        newest = _newest(self._database, site)
        with self._database.writing() as execute:
            if done.did:  # a look that found nothing to do leaves nothing but its time
                took = done.round.took if done.round is not None else None
                sessions = took.sessions if took is not None else 0
                told = f"{many(done.did, 'thing')} done, {many(sessions, 'session')} read"
                note(execute, site.number, "oversaw", "", told, self._clock())
            if done.did > done.tidied.total:  # putting away is nothing that sessions taught
                set_cursor(execute, site.number, CAME, newest)
            set_cursor(execute, site.number, LOOKED, self._clock())

    def _failed(self, scope: Scope, why: str, began: float) -> Looked:
        """Enter that a look did not come to its end, as far as that can be entered at all."""
        self.failed, self.trouble = self.failed + 1, why
        with suppress(MetamemError):
            site = self.site(scope)
            with self._database.writing() as execute:
                last = failing(execute, site.number)
                if last is None or last.why != why or self._clock() - last.at >= AGAIN:
                    note(execute, site.number, "failed", "", why, self._clock())
        return Looked(str(scope), seconds=time.monotonic() - began, trouble=why)


def unexpected(error: Exception) -> str:
    """An error that nobody expected, in a line, with the place where it was."""
    ours = [f for f in traceback.extract_tb(error.__traceback__) if "/metamem/" in f.filename]
    where = f" ({Path(ours[-1].filename).name}, line {ours[-1].lineno})" if ours else ""
    return f"{type(error).__name__}: {one_line(str(error), _SAID)}{where}"


def _newest(database: Database, site: Site) -> int:
    changed = Traces(database).changed(site.number)
    return changed[-1].event if changed else 0


@asynccontextmanager
async def overseeing(memory: Path, *, writing: Writing | None = None) -> AsyncIterator[Overseer]:
    """An overseer with databases of its own. `writing`: who writes tools, else the template."""
    database = tools_database(memory, create=False)
    try:
        with tools_archive(memory) as archive:
            async with (writing or by_template())(archive) as writer_of:
                yield Overseer(memory, database, archive, writer_of=writer_of)
    finally:
        database.close()
