"""The one memory of the host. Evaluations play it and `open_memory` serves it: it is the same."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from metamem.core.errors import DesignFailure, MetamemError, UsageError
from metamem.core.ids import canonical_json
from metamem.core.protocols import ExperienceLog, Place
from metamem.core.types import Experience, Query
from metamem.designs.jailed import CpuUse, JailedMemory
from metamem.hosting.snapshots import Identity, Snapshot, SnapshotFolder

Rollout = Literal["frozen", "streaming"]
PlaceOf = Callable[[int], Place]  # the place of the update at a position of the log
SNAPSHOT_EVERY = 100  # updates
MOST_SAID = 1000  # lines of log that are kept of retrievals

Copying = asyncio.Future[JailedMemory]
T = TypeVar("T")


def nowhere(position: int) -> Place:
    return Place()


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where what a memory learned is kept."""

    log: ExperienceLog
    snapshots: SnapshotFolder
    identity: Identity


class HostedMemory:
    """A design that runs in the jail, for any number of callers at once.

    Where it is frozen, as evaluations are by default, every retrieval is answered by a copy of the
    state, which is then thrown away. Where it is streaming, retrievals happen to the state itself,
    one after another. What they leave there is in no log: it lasts as long as the snapshots.
    """

    def __init__(
        self,
        running: JailedMemory,
        rollout: Rollout,
        place_of: PlaceOf = nowhere,
        keeping: Keeping | None = None,
        start: Snapshot | None = None,
    ) -> None:
        """`start` is the snapshot whose state the design runs with."""
        self.notes: list[str] = []  # what whoever opened this memory should know
        self.position = start.position if start else 0  # experiences that it has seen
        self.failed_updates = start.failed if start else 0  # those it could not take in
        self.replayed = 0  # those it has seen again since it was opened
        self._running, self._rollout = running, rollout
        self._place_of, self._keeping = place_of, keeping
        self._updating = asyncio.Lock()
        self._closed = False
        self._said: list[str] = []  # by copies, which are gone
        self._copies = CpuUse()
        self._changes = self._saved = 0  # of the state: all, and those in the newest snapshot
        self._saving: asyncio.Task[None] | None = None
        self._ready: Copying | None = None  # a copy of the state now, for the next retrieval
        self._copied_at = -1  # so many changes the last retrieval saw

    @property
    def logs(self) -> list[str]:
        """What the design had to say while it learned, and then while it was asked."""
        return [*self._running.logs, *self._said]

    @property
    def cpu(self) -> CpuUse:
        """What it took, its copies included."""
        used = CpuUse()
        for each in (self._running.cpu, self._copies):
            used.include(each)
        return used

    async def retrieve(self, query: Query, at: Place) -> Any:
        """What the design advises: text, a JSON-able dict, or None."""
        advice, _ = await self.timed_retrieve(query, at)
        return advice

    async def timed_retrieve(self, query: Query, at: Place) -> tuple[Any, float]:
        """The advice, and the seconds that the design took for it: copying is not its doing."""
        if self._rollout == "streaming":
            self._count_change()
            return await _to_the_end(_timed(self._running, query, at))
        return await self._ask_copy(query, at)

    async def consult(self, query: Query, at: Place) -> Any:
        """A retrieval that leaves no trace, whatever the rollout."""
        advice, _ = await self._ask_copy(query, at)
        return advice

    async def _ask_copy(self, query: Query, at: Place) -> tuple[Any, float]:
        copy = await self._copy_of_now()
        try:
            return await _timed(copy, query, at)
        finally:
            self._said += copy.logs[: max(0, MOST_SAID - len(self._said))]
            self._copies.include(copy.cpu)
            copy.end()

    async def update(self, experience: Experience, at: Place | None = None) -> None:
        """Learn from an episode; it is in the log before the design sees it.

        Without a place it happens where it will be replayed: at its position in the log. An update
        goes on when nobody waits for it any more.
        """
        await _to_the_end(self._update(canonical_json(experience.to_json()), at))

    async def _update(self, line: str, at: Place | None) -> None:
        async with self._updating:
            if self._closed:
                raise UsageError("this memory is closed")
            if self._keeping is not None:
                await self._keeping.log.append(line)
            try:
                await self.replay(line, at)
            except DesignFailure:
                self.failed_updates += 1
                raise
            if self._keeping is not None and self.position % SNAPSHOT_EVERY == 0:
                await self._begin_saving(self._keeping)

    async def replay(self, line: str, at: Place | None = None) -> None:
        """Learn from what is in a log already: an experience as one line of JSON."""
        place = at or self._place_of(self.position)
        self.position += 1
        self._count_change()
        await self._running.update_encoded(line, place)

    async def catch_up(self, log: ExperienceLog) -> None:
        """Learn what a log holds beyond what this memory has seen."""
        async for line in log.read(self.position):
            self.replayed += 1
            try:
                await self.replay(line)
            except DesignFailure as failure:
                if failure.kind != "crash":  # over a limit: the process is gone
                    raise
                self.failed_updates += 1

    async def fork(self) -> "HostedMemory":
        """An independent copy of the state. It has no log: what it learns is its own."""
        copy = HostedMemory(await self._copy(), self._rollout, self._place_of)
        copy.position, copy.failed_updates = self.position, self.failed_updates
        return copy

    async def snapshot(self) -> bytes:
        return await _to_the_end(self._running.snapshot())

    async def close(self) -> None:
        """Keep a snapshot, where there is a log to keep it beside, and end the process."""
        if self._keeping is not None and not self._closed:
            async with self._updating:
                self._closed = True
                await self._saved_so_far()
                if self._changes != self._saved:
                    await self._begin_saving(self._keeping)
                    await self._saved_so_far()
        self._closed = True
        self._drop_ready()
        await self._running.close()

    def _count_change(self) -> None:
        """Called before the state changes: what was copied before is of no use afterwards."""
        self._changes += 1
        self._drop_ready()

    # --- copies ---

    async def _copy(self) -> JailedMemory:
        return await _taken(self._begin_copy())

    def _begin_copy(self) -> Copying:
        return asyncio.ensure_future(self._running.fork())

    async def _copy_of_now(self) -> JailedMemory:
        """For one retrieval. Where several follow one another, the next one's is made meanwhile."""
        ready, self._ready = self._ready, None
        copy = await _taken(ready or self._begin_copy())
        if self._copied_at == self._changes and self._ready is None and not self._closed:
            self._ready = self._begin_copy()
        self._copied_at = self._changes
        return copy

    def _drop_ready(self) -> None:
        if self._ready is not None:
            self._ready.add_done_callback(_discard)
            self._ready = None

    # --- snapshots ---

    async def _begin_saving(self, keeping: Keeping) -> None:
        """Called between updates: what is saved is the state now, whatever happens meanwhile."""
        if self._saving is not None and not self._saving.done():
            return
        try:
            copy = await self._copy()
        except MetamemError as error:
            self._note_unsaved(error)
            return
        digest = await keeping.log.digest(self.position)
        made = self.position, self.failed_updates, self._changes
        self._saving = asyncio.create_task(self._save(keeping, copy, digest, *made))

    async def _saved_so_far(self) -> None:
        if self._saving is not None:
            await self._saving

    async def _save(
        self, keeping: Keeping, copy: JailedMemory, digest: str, at: int, failed: int, changes: int
    ) -> None:
        try:
            snapshot = Snapshot(at, failed, await copy.snapshot())
            await keeping.snapshots.keep(keeping.identity, snapshot, digest)
            self._saved = changes
        except (MetamemError, OSError) as error:
            self._note_unsaved(error)
        finally:
            await copy.close()

    def _note_unsaved(self, error: Exception) -> None:
        """It costs the next opening time, and nothing else."""
        note = f"no snapshot was kept, so the next opening replays the log: {error}"
        if note not in self.notes:
            self.notes.append(note)


async def _timed(memory: JailedMemory, query: Query, at: Place) -> tuple[Any, float]:
    begun = time.perf_counter()
    return await memory.retrieve(query, at), time.perf_counter() - begun


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
