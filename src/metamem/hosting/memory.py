"""The one memory of the host. Evaluations play it and `open_memory` serves it: it is the same."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Literal, TypeVar

from metamem.core.errors import DesignFailure, MetamemError, StoreError, UsageError
from metamem.core.ids import canonical_json
from metamem.core.protocols import CallSite
from metamem.core.types import Experience, Query
from metamem.core.waiting import Answer
from metamem.designs.jailed import CpuUse, JailedMemory
from metamem.hosting.feeding import CallSiteOf, Fed, Feeder, nowhere
from metamem.hosting.snapshots import Snapshot

Rollout = Literal["frozen", "streaming"]
SNAPSHOT_EVERY = 100  # updates
MOST_SAID = 1000  # lines of log that are kept of retrievals

Copying = asyncio.Future[JailedMemory]
T = TypeVar("T")


class HostedMemory:
    """A design that runs in the jail, for any number of callers at once.

    Where it is frozen, as evaluations are by default, every retrieval is answered by a copy of the
    state, which is then thrown away. Where it is streaming, retrievals happen to the state itself,
    one after another. What they leave there is in no log: it lasts as long as the snapshots.

    With a log, a memory whose process died makes its state again when it is next used. Others may
    add to the same log: what they added is learned before the next update, in the order of the log.
    """

    def __init__(
        self,
        fed: Fed,
        rollout: Rollout,
        call_site_of: CallSiteOf = nowhere,
        feeder: Feeder | None = None,
    ) -> None:
        """`feeder` is whoever fed it from a log; without one nothing is kept."""
        self.notes = feeder.notes if feeder else []  # what whoever opened this memory should know
        self._fed, self._rollout = fed, rollout
        self._call_site_of, self._feeder = call_site_of, feeder
        self._updating = asyncio.Lock()
        self._closed = False
        self._said: list[str] = []  # by copies, which are gone
        self._gone = CpuUse()  # what copies and dead processes took
        self._changes = fed.position - fed.kept_at  # of the state: all,
        self._saved = 0  # and those in the newest snapshot
        self._saved_from = fed.kept_at  # the position at which the last snapshot was begun
        self._saving: asyncio.Task[None] | None = None
        self._ready: Copying | None = None  # a copy of the state now, for the next retrieval
        self._copied_at = -1  # so many changes the last retrieval saw

    @property
    def position(self) -> int:
        """Experiences that it has seen: a position in the log."""
        return self._fed.position

    @property
    def failed_updates(self) -> int:
        """Those that it could not take in."""
        return self._fed.failed

    @property
    def replayed(self) -> int:
        """Those that it was given from the log since it was opened."""
        return self._feeder.replayed if self._feeder else 0

    @property
    def logs(self) -> list[str]:
        """What the design had to say while it learned, and then while it was asked."""
        return [*self._fed.running.logs, *self._said]

    @property
    def cpu(self) -> CpuUse:
        """What it took, its copies included."""
        used = CpuUse()
        for each in (self._fed.running.cpu, self._gone):
            used.include(each)
        return used

    async def retrieve(self, query: Query, at: CallSite) -> Any:
        """What the design advises: text, a JSON-able dict, or None."""
        return (await self.answer(query, at)).advice

    async def answer(self, query: Query, at: CallSite) -> Answer:
        """What it advises and waits for, and the seconds that it took: copying is not its doing."""
        if self._rollout == "streaming":
            running = await self._living()
            self._count_change()
            return await _to_the_end(running.answer(query, at))
        return await self._ask_copy(query, at)

    async def consult(self, query: Query, at: CallSite) -> Any:
        """A retrieval that leaves no trace, whatever the rollout."""
        return (await self._ask_copy(query, at)).advice

    async def _ask_copy(self, query: Query, at: CallSite) -> Answer:
        copy = await self._copy_of_now()
        try:
            return await copy.answer(query, at, watched=True)
        finally:
            self._said += copy.logs[: max(0, MOST_SAID - len(self._said))]
            self._gone.include(copy.cpu)
            copy.end()

    async def update(self, experience: Experience, at: CallSite | None = None) -> None:
        """Learn from an episode; it is in the log before the design sees it.

        Without a site it happens where it will be replayed: at its position in the log. An update
        goes on when nobody waits for it any more.
        """
        await _to_the_end(self._update(canonical_json(experience.to_json()), at))

    async def _update(self, line: str, at: CallSite | None) -> None:
        async with self._updating:
            if self._closed:
                raise UsageError("this memory is closed")
            if self._feeder is not None:
                await self._update_kept(self._feeder, line, at)
                return
            try:
                await self.replay(line, at)
            except DesignFailure:
                self._fed.failed += 1
                raise

    async def _update_kept(self, feeder: Feeder, line: str, at: CallSite | None) -> None:
        log = feeder.keeping.log
        position = await log.append(line)
        digest = await log.digest(position + 1)
        if self.position > position:
            raise StoreError(
                f"this memory has seen {self.position} experiences, and its log had {position}",
                hint="its log was changed; open the memory again",
            )
        await self._learn_until(feeder, position)  # what others added meanwhile
        fed = self._fed
        if fed.position > position:
            return  # it began again with a snapshot that has seen the line
        self._count_change()
        fed.digest = digest
        await feeder.learn(fed, position, line, at)
        if position + 1 - self._saved_from >= SNAPSHOT_EVERY:
            await self._begin_saving(feeder)

    async def replay(self, line: str, at: CallSite | None = None) -> None:
        """Learn from an experience as one line of JSON, for a memory that keeps no log."""
        site = at or self._call_site_of(self.position)
        self._fed.position += 1
        self._count_change()
        await self._fed.running.update_encoded(line, site)

    @property
    def studies(self) -> bool:
        """Whether the design learns from the lives of others."""
        return self._fed.running.studies

    async def study(self, life: str, at: CallSite) -> None:
        """What another lived through, as one line of JSON, for a memory that keeps no log."""
        self._count_change()
        await self._fed.running.study_encoded(life, at)

    async def catch_up(self) -> None:
        """Learn what others added to the log."""
        if self._feeder is None:
            raise UsageError("this memory has no log to catch up with")
        await _to_the_end(self._catch_up(self._feeder))

    async def _catch_up(self, feeder: Feeder) -> None:
        async with self._updating:
            if self._closed:
                raise UsageError("this memory is closed")
            await self._learn_until(feeder, await feeder.keeping.log.length())
            if self.position - self._saved_from >= SNAPSHOT_EVERY:
                await self._begin_saving(feeder)

    async def fits_log(self) -> bool:
        """Whether the log is still what it learned from: nothing of that was erased since."""
        if self._feeder is None:
            return True
        async with self._updating:
            fed = self._fed
            if not fed.running.alive:
                return True  # it knows nothing: what it learns again is in the log now
            return await self._feeder.keeping.log.digest(fed.position) == fed.digest

    async def fork(self, call_site_of: CallSiteOf | None = None) -> "HostedMemory":
        """An independent copy of the state. It has no log: what it learns is its own.

        `call_site_of` says where the copy's updates happen, where that is not the same place.
        """
        copy = await self._copy()
        return HostedMemory(
            Fed(copy, self.position, self.failed_updates),
            self._rollout,
            call_site_of or self._call_site_of,
        )

    async def snapshot(self) -> bytes:
        running = await self._living()
        return await _to_the_end(running.snapshot())

    async def close(self, *, keep: bool = True) -> None:
        """Keep a snapshot, where there is a log to keep it beside, and end the process.

        Without `keep` none is written, by this memory, from then on: for whoever erases something.
        """
        try:
            if self._feeder is not None and not self._closed:
                async with self._updating:
                    self._closed = True
                    await self._saved_so_far()
                    if keep and self._changes != self._saved:
                        await self._begin_saving(self._feeder)
                        await self._saved_so_far()
        finally:
            self._closed = True
            self._drop_ready()
            await self._fed.running.close()

    def _count_change(self) -> None:
        """Called before the state changes: what was copied before is of no use afterwards."""
        self._changes += 1
        self._drop_ready()

    # --- the state, and the process that holds it ---

    async def _learn_until(self, feeder: Feeder, until: int) -> None:
        """Called with the lock held: the state is that of a position, whatever process has it."""
        before = self._fed
        if before.running.alive and before.position >= until:
            return
        self._count_change()
        try:
            self._fed = await feeder.fed(before, until)
        finally:
            self._count_change()  # a copy that was made meanwhile may lack a part
        if self._fed is not before:
            self._gone.include(before.running.cpu)
            before.running.end()

    async def _living(self) -> JailedMemory:
        """The process; another in its place where it died and there is a log to feed it from."""
        if self._feeder is not None and not self._fed.running.alive:
            await _to_the_end(self._revive(self._feeder))
        return self._fed.running

    async def _revive(self, feeder: Feeder) -> None:
        async with self._updating:
            if not self._closed:
                await self._learn_until(feeder, self.position)

    # --- copies ---

    async def _copy(self, ready: Copying | None = None) -> JailedMemory:
        await self._living()
        try:
            return await _taken(ready or self._begin_copy())
        except MetamemError:
            if self._feeder is None or self._closed or self._fed.running.alive:
                raise
        await self._living()  # it died while it was waited for
        return await _taken(self._begin_copy())

    def _begin_copy(self) -> Copying:
        return asyncio.ensure_future(self._fed.running.fork())

    async def _copy_of_now(self) -> JailedMemory:
        """For one retrieval. Where several follow one another, the next one's is made meanwhile."""
        ready, self._ready = self._ready, None
        copy = await self._copy(ready)
        if self._copied_at == self._changes and self._ready is None and not self._closed:
            self._ready = self._begin_copy()
        self._copied_at = self._changes
        return copy

    def _drop_ready(self) -> None:
        if self._ready is not None:
            self._ready.add_done_callback(_discard)
            self._ready = None

    # --- snapshots ---

    async def _begin_saving(self, feeder: Feeder) -> None:
        """Called between updates: what is saved is the state now, whatever happens meanwhile."""
        if self._saving is not None and not self._saving.done():
            return
        fed = self._fed
        self._saved_from = fed.position
        try:
            if await feeder.keeping.log.digest(fed.position) != fed.digest:
                raise StoreError("the log is not the one that this memory learned from")
            copy = await _taken(self._begin_copy())
        except (MetamemError, OSError) as error:
            self._note_unsaved(feeder, error)
            return
        self._saving = asyncio.create_task(
            self._save(feeder, copy, self._changes, fed.position, fed.failed, fed.digest)
        )

    async def _saved_so_far(self) -> None:
        if self._saving is not None:
            await self._saving

    async def _save(
        self, feeder: Feeder, copy: JailedMemory, changes: int, at: int, failed: int, digest: str
    ) -> None:
        try:
            skipped = tuple(position for position in feeder.skipped if position < at)
            snapshot = Snapshot(at, failed, await copy.snapshot(), digest, skipped)
            await feeder.keeping.snapshots.keep(feeder.keeping.identity, snapshot)
            self._saved = changes
        except (MetamemError, OSError) as error:
            self._note_unsaved(feeder, error)
        finally:
            await copy.close()

    def _note_unsaved(self, feeder: Feeder, error: Exception) -> None:
        """It costs the next opening time, and nothing else."""
        feeder.note(f"no snapshot was kept, so the next opening replays the log: {error}")


async def _taken(copying: Copying) -> JailedMemory:
    """A copy cut short would take the original with it: it is always made to the end."""
    try:
        return await asyncio.shield(copying)
    except asyncio.CancelledError:
        copying.add_done_callback(_discard)
        raise


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Wait for work that goes on when the wait is given up."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise


def _discard(made: Copying) -> None:
    if not made.cancelled() and made.exception() is None:
        made.result().end()
