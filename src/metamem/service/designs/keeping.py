"""The memories of scopes that run at this moment: opened when they are wanted, shared by all who ask,
and closed when nobody has asked for long. What they learned is in the log, whatever happens to them.

One whose model does not answer stands still: it tells what it knows, and learns the rest when the
model answers again.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from metamem.core.access import Scope
from metamem.core.errors import DesignFailure, MetamemError, StoreError
from metamem.core.types import Design
from metamem.designs.jailed import Jail
from metamem.hosting import CallSites, HostedMemory, SnapshotFolder, open_kept
from metamem.models.embedders import AnyEmbedder
from metamem.service.database import Database
from metamem.service.designs.asking import DesignModel, ModelAway
from metamem.service.designs.log import ScopeLog, length
from metamem.service.designs.places import snapshots_of
from metamem.service.designs.serving import Serving
from metamem.service.erasing_rows import DROPPED
from metamem.store.engine import Execute

Tools = tuple[Jail, AnyEmbedder]  # what a design runs with
Key = tuple[int, str]  # the number of a scope, and the id of a design


@dataclass(frozen=True, slots=True)
class Spot:
    """A scope, as it is at one moment."""

    number: int
    scope: Scope
    generation: int  # another one, and something may have been erased
    length: int  # experiences that came

    @property
    def erasures(self) -> int:
        """Another number, and something was erased; the same, and nothing was."""
        return self.generation // DROPPED


def spot_of(execute: Execute, number: int, scope: Scope) -> Spot:
    ((generation,),) = execute("SELECT generation FROM scopes WHERE number = ?", (number,))
    return Spot(number, scope, generation, length(execute, number))


@dataclass(slots=True)
class _Known:
    """What a memory was fed from, and whether it waits for its model."""

    spot: Spot
    away: str = ""  # why it stands still
    again: float = 0.0  # when it tries to go on

    @property
    def waits(self) -> bool:
        return bool(self.away) and time.monotonic() < self.again


@dataclass(slots=True, eq=False)
class _Slot:
    opening: asyncio.Task[HostedMemory]
    known: _Known
    learning: asyncio.Task[None] | None = None
    users: int = 0
    used: float = field(default_factory=time.monotonic)
    closing: bool = False
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.idle.set()

    def enter(self) -> None:
        self.users += 1
        self.idle.clear()

    def leave(self) -> None:
        self.users -= 1
        if not self.users:
            self.idle.set()

    @property
    def memory(self) -> HostedMemory | None:
        """Where it is open."""
        task = self.opening
        if not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return task.result()


class OpenMemories:
    """Any number of callers at once, in one event loop."""

    def __init__(
        self,
        database: Database,
        folder: Path,
        tools: Callable[[], Awaitable[Tools]],
        serving: Serving,
        model: DesignModel | None = None,
    ) -> None:
        self._database, self._folder, self._tools = database, folder, tools
        self._serving, self._model = serving, model
        self._slots: dict[Key, _Slot] = {}
        self._closings: set[asyncio.Task[None]] = set()

    def is_open(self, scope: int, design: str) -> bool:
        slot = self._slots.get((scope, design))
        return slot is not None and slot.memory is not None

    def open_in(self, scope: int) -> list[str]:
        """The ids of the designs that run for a scope."""
        return [design for (number, design), _ in self._of(scope) if self.is_open(number, design)]

    def why_still(self, scope: int, design: str) -> str:
        """Why a memory stands still; empty where it does not."""
        slot = self._slots.get((scope, design))
        return slot.known.away if slot is not None else ""

    def go_on(self, spot: Spot, design: str) -> None:
        """Let a memory that stands still try again, if it is time, without waiting for it."""
        slot = self._slots.get((spot.number, design))
        if slot is not None and slot.memory is not None and not slot.known.waits:
            self._learning(slot, slot.memory)

    def __len__(self) -> int:
        return len(self._slots)

    def begin(self, spot: Spot, design: Design) -> asyncio.Task[HostedMemory]:
        """Open a memory, if it is not open or being opened; what fails is forgotten again."""
        key = (spot.number, design.id)
        if key not in self._slots:
            self._make_room()
            known = _Known(spot)
            opening = asyncio.create_task(self._opened(known, design))
            slot = self._slots[key] = _Slot(opening, known)
            opening.add_done_callback(lambda done: self._forget_failed(key, slot, done))
        return self._slots[key].opening

    @asynccontextmanager
    async def borrowed(self, spot: Spot, design: Design) -> AsyncIterator[HostedMemory]:
        """A memory that has learned all that had come when the scope was looked at, or stands still."""
        while True:
            opening = self.begin(spot, design)
            slot = self._slots[spot.number, design.id]
            slot.enter()
            try:
                await asyncio.wait([opening])  # whoever gives up waiting does not end it
                if opening.cancelled():
                    raise StoreError("the memory was closed while it was being opened")
                memory = opening.result()
                slot.used = time.monotonic()
                await self._settled(slot)
                if slot.known.spot.generation != spot.generation:
                    if not await memory.fits_log():
                        self._close((spot.number, design.id), slot, keep=False)
                        continue
                    slot.known.spot = spot
                await self._learn(slot, memory, spot.length)
                yield memory
                return
            finally:
                slot.leave()

    async def learn(self, spot: Spot) -> list[MetamemError]:
        """Give the open memories of a scope what came; why some could not take it."""
        waiting = [
            self._learn(slot, slot.memory, spot.length)
            for _, slot in self._of(spot.number)
            if slot.memory
        ]
        done = await asyncio.gather(*waiting, return_exceptions=True)
        for error in done:
            if isinstance(error, BaseException) and not isinstance(error, MetamemError):
                raise error
        return [error for error in done if isinstance(error, MetamemError)]

    def retire(self, scope: int, keep: set[str]) -> None:
        """Close the memories of a scope, but for those of some designs, as soon as they are idle."""
        for (number, design), slot in self._of(scope):
            if design not in keep and slot.memory is not None:
                self._close((number, design), slot)

    def close_idle(self, seconds: float) -> None:
        long_ago = time.monotonic() - seconds
        for key, slot in list(self._slots.items()):
            if not slot.users and slot.used <= long_ago and slot.memory is not None:
                self._close(key, slot)

    async def drop(self, scope: int) -> None:
        """Close the memories of a scope, whoever uses them, and keep nothing of what they know."""
        if self._model is not None:
            self._model.cut(scope)
        slots = self._of(scope)
        for key, slot in slots:
            self._slots.pop(key, None)
            slot.closing = True
            slot.opening.cancel()
        for _, slot in slots:
            await asyncio.wait([slot.opening])
            if slot.memory is not None:
                await slot.memory.close(keep=False)

    async def close(self) -> None:
        """Keep what they know, and end them."""
        for slot in list(self._slots.values()):
            slot.opening.cancel()
            await asyncio.wait([slot.opening])
        for key, slot in list(self._slots.items()):
            self._close(key, slot, now=True)
        while self._closings:
            await asyncio.gather(*self._closings, return_exceptions=True)

    # --- how ---------------------------------------------------------------------------------

    async def _opened(self, known: _Known, design: Design) -> HostedMemory:
        spot = known.spot
        await self._closed_before((spot.number, design.id))
        jail, embedder = await self._tools()
        asked = self._model
        model = asked.of(spot.number, lambda: known.spot.erasures) if asked is not None else None
        sites = CallSites(design, model)
        memory = await open_kept(
            jail,
            design,
            ScopeLog(self._database, spot.number),
            SnapshotFolder(snapshots_of(self._folder, spot.scope)),
            seed=self._serving.seed,
            embedder=embedder,
            call_site_of=sites.of_update,
            model=sites.model,
            learned=False,
        )
        try:
            await self._catch_up(known, memory)
        except BaseException:
            await memory.close(keep=False)
            raise
        return memory

    async def _learn(self, slot: _Slot, memory: HostedMemory, until: int) -> None:
        """Until it knows what came before a position, or stands still."""
        await self._settled(slot)
        while memory.position < until and not (slot.known.waits or slot.closing):
            learning = self._learning(slot, memory)
            await self._patiently(learning)
            learning.result()
            if slot.known.away:
                return

    def _learning(self, slot: _Slot, memory: HostedMemory) -> asyncio.Task[None]:
        """The task that gives a memory what came: the one under way, or another."""
        if slot.learning is None or slot.learning.done():
            slot.learning = asyncio.create_task(self._catch_up(slot.known, memory))
            slot.learning.add_done_callback(lambda done: done.cancelled() or done.exception())
        return slot.learning

    async def _settled(self, slot: _Slot) -> None:
        """What is being learned is learned, or stood still at."""
        if slot.learning is not None:
            await self._patiently(slot.learning)

    async def _patiently(self, learning: asyncio.Task[None]) -> None:
        """Wait for a model, but not for ever: whoever gives up waiting does not end it."""
        patience = self._serving.patience if self._model is not None else None
        await asyncio.wait([learning], timeout=patience)
        if not learning.done():
            raise StoreError("the memory is still learning: its model has not answered yet")

    async def _catch_up(self, known: _Known, memory: HostedMemory) -> None:
        try:
            await memory.catch_up()
        except ModelAway as away:
            known.away = away.message
            known.again = time.monotonic() + self._serving.retry_seconds
        else:
            known.away = ""

    async def _closed_before(self, key: Key) -> None:
        """What is being closed may still write its snapshot, which the next one begins with."""
        named = [task for task in self._closings if task.get_name() == _named(key)]
        if named:
            await asyncio.wait(named)

    def _of(self, scope: int) -> list[tuple[Key, _Slot]]:
        return [(key, slot) for key, slot in self._slots.items() if key[0] == scope]

    def _make_room(self) -> None:
        """Close those that were not asked for longest, if they are idle."""
        for key, slot in self._longest_unused():
            if len(self._slots) < self._serving.most_open:
                return
            self._close(key, slot)

    def _longest_unused(self) -> Iterator[tuple[Key, _Slot]]:
        idle = [(k, s) for k, s in self._slots.items() if not s.users and s.memory is not None]
        yield from sorted(idle, key=lambda each: each[1].used)

    def _close(self, key: Key, slot: _Slot, *, keep: bool = True, now: bool = False) -> None:
        """Out of sight at once; ended when the last one who asked it is done."""
        if self._slots.get(key) is slot:
            del self._slots[key]
        if slot.closing or slot.memory is None:
            return
        slot.closing = True
        task = asyncio.create_task(self._end(slot, slot.memory, keep, now), name=_named(key))
        self._closings.add(task)
        task.add_done_callback(self._closings.discard)

    async def _end(self, slot: _Slot, memory: HostedMemory, keep: bool, now: bool) -> None:
        if not now:
            await slot.idle.wait()
        with suppress(DesignFailure):  # its state is made again from the log
            await memory.close(keep=keep)

    def _forget_failed(self, key: Key, slot: _Slot, done: asyncio.Task[HostedMemory]) -> None:
        if (done.cancelled() or done.exception() is not None) and self._slots.get(key) is slot:
            del self._slots[key]


def _named(key: Key) -> str:
    return f"close {key[0]} {key[1]}"
