"""Which settings a router of a scope runs with: those that the promotion ledger has in use.

A change that applied itself, inside bounds that a person approved, is watched, and so is one that was
approved for as long as it does no harm: chance holds back half of the tasks from it, which are decided with
the settings before it, until enough is known of both (`metamem.service.routing.watching`). What else a
person approved runs alone.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from metamem.core.errors import MetamemError
from metamem.core.ids import derive_seed
from metamem.promotion.ledger import Ledger
from metamem.promotion.parameters import Applied, applied
from metamem.routing import SPACE, Settings
from metamem.routing.settings import USUAL
from metamem.routing.sides import count_pairs
from metamem.service.archives import ArchivesEraser
from metamem.service.database import Database
from metamem.store.records import Place
from metamem.store.sqlite import SqliteArchive

LOOK_EVERY = 5.0  # seconds
DOMAIN = "routing"
DEFAULTS = "defaults"
MOST_PAIRS = 960  # of outcomes with and without a change, after which it is watched no more


@dataclass(frozen=True, slots=True)
class Used:
    """Settings, and where they come from."""

    settings: Settings = USUAL
    origin: str = DEFAULTS
    problem: str = ""  # what is in use and cannot be used: something else runs instead
    watch: str = ""  # the change that is watched, if any
    before: Settings = USUAL  # what ran before it

    def dealt(self, decision: str) -> tuple[Settings, bool]:
        """With which settings a task is decided, and whether it is held back from a change."""
        held_back = bool(self.watch) and derive_seed("held back", decision) % 2 == 1
        return (self.before if held_back else self.settings), held_back


class SettingsInUse:
    """Looks into the ledgers of the archives that this memory knows, at most every few seconds."""

    def __init__(
        self,
        database: Database,
        *,
        look_every: float = LOOK_EVERY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database, self._archives = database, ArchivesEraser(database)
        self._look_every, self._clock = look_every, clock
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, Used]] = {}

    def of(self, scope: str) -> Used:
        """For the scope itself, else for the domain, else as by default."""
        with self._lock:
            now = self._clock()
            known = self._known.get(scope)
            if known is None or now - known[0] >= self._look_every:
                known = self._known[scope] = (now, self._looked_up(scope))
            return known[1]

    def _looked_up(self, scope: str) -> Used:
        problems: list[str] = []
        usable = self._usable(scope, problems)
        settings, use = next(usable, (USUAL, None))
        if use is None:
            return Used(problem=_told(problems))
        origin = f"{use.place.kind}:{use.place.name}"
        if not use.watched or self._is_known(watch_of(use)):
            return Used(settings, origin, _told(problems))
        before, _ = next(usable, (USUAL, None))
        if before == settings:
            return Used(settings, origin, _told(problems))
        return Used(settings, origin, _told(problems), watch_of(use), before)

    def _usable(self, scope: str, problems: list[str]) -> Iterator[tuple[Settings, Applied]]:
        """What runs there, then what would run if that were undone, and so on."""
        for place, name in (
            (Place("scope", scope), DOMAIN),
            (Place("scope", scope), ""),  # as a run of `learn` promotes them
            (Place("domain", DOMAIN), ""),
        ):
            for path in self._archives.paths():
                try:
                    with SqliteArchive(path, create=False) as archive:
                        found = of_routers(applied(Ledger(archive), place, name))
                except MetamemError:
                    # Where archives lie is no caller's business.
                    problems.append(UNREADABLE)
                    continue
                for use in found:
                    try:
                        yield Settings.learned(use.values), use
                    except MetamemError as error:
                        told = f"{place.kind}:{place.name}"
                        problems.append(
                            f"the settings that are in use for {told} cannot be used: {error.message}"
                        )
                        break

    def _is_known(self, watch: str) -> bool:
        """Whether enough is known of a change."""
        with self._database.reading() as execute:
            return count_pairs(execute, watch) >= MOST_PAIRS


UNREADABLE = "an archive cannot be read, so that no settings in it are used: metamem doctor"


def watch_of(use: Applied) -> str:
    """What the log calls the watch of a change. One that comes back after an undo is watched anew."""
    return f"{use.place} {use.subject.name} {use.subject.id} {use.ordinal}"


def of_routers(found: list[Applied]) -> list[Applied]:
    """Those that are not the parameters of something else that a scope has."""
    return [
        use
        for use in found
        if use.place.kind == "domain"
        or use.subject.name
        or not use.values.keys() - SPACE.parameters
    ]


def _told(problems: list[str]) -> str:
    return "; ".join(dict.fromkeys(problems))
