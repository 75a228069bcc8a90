"""Changes of routers' settings that are watched, and taken back where they are proven to hurt.

The log is what judges: chance dealt tasks between the change and the settings before it, so the worth of both
sides is compared, pair by pair. It is looked at when there are 30, 60, 120 … 960 pairs, always at the first so
many, and the level of 1 % is shared by these looks. So it does not matter when, how often, or by how many
processes this is done: the answer follows from the log, and the ledger takes the same undo only once.
"""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal

from metamem.core.amounts import many
from metamem.core.aside import aside
from metamem.core.errors import MetamemError, StoreError, UsageError
from metamem.core.ids import derive_seed
from metamem.promotion.ledger import Ledger
from metamem.promotion.parameters import Applied, applied, revert_if_worse
from metamem.routing.sides import Sides, paired, sides
from metamem.service.archives import ArchivesEraser
from metamem.service.database import FILE, Database
from metamem.service.routing.settings import (
    DOMAIN,
    MOST_PAIRS,
    UNREADABLE,
    of_routers,
    watch_of,
)
from metamem.store.records import Place, PromotionRecord
from metamem.store.sqlite import SqliteArchive

LOOKS = (30, 60, 120, 240, 480, MOST_PAIRS)
LEVEL = 0.01  # of a change that hurts nobody, over all looks
LOOK_EVERY = 60.0  # seconds
SILENT = 30  # decisions without a pair that are worth a warning
NOT_UNDONE = (
    "settings of routers are proven to hurt and stay in use, since their archive cannot be written to:"
    " metamem promotions undo"
)
TOO_UNLIKE = 0.15  # difference in the share of tasks of which it is known what came of them
State = Literal["watched", "kept", "undone"]
_log = logging.getLogger("metamem.routing")


@dataclass(frozen=True, slots=True)
class Watched:
    """One change that is watched, and what is known of it."""

    place: str
    parameters: str  # its id
    state: State
    pairs: int
    gain: float | None  # over what was before; none where nothing is known
    told: str
    warning: str = ""


class SettingsWatch:
    """Looks at all changes of one memory's routers. Every look is a whole one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._archives = ArchivesEraser(database)
        self._looked: dict[
            str, int
        ] = {}  # pairs that were looked at: a test of many takes a second
        self.looks = 0
        self.undone = 0
        self.found: list[Watched] = []  # at the last look
        self.trouble = ""

    def look(self) -> list[Watched]:
        """What came of every change that is watched; those that hurt are in use no more from now on."""
        found: list[Watched] = []
        trouble: list[str] = []
        for path in self._archives.paths():
            try:
                found += self._looked_at(path, trouble)
            except MetamemError as error:
                _log.warning("settings of routers in %s: %s", path, error.message)
                trouble.append(UNREADABLE)
        self.looks += 1
        self.undone += sum(each.state == "undone" for each in found)
        self.found, self.trouble = found, "; ".join(dict.fromkeys(trouble))
        return found

    async def keep_on(self, look_every: float = LOOK_EVERY) -> None:
        """Until it is cancelled. No trouble ends it: what it is stands in `trouble`."""
        while True:
            try:
                await aside(self.look)
            except MetamemError as error:
                self.trouble = error.message
            except Exception as error:
                _log.exception("the watch of routers' settings")
                self.trouble = (
                    f"routers' settings are not watched: {type(error).__name__}, see the log"
                )
            await asyncio.sleep(look_every)

    def status(self) -> dict[str, int]:
        """Counts for those who watch it, without names and without content."""
        return {
            "looks": self.looks,
            "watched": sum(each.state == "watched" for each in self.found),
            "kept": sum(each.state == "kept" for each in self.found),
            "undone": self.undone,
        }

    def warning(self) -> str:
        told = (self.trouble, *(each.warning for each in self.found))
        return "; ".join(dict.fromkeys(filter(None, told)))

    def _looked_at(self, path: Path, trouble: list[str]) -> list[Watched]:
        with SqliteArchive(path, create=False) as archive:
            ledger = Ledger(archive)
            return [self._judged(ledger, use, trouble) for use in _watched(ledger)]

    def _judged(self, ledger: Ledger, use: Applied, trouble: list[str]) -> Watched:
        watch = watch_of(use)
        with self._database.reading() as execute:
            known = sides(execute, watch)
            pairs = paired(execute, watch, MOST_PAIRS)
        gain = fmean(now - before for before, now in pairs) if pairs else None
        about = (str(use.place), use.subject.id)
        if unlike(known):
            return Watched(*about, "watched", len(pairs), gain, progress(known), unlike(known))
        try:
            done = undo_if_worse(ledger, use, pairs, self._looked.get(watch, 0))
        except StoreError as error:
            _log.warning("settings of routers: %s", error.message)
            trouble.append(NOT_UNDONE)
            return Watched(*about, "watched", len(pairs), gain, NOT_UNDONE)
        self._looked[watch] = len(pairs)
        if done is not None:
            return Watched(*about, "undone", len(pairs), gain, done.reason)
        state: State = "kept" if len(pairs) >= MOST_PAIRS else "watched"
        return Watched(*about, state, len(pairs), gain, progress(known), silent(known))


def undo_if_worse(
    ledger: Ledger, use: Applied, pairs: list[tuple[float, float]], after: int = 0
) -> PromotionRecord | None:
    """Undo a change where one of the looks, of those with more than so many pairs, proves that it was
    better before."""
    for most in LOOKS:
        if most <= after:
            continue
        if len(pairs) < most:
            return None
        first = {f"pair {n}": each for n, each in enumerate(pairs[:most], 1)}
        worths = [worth for each in first.values() for worth in each]
        try:
            done = revert_if_worse(
                ledger,
                use.subject,
                use.place,
                before={name: before for name, (before, _) in first.items()},
                now={name: now for name, (_, now) in first.items()},
                reward_range=(min(0.0, *worths), max(1.0, *worths)),
                level=LEVEL / len(LOOKS),
                seed=derive_seed(watch_of(use), most),
                told=f", in {most} pairs of tasks that chance dealt between both",
            )
        except UsageError:
            if use in applied(ledger, use.place, use.subject.name):
                raise
            return None  # somebody else was first
        if done is not None:
            return done
    return None


def progress(known: Sides) -> str:
    """How far a watch is, in words."""
    if known.pairs >= MOST_PAIRS:
        return f"nothing shows that it hurts, in {MOST_PAIRS} pairs of tasks with and without it"
    return (
        f"it may be taken back: chance holds back half of the tasks from it;"
        f" {known.pairs} pairs with and without it are known, of {MOST_PAIRS} at most"
    )


def silent(known: Sides) -> str:
    """Where tasks are decided and nothing can be said of it."""
    decisions = known.before.decisions + known.now.decisions
    if decisions < SILENT or known.pairs:
        return ""
    return (
        f"of {many(decisions, 'decision')} with and without a change that is watched too few have an"
        " outcome, so that nothing would show if it hurts: tell what came of them with metamem route"
        " reward"
    )


def unlike(known: Sides) -> str:
    """Where a side tells less often what came of its tasks: then the others prove nothing."""
    one, other = known.before, known.now
    if min(one.decisions, other.decisions) < SILENT:
        return ""
    share = (one.outcomes + other.outcomes) / (one.decisions + other.decisions)
    error = math.sqrt(share * (1.0 - share) * (1.0 / one.decisions + 1.0 / other.decisions))
    if abs(one.known - other.known) <= max(TOO_UNLIKE, 3.0 * error):
        return ""
    return (
        f"outcomes are known of {other.known:.0%} of the tasks with a change that is watched and of"
        f" {one.known:.0%} of those without, so that they cannot be compared"
    )


def _watched(ledger: Ledger) -> Iterator[Applied]:
    """Settings of routers that are in use, and may be taken back by what watches them."""
    for each in ledger.all_standing():
        now = each.in_use
        if now is None or now.subject.kind != "parameters":
            continue
        here = now.place == Place("domain", DOMAIN) and not now.subject.name
        if not here and (now.place.kind != "scope" or now.subject.name not in ("", DOMAIN)):
            continue
        use = applied(ledger, now.place, now.subject.name)[0]
        if use.watched and of_routers([use]):
            yield use


def watch_once(folder: Path) -> SettingsWatch:
    """One look at a memory's routers: what was found, and what stood in its way."""
    if not (folder / FILE).is_file():
        raise UsageError(f"there is no memory in {folder}", hint="metamem route choose begins one")
    database = Database(folder / FILE, create=False)
    try:
        watch = SettingsWatch(database)
        watch.look()
        return watch
    finally:
        database.close()


@asynccontextmanager
async def watching_beside(
    database: Database, look_every: float = LOOK_EVERY
) -> AsyncIterator[SettingsWatch]:
    """A watch that goes on in the background while the block runs."""
    watch = SettingsWatch(database)
    task = asyncio.create_task(watch.keep_on(look_every))
    try:
        yield watch
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
