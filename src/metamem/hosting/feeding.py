"""A design fed from its log, again from the last good state where it died of what it was given."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from metamem.core.errors import DesignFailure
from metamem.core.protocols import CallSite, ExperienceLog
from metamem.designs.jailed import JailedMemory
from metamem.hosting.snapshots import Identity, Misfit, Snapshot, SnapshotFolder

CallSiteOf = Callable[[int], CallSite]  # of the update at a position of the log
Start = Callable[[bytes | None], Awaitable[JailedMemory]]  # a process: fresh, or from a snapshot
FEW_SKIPS = 3  # experiences that a design may die of, however short its log
SKIPS_PER = 100  # and one more for so many experiences


def nowhere(position: int) -> CallSite:
    return CallSite()


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where what a memory learned is kept, and how a process is made that holds it."""

    log: ExperienceLog
    snapshots: SnapshotFolder
    identity: Identity
    start: Start


@dataclass(slots=True)
class Fed:
    """A running design, and how far in the log it has learned."""

    running: JailedMemory
    position: int = 0
    failed: int = 0  # experiences before the position that the design could not take in
    digest: str = ""  # of the log up to the position, as it was when that was learned
    kept_at: int = 0  # the position of the snapshot that it began with


class Feeder:
    """Gives a design what its log holds.

    An experience that the design dies of (it goes over a limit, or ends its process) is skipped: the
    design begins again with the last good state, and what follows is given to it all the same. One
    that dies again and again is given up.
    """

    def __init__(self, keeping: Keeping, call_site_of: CallSiteOf) -> None:
        self.keeping = keeping
        self.notes: list[str] = []  # what whoever opened the memory should know
        self.replayed = 0  # experiences that came from the log
        self._call_site_of = call_site_of
        self._skipped: set[int] = set()
        self._stalled: set[int] = set()  # stopped by the wall clock, once
        self._last_death: DesignFailure | None = None

    @property
    def skipped(self) -> tuple[int, ...]:
        """The positions of what the design died of."""
        return tuple(sorted(self._skipped))

    def note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    async def fed(self, now: Fed | None, until: int) -> Fed:
        """A design that lives and has learned all before a position: the one there is, or another."""
        while True:
            self._check_deaths(until)
            lives = now is not None and now.running.alive
            fed = now if now is not None and lives else await self._begin()
            try:
                await self._feed(fed, until)
            except BaseException as error:
                died = isinstance(error, DesignFailure) and not fed.running.alive
                if not lives:
                    fed.running.end()
                if not died:
                    raise
                now = None
            else:
                return fed

    async def learn(self, fed: Fed, position: int, line: str, at: CallSite | None = None) -> None:
        """One line of the log. Where the design fails at it, that is counted and raised."""
        fed.position = position + 1
        try:
            await fed.running.update_encoded(line, at or self._call_site_of(position))
        except DesignFailure as failure:
            fed.failed += 1
            if not fed.running.alive:
                self._count_death(position, failure)
            raise
        except BaseException:
            fed.position = position  # not the design's fault: the line is given to it again
            raise

    async def _feed(self, fed: Fed, until: int) -> None:
        if fed.position >= until:
            return
        digest = await self.keeping.log.digest(until)
        async for position, line in self.keeping.log.read(fed.position):
            if position >= until:
                break
            if line is None or position in self._skipped:
                fed.position = position + 1
                fed.failed += line is not None
                continue
            self.replayed += 1
            try:
                await self.learn(fed, position, line)
            except DesignFailure:
                if not fed.running.alive:
                    raise
        fed.digest = digest

    async def _begin(self) -> Fed:
        """From the newest snapshot that fits, or from nothing."""
        keeping = self.keeping
        try:
            snapshot = await keeping.snapshots.newest(keeping.identity, keeping.log)
            if snapshot is not None:
                return await self._begin_with(snapshot)
        except (Misfit, DesignFailure) as misfit:
            self.note(f"the snapshot of this memory is not used, the log is replayed: {misfit}")
        digest = await keeping.log.digest(0)
        return Fed(await keeping.start(None), digest=digest)

    async def _begin_with(self, snapshot: Snapshot) -> Fed:
        running = await self.keeping.start(snapshot.state)
        self._skipped |= set(snapshot.skipped)
        at = snapshot.position
        return Fed(running, at, snapshot.failed, snapshot.log_digest, kept_at=at)

    def _count_death(self, position: int, failure: DesignFailure) -> None:
        self._last_death = failure
        if failure.kind == "wall" and position not in self._stalled:
            self._stalled.add(position)  # perhaps the machine's doing: it gets another chance
            return
        self._skipped.add(position)
        self.note(f"experience {position} of the log is skipped: {failure.message}")

    def _check_deaths(self, until: int) -> None:
        if len(self._skipped) > FEW_SKIPS + until // SKIPS_PER:
            last = self._last_death
            raise DesignFailure(
                f"the design died of {len(self._skipped)} of the {until} experiences in its log"
                + (f", the last time so: {last.message}" if last else ""),
                kind=last.kind if last else "limit",
                hint="no experience is lost: open the log with another design",
            )
